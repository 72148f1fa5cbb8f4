package driver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Journal is the engine's side of a journal.Journal, between the actors, nodes and clients above
// and the [Store] below. Its methods may be called from many goroutines.
//
// Five things are done here, once for all back ends, and a Store may rely on each of them:
//
//   - Nothing invalid reaches a store. Every member is checked and gets its defaults before the
//     call, so bad input is refused before anything is stored, with an error that names the limit.
//     An invalid member of a Start or Send does not keep the others from being stored. An invalid
//     commit is a bug of the engine: it refuses the whole call.
//   - Batches have at most journal.BatchMax members. Longer ones are divided.
//   - The store's clock is known: each answer carries a stamp, which [Clock] observes (J9).
//   - Hints are published after the call, and only for what the store has acknowledged. They go to
//     the watchers in this process directly, and to other processes where those need them.
//   - A store that stays away is reported, and that it is back: see outage.
//
// There is one engine for each journal.Journal, however many nodes and clients share it: two would
// not hear each other's hints.
type Journal struct {
	*journal.Journal
	store   Store
	o       journal.Options
	clock   Clock
	local   hub
	changes changes
	outage  outage
}

// New returns the engine of a fresh journal.Journal on a store, which stays the caller's to close.
// o may be nil. It is for those who need neither a node nor a client.
func New(s Store, o *journal.Options) *Journal { return Of(journal.New(s, o)) }

// Of returns the engine of a Journal, always the same one. It panics if j is nil, or its store no
// [Store]: the program passed something to journal.New that no back end has opened.
func Of(j *journal.Journal) *Journal {
	if j == nil {
		panic("driver: the journal is nil; make one with journal.New")
	}
	s, ok := j.Store().(Store)
	if !ok { // before Engine, so that each call says so and not only the first
		panic(fmt.Sprintf("driver: journal.New got a %T, which is not a driver.Store", j.Store()))
	}
	return j.Engine(func() any {
		o := j.Options()
		return &Journal{Journal: j, store: s, o: o, local: newHub(), outage: outage{log: o.Logger, failing: map[string]*failure{}}}
	}).(*Journal)
}

func (j *Journal) observe(verb string, members, refused int, began time.Time, err error) {
	if call := j.o.Observer.Call; call != nil {
		call(verb, members, refused, time.Since(began), err)
	}
}

// Now estimates the store's clock (J9).
func (j *Journal) Now() time.Time { return j.clock.Now() }

// Start creates runs. Zero fields get their defaults, see journal.Start.SetDefaults. Invalid
// members get their error and do not hinder the others. In the transaction of a step they wait for
// its commit, see [Outbox].
func (j *Journal) Start(ctx context.Context, tx journal.Tx, starts []journal.Start) ([]journal.Started, error) {
	if o := outboxOf(tx); o != nil {
		return j.startLater(ctx, o, starts)
	}
	b, err := startBatch.submit(ctx, j, tx, starts)
	if err != nil {
		return nil, err
	}
	if tx == nil {
		j.hintStarted(b.valid, b.index, b.answers)
	} else if len(b.valid) > 0 {
		answers := slices.Clone(b.answers) // those that are returned are the caller's
		for i := range b.valid {           // payloads are not kept until then
			b.valid[i].Input = journal.Payload{}
			if m := b.valid[i].Message; m != nil {
				m.Payload = journal.Payload{}
			}
		}
		j.afterCommit(ctx, tx, func() { j.hintStarted(b.valid, b.index, answers) })
	}
	return b.answers, nil
}

// Send puts messages into inboxes. A message without a key gets a fresh one, which makes the call
// repeatable (J4). Keys of signals and keys of updates are apart. In the transaction of a step
// messages wait for its commit, see [Outbox].
func (j *Journal) Send(ctx context.Context, tx journal.Tx, messages []journal.Message) ([]journal.Sent, error) {
	if o := outboxOf(tx); o != nil {
		return j.sendLater(ctx, o, messages)
	}
	b, err := sendBatch.submit(ctx, j, tx, messages)
	if err != nil {
		return nil, err
	}
	if tx == nil {
		j.hintSent(b.valid, b.index, b.answers)
	} else if len(b.valid) > 0 {
		answers := slices.Clone(b.answers)
		for i := range b.valid {
			b.valid[i].Payload = journal.Payload{}
		}
		j.afterCommit(ctx, tx, func() { j.hintSent(b.valid, b.index, answers) })
	}
	return b.answers, nil
}

// Claim acquires due tasks for a node. If the answer is lost, the node owns tasks that it does not
// know of; a later claim with Reconcile returns them.
func (j *Journal) Claim(ctx context.Context, r ClaimRequest) (Claim, error) {
	began := time.Now()
	for r.Chance == 0 {
		r.Chance = rand.Uint32()
	}
	c, err := j.store.Claim(ctx, r)
	j.outage.note("claim", err)
	j.observe("claim", len(c.Tasks), 0, began, err)
	if err != nil {
		return Claim{}, fmt.Errorf("claim: %w", err)
	}
	for i := range c.Tasks {
		noteValues(&c.Tasks[i].Run)
	}
	j.clock.Observe(c.Now)
	return c, nil
}

// SetFull says whether a node of this process claims nothing for want of room. While all nodes here
// that serve a route are full, other processes hear of its due tasks as well.
func (j *Journal) SetFull(node journal.NodeID, full bool) { j.local.setFull(node, full) }

// Commit writes turns of different runs. A member's own failure is in its outcome and leaves the
// others alone (J2). After an error of the whole call the batch may be submitted again as it is
// (J4), except a member with a Tx, whose outcome the store resolves itself.
//
// The commits are the caller's, but Commit completes their children and messages in place: a commit
// that is submitted again must have the ids and keys of its first try.
func (j *Journal) Commit(ctx context.Context, commits []Commit) ([]Outcome, error) {
	began := time.Now()
	for i := range commits {
		if err := j.prepareCommit(&commits[i]); err != nil {
			return nil, err
		}
	}
	out, err := j.store.Commit(ctx, commits)
	refused := 0
	for i := range out {
		if out[i].Err != nil {
			refused++
		}
	}
	if len(out) > 0 {
		j.clock.Observe(out[len(out)-1].Now) // one stamp is as good as all of them
	}
	j.outage.note("commit", err)
	j.observe("commit", len(commits), refused, began, err)
	if err != nil {
		return nil, fmt.Errorf("commit: %w", err)
	}
	j.hintCommitted(commits, out)
	return out, nil
}

// Load returns histories in the order of the requests, or pages of them, see [LoadRequest]. Each is
// of one moment; two of one call need not be of the same. The result shares no memory with the
// store.
func (j *Journal) Load(ctx context.Context, requests []LoadRequest) ([]History, error) {
	began := time.Now()
	out := make([]History, 0, len(requests))
	ask := func(from, to int) error {
		got, err := j.store.Load(ctx, requests[from:to])
		if err == nil {
			out = append(out, got...)
		}
		return err
	}
	err := inPages(requests, func(from, to int) error {
		return ApartFromDamage(from, to, ask, func(i int, why error) error {
			out = append(out, damagedHistory(&requests[i], why))
			return nil
		})
	})
	for i := range out {
		out[i].check()
	}
	j.outage.note("load", err)
	j.observe("load", len(requests), 0, began, err)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return out, nil
}

// List returns runs, newest first, at most [journal.ListMax] of them and [journal.ListDefault] if
// f.Limit is zero. A run that starts between two pages is on neither, since pages go back in time.
func (j *Journal) List(ctx context.Context, f journal.ListFilter) (journal.RunPage, error) {
	began := time.Now()
	if err := checkFilter(&f); err != nil {
		return journal.RunPage{}, fmt.Errorf("list: %w", err)
	}
	if f.Limit == 0 {
		f.Limit = journal.ListDefault
	}
	page, err := j.store.List(ctx, f)
	for i := range page.Runs {
		run := &page.Runs[i]
		if checkListed(run); run.Parent == nil && !f.Parent.IsZero() { // of a damaged row; callers rely on it
			run.Parent = &journal.Parent{Run: f.Parent}
		}
	}
	j.outage.note("list", err)
	j.observe("list", len(page.Runs), 0, began, err)
	if err != nil {
		return journal.RunPage{}, fmt.Errorf("list: %w", err)
	}
	j.clock.Observe(page.Now)
	return page, nil
}

// Aggregate counts the runs that a filter selects, by groups.
func (j *Journal) Aggregate(ctx context.Context, a journal.Aggregate) (journal.Aggregated, error) {
	began := time.Now()
	a.Filter.Cursor, a.Filter.Limit = "", 0
	if err := checkAggregate(&a); err != nil {
		return journal.Aggregated{}, fmt.Errorf("aggregate: %w", err)
	}
	out, err := j.store.Aggregate(ctx, a)
	j.outage.note("aggregate", err)
	j.observe("aggregate", out.Runs, 0, began, err)
	if err != nil {
		return journal.Aggregated{}, fmt.Errorf("aggregate: %w", err)
	}
	j.clock.Observe(out.Now)
	return out, nil
}

// Admin applies an operator's action.
func (j *Journal) Admin(ctx context.Context, a AdminAction) (AdminOutcome, error) {
	if err := a.check(); err != nil {
		return AdminOutcome{}, fmt.Errorf("%s %s: %w", a.Kind, a.of(), err)
	}
	began := time.Now()
	out, err := j.store.Admin(ctx, a)
	if errors.Is(err, ErrActed) {
		out, err = AdminOutcome{Acted: true}, nil
	}
	j.outage.note("admin", err)
	j.observe("admin", 1, 0, began, err)
	if err != nil {
		return AdminOutcome{}, fmt.Errorf("%s %s: %w", a.Kind, a.of(), err)
	}
	if !out.Acted {
		j.hintAdmin(a, out.Owner)
	}
	return out, nil
}

// Pauses returns the pauses of scopes, by their scopes.
func (j *Journal) Pauses(ctx context.Context) ([]journal.Pause, error) {
	list, err := j.store.Pauses(ctx)
	if j.outage.note("pauses", err); err != nil {
		return nil, fmt.Errorf("pauses: %w", err)
	}
	return list, nil
}

// Views returns the saved views, by their names.
func (j *Journal) Views(ctx context.Context) ([]journal.View, error) {
	list, err := j.store.Views(ctx)
	if j.outage.note("views", err); err != nil {
		return nil, fmt.Errorf("views: %w", err)
	}
	return list, nil
}

// Limits tells of limits, of what is held of them, and of who waits.
func (j *Journal) Limits(ctx context.Context, f journal.LimitFilter) (journal.LimitPage, error) {
	if err := checkLimitFilter(&f); err != nil {
		return journal.LimitPage{}, fmt.Errorf("limits: %w", err)
	}
	page, err := j.store.Limits(ctx, f)
	if j.outage.note("limits", err); err != nil {
		return journal.LimitPage{}, fmt.Errorf("limits: %w", err)
	}
	return page, nil
}

// Audit returns entries of the audit, newest first, at most [journal.ListMax] of them and
// [journal.ListDefault] if f.Limit is zero.
func (j *Journal) Audit(ctx context.Context, f journal.AuditFilter) ([]journal.AuditEntry, error) {
	if err := checkAudit(&f); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	list, err := j.store.Audit(ctx, f)
	if j.outage.note("audit", err); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return list, nil
}

// Begin opens a transaction for a step. It is ErrInvalid on a store that is no [TxStore]. Whoever
// began it must end it, by a commit that carries it or by Rollback.
func (j *Journal) Begin(ctx context.Context) (journal.Tx, error) {
	ts, ok := j.store.(TxStore)
	if !ok {
		return nil, fmt.Errorf("begin: %T has no transactions for steps: %w", j.store, journal.ErrInvalid)
	}
	tx, err := ts.Begin(ctx)
	j.outage.note("begin", err)
	return tx, err
}

// TxLimit names what bounds the transactions of steps that are open at once, for the log; empty if
// nothing does.
func (j *Journal) TxLimit() string {
	if l, ok := j.store.(TxLimiter); ok {
		return l.TxLimit()
	}
	return ""
}

// Join makes a node. While it is a member, hints that it can serve stay inside the process.
func (j *Journal) Join(ctx context.Context, n journal.Node) (Membership, error) {
	if err := journal.CheckName("node name", n.Name); err != nil {
		return nil, err
	}
	m, err := j.store.Join(ctx, n)
	if j.outage.note("join", err); err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	j.local.join(m.ID(), n.Routes)
	return &member{Membership: m, j: j}, nil
}

// Nodes lists the live nodes.
func (j *Journal) Nodes(ctx context.Context) ([]journal.Node, error) { return j.store.Nodes(ctx) }
