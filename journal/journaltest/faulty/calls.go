package faulty

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// none is the answer of calls that have none.
type none struct{}

func noAnswer(err error) (none, error) { return none{}, err }

// Start implements driver.Store.
func (f *Store) Start(ctx context.Context, tx journal.Tx, starts []journal.Start) ([]journal.Started, error) {
	if tx != nil { // part of somebody's transaction, which fails as a whole
		return f.store.Start(ctx, tx, starts)
	}
	starts = slices.Clone(starts)
	c := Call{Verb: "start", Members: len(starts)}
	return callOf(ctx, f, &c, func(ctx context.Context) ([]journal.Started, error) {
		return members(ctx, f, &c, starts, func(s *journal.Start) journal.RunID { return s.ID }, journal.Started{Err: driver.ErrHeld},
			func(ctx context.Context, starts []journal.Start) ([]journal.Started, error) {
				return f.store.Start(ctx, nil, starts)
			})
	})
}

// Send implements driver.Store.
func (f *Store) Send(ctx context.Context, tx journal.Tx, messages []journal.Message) ([]journal.Sent, error) {
	if tx != nil {
		return f.store.Send(ctx, tx, messages)
	}
	messages = slices.Clone(messages)
	c := Call{Verb: "send", Members: len(messages)}
	return callOf(ctx, f, &c, func(ctx context.Context) ([]journal.Sent, error) {
		return members(ctx, f, &c, messages, func(m *journal.Message) journal.RunID { return m.Run }, journal.Sent{Err: driver.ErrHeld},
			func(ctx context.Context, messages []journal.Message) ([]journal.Sent, error) {
				return f.store.Send(ctx, nil, messages)
			})
	})
}

// Claim implements driver.Store.
func (f *Store) Claim(ctx context.Context, r driver.ClaimRequest) (driver.Claim, error) {
	return call(ctx, f, Call{Verb: "claim", Members: 1, Node: r.Node}, func(ctx context.Context) (driver.Claim, error) {
		c, err := f.store.Claim(ctx, r)
		return f.spoilClaim(c), err
	})
}

// Commit implements driver.Store.
func (f *Store) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	c := Call{Verb: "commit", Members: len(commits)}
	if len(commits) > 0 {
		c.Node = commits[0].Node
	}
	if len(commits) == 1 && commits[0].Tx != nil {
		return f.commitInTx(ctx, c, commits)
	}
	commits = slices.Clone(commits)
	return callOf(ctx, f, &c, func(ctx context.Context) ([]driver.Outcome, error) {
		return members(ctx, f, &c, commits, func(c *driver.Commit) journal.RunID { return c.Run }, driver.Outcome{Err: driver.ErrHeld}, f.store.Commit)
	})
}

// commitInTx fails a step's commit only before it happens. A store resolves the unknown outcome of
// such a commit itself, so its caller never hears that it is unknown.
func (f *Store) commitInTx(ctx context.Context, c Call, commits []driver.Commit) ([]driver.Outcome, error) {
	fault, late := f.enter(&c)
	defer happen(late)
	if fault == Before {
		if err := commits[0].Tx.Rollback(ctx); err != nil {
			return nil, err
		}
		return []driver.Outcome{{Err: fmt.Errorf("%w: commit number %d fails", journal.ErrTxLost, c.Nth)}}, nil
	}
	out, err := f.store.Commit(ctx, commits)
	if f.o.Answer != nil {
		f.o.Answer(c)
	}
	return out, err
}

// Load implements driver.Store.
func (f *Store) Load(ctx context.Context, requests []driver.LoadRequest) ([]driver.History, error) {
	requests = slices.Clone(requests)
	return call(ctx, f, Call{Verb: "load", Members: len(requests)}, func(ctx context.Context) ([]driver.History, error) {
		list, err := f.store.Load(ctx, requests)
		return f.spoilHistories(list), err
	})
}

// List implements driver.Store.
func (f *Store) List(ctx context.Context, filter journal.ListFilter) (journal.RunPage, error) {
	return call(ctx, f, Call{Verb: "list", Members: 1}, func(ctx context.Context) (journal.RunPage, error) {
		page, err := f.store.List(ctx, filter)
		return f.spoilPage(page), err
	})
}

// Aggregate implements driver.Store.
func (f *Store) Aggregate(ctx context.Context, a journal.Aggregate) (journal.Aggregated, error) {
	return call(ctx, f, Call{Verb: "aggregate", Members: 1}, func(ctx context.Context) (journal.Aggregated, error) {
		return f.store.Aggregate(ctx, a)
	})
}

// Ends implements driver.Store.
func (f *Store) Ends(ctx context.Context, runs []journal.RunID) ([]driver.End, error) {
	runs = slices.Clone(runs)
	return call(ctx, f, Call{Verb: "ends", Members: len(runs)}, func(ctx context.Context) ([]driver.End, error) {
		return f.store.Ends(ctx, runs)
	})
}

// Admin implements driver.Store.
func (f *Store) Admin(ctx context.Context, a driver.AdminAction) (driver.AdminOutcome, error) {
	return call(ctx, f, Call{Verb: "admin", Members: 1}, func(ctx context.Context) (driver.AdminOutcome, error) {
		return f.store.Admin(ctx, a)
	})
}

// Pauses implements driver.Store.
func (f *Store) Pauses(ctx context.Context) ([]journal.Pause, error) {
	return call(ctx, f, Call{Verb: "pauses", Members: 1}, f.store.Pauses)
}

// Views implements driver.Store.
func (f *Store) Views(ctx context.Context) ([]journal.View, error) {
	return call(ctx, f, Call{Verb: "views", Members: 1}, f.store.Views)
}

// Limits implements driver.Store.
func (f *Store) Limits(ctx context.Context, filter journal.LimitFilter) (journal.LimitPage, error) {
	return call(ctx, f, Call{Verb: "list-limits", Members: 1}, func(ctx context.Context) (journal.LimitPage, error) {
		return f.store.Limits(ctx, filter)
	})
}

// Audit implements driver.Store.
func (f *Store) Audit(ctx context.Context, filter journal.AuditFilter) ([]journal.AuditEntry, error) {
	return call(ctx, f, Call{Verb: "audit", Members: 1}, func(ctx context.Context) ([]journal.AuditEntry, error) {
		return f.store.Audit(ctx, filter)
	})
}

// Nodes implements driver.Store.
func (f *Store) Nodes(ctx context.Context) ([]journal.Node, error) {
	return call(ctx, f, Call{Verb: "nodes", Members: 1}, f.store.Nodes)
}

// Begin implements driver.TxStore.
func (f *Store) Begin(ctx context.Context) (journal.Tx, error) {
	ts, ok := f.store.(driver.TxStore)
	if !ok {
		return nil, fmt.Errorf("begin: %T has no transactions for steps: %w", f.store, journal.ErrInvalid)
	}
	c := Call{Verb: "begin", Members: 1}
	fault, late := f.enter(&c)
	defer happen(late)
	if fault != None { // a transaction whose answer is lost would hold its locks for ever: the call never happens
		return nil, fmt.Errorf("%w: begin number %d fails", journal.ErrUnavailable, c.Nth)
	}
	return ts.Begin(ctx)
}

// Join implements driver.Store.
func (f *Store) Join(ctx context.Context, n journal.Node) (driver.Membership, error) {
	n.Routes = slices.Clone(n.Routes)
	m, err := call(ctx, f, Call{Verb: "join", Members: 1}, func(ctx context.Context) (driver.Membership, error) {
		return f.store.Join(ctx, n)
	})
	if err != nil {
		return nil, err
	}
	return &member{f: f, m: m}, nil
}

// member is a membership whose calls fail.
type member struct {
	f *Store
	m driver.Membership
}

// ID implements driver.Membership.
func (m *member) ID() journal.NodeID { return m.m.ID() }

// Renew implements driver.Membership.
func (m *member) Renew(ctx context.Context) (driver.Renewal, error) {
	return call(ctx, m.f, Call{Verb: "renew", Members: 1, Node: m.m.ID()}, m.m.Renew)
}

// Look implements driver.Membership.
func (m *member) Look(ctx context.Context) (driver.Look, error) {
	return call(ctx, m.f, Call{Verb: "look", Members: 1, Node: m.m.ID()}, m.m.Look)
}

// Contact implements driver.Membership. It is no call of the store.
func (m *member) Contact() (time.Time, bool) { return m.m.Contact() }

// Judged implements driver.Membership.
func (m *member) Judged() <-chan struct{} { return m.m.Judged() }

// Ask implements driver.Membership.
func (m *member) Ask(ctx context.Context, need bool) (bool, error) {
	return call(ctx, m.f, Call{Verb: "ask", Members: 1, Node: m.m.ID()}, func(ctx context.Context) (bool, error) {
		return m.m.Ask(ctx, need)
	})
}

// Reap implements driver.Membership.
func (m *member) Reap(ctx context.Context, suspects []journal.NodeID) (driver.Reaped, error) {
	suspects = slices.Clone(suspects)
	return call(ctx, m.f, Call{Verb: "reap", Members: 1, Node: m.m.ID()}, func(ctx context.Context) (driver.Reaped, error) {
		return m.m.Reap(ctx, suspects)
	})
}

// Heed implements driver.Membership.
func (m *member) Heed(ctx context.Context, heeded int64) (driver.Orders, error) {
	return call(ctx, m.f, Call{Verb: "heed", Members: 1, Node: m.m.ID()}, func(ctx context.Context) (driver.Orders, error) {
		return m.m.Heed(ctx, heeded)
	})
}

// Limits implements driver.Membership.
func (m *member) Limits(ctx context.Context, r driver.LimitRound) (driver.LimitAnswer, error) {
	r.Wants, r.Releases, r.Look = slices.Clone(r.Wants), slices.Clone(r.Releases), slices.Clone(r.Look)
	return call(ctx, m.f, Call{Verb: "limits", Members: r.Size(), Node: m.m.ID()}, func(ctx context.Context) (driver.LimitAnswer, error) {
		return m.m.Limits(ctx, r)
	})
}

// Owned implements driver.Membership.
func (m *member) Owned(ctx context.Context) ([]driver.Holding, error) {
	return call(ctx, m.f, Call{Verb: "owned", Members: 1, Node: m.m.ID()}, m.m.Owned)
}

// Release implements driver.Membership.
func (m *member) Release(ctx context.Context, list []driver.Holding) error {
	list = slices.Clone(list)
	_, err := call(ctx, m.f, Call{Verb: "release", Members: len(list), Node: m.m.ID()}, func(ctx context.Context) (none, error) {
		return noAnswer(m.m.Release(ctx, list))
	})
	return err
}

// Leave implements driver.Membership.
func (m *member) Leave(ctx context.Context) error {
	_, err := call(ctx, m.f, Call{Verb: "leave", Members: 1, Node: m.m.ID()}, func(ctx context.Context) (none, error) {
		return noAnswer(m.m.Leave(ctx))
	})
	return err
}
