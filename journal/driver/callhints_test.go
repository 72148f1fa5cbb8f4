package driver_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// postman is a store that answers as it is told and records what it is asked to tell other
// processes.
type postman struct {
	driver.Store
	started  []journal.Started
	sent     []journal.Sent
	outcomes []driver.Outcome
	admin    driver.AdminOutcome

	mu     sync.Mutex
	remote []driver.Hint
	watch  func(driver.Hint)
}

func (p *postman) Start(context.Context, journal.Tx, []journal.Start) ([]journal.Started, error) {
	return p.started, nil
}

func (p *postman) Send(context.Context, journal.Tx, []journal.Message) ([]journal.Sent, error) {
	return p.sent, nil
}

func (p *postman) Commit(context.Context, []driver.Commit) ([]driver.Outcome, error) {
	return p.outcomes, nil
}

func (p *postman) Admin(context.Context, driver.AdminAction) (driver.AdminOutcome, error) {
	return p.admin, nil
}

func (p *postman) Join(context.Context, journal.Node) (driver.Membership, error) { return seat{}, nil }

func (p *postman) Hints() driver.Hints { return p }

func (p *postman) Notify(hints []driver.Hint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remote = append(p.remote, hints...)
}

func (p *postman) Watch(ctx context.Context, fn func(driver.Hint)) error {
	p.mu.Lock()
	p.watch = fn
	p.mu.Unlock()
	<-ctx.Done()
	return ctx.Err()
}

// seat is node 7.
type seat struct{ driver.Membership }

func (seat) ID() journal.NodeID { return 7 }

func (seat) Renew(context.Context) (driver.Renewal, error) {
	return driver.Renewal{}, journal.ErrNodeLost
}

func (seat) Reap(context.Context, []journal.NodeID) (driver.Reaped, error) {
	return driver.Reaped{Tasks: 1}, nil
}

func (seat) Leave(context.Context) error { return nil }

// office is a Journal on a postman, with one watcher.
type office struct {
	t *testing.T
	*postman
	j     *driver.Journal
	local []driver.Hint
}

func withOffice(t *testing.T, fn func(t *testing.T, o *office)) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{t: t, postman: &postman{}}
		o.j = driver.New(o.postman, nil)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- o.j.Watch(ctx, func(h driver.Hint) {
				o.mu.Lock()
				defer o.mu.Unlock()
				o.local = append(o.local, h)
			})
		}()
		synctest.Wait()
		fn(t, o)
		cancel()
		<-ended
	})
}

// want compares what was told inside and outside of the process since the last call.
func (o *office) want(what string, local, remote []driver.Hint) {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if diff := cmp.Diff(local, o.local); diff != "" {
		o.t.Errorf("%s, inside (-want +got):\n%s", what, diff)
	}
	if diff := cmp.Diff(remote, o.remote); diff != "" {
		o.t.Errorf("%s, outside (-want +got):\n%s", what, diff)
	}
	o.local, o.remote = nil, nil
}

func (o *office) serve() driver.Membership {
	o.t.Helper()
	m, err := o.j.Join(o.t.Context(), journal.Node{Name: "n", Routes: []journal.Route{{Queue: "default", Workflow: "mine", Version: 1}}})
	if err != nil {
		o.t.Fatal(err)
	}
	return m
}

var (
	tasks = driver.Hint{Kind: driver.HintTasks}
	due   = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
)

func TestStartsAreToldWhereTheyAreServed(t *testing.T) {
	withOffice(t, func(t *testing.T, o *office) {
		m := o.serve()
		start := func(what string, s journal.Start, out journal.Started, local, remote []driver.Hint) {
			t.Helper()
			o.started = []journal.Started{out}
			if _, err := o.j.Start(t.Context(), nil, []journal.Start{s}); err != nil {
				t.Fatal(err)
			}
			o.want(what, local, remote)
		}
		created := journal.Started{Created: true, StartAt: due}
		mine, other := journal.Start{Workflow: "mine"}, journal.Start{Workflow: "other"}
		start("mine", mine, created, []driver.Hint{tasks}, nil)
		start("another's", other, created, nil, []driver.Hint{tasks})
		start("an existing one", mine, journal.Started{}, nil, nil)
		start("owned from birth", mine, journal.Started{Created: true, Owned: true}, nil, nil)
		start("refused", mine, journal.Started{Err: journal.ErrInvalid}, nil, nil)
		mine.Delay, other.Delay = time.Hour, time.Hour
		start("mine, later", mine, created, []driver.Hint{{Kind: driver.HintTasks, At: due}}, nil)
		start("another's, later", other, created, nil, nil)
		limited := journal.Start{Workflow: "mine", Limits: []journal.LimitNeed{{Name: "l"}}, Delay: time.Hour}
		start("one that needs a limit, later", limited, created, []driver.Hint{{Kind: driver.HintRunLimits, At: due}}, nil)
		if _, err := m.Renew(t.Context()); err == nil {
			t.Fatal("the node is not lost")
		}
		start("mine, after my node was lost", journal.Start{Workflow: "mine"}, created, nil, []driver.Hint{tasks})
		start("one that needs a limit, after that", limited, created, nil, []driver.Hint{{Kind: driver.HintRunLimits}})
	})
}

func TestMessagesAreToldToTheOwner(t *testing.T) {
	withOffice(t, func(t *testing.T, o *office) {
		o.serve()
		run := journal.NewRunID()
		route := journal.Route{Queue: "default", Workflow: "mine", Version: 1}
		send := func(what string, sent journal.Sent, local, remote []driver.Hint) {
			t.Helper()
			o.sent = []journal.Sent{sent}
			if _, err := o.j.Send(t.Context(), nil, []journal.Message{{Run: run, Kind: journal.MessageSignal, Name: "s"}}); err != nil {
				t.Fatal(err)
			}
			o.want(what, local, remote)
		}
		inbox := func(node journal.NodeID) []driver.Hint {
			return []driver.Hint{{Kind: driver.HintInbox, Run: run, Node: node}}
		}
		send("to my node", journal.Sent{Owner: 7, Route: route}, inbox(7), nil)
		send("to another node", journal.Sent{Owner: 8, Route: route}, nil, inbox(8))
		send("to nobody, but I serve it", journal.Sent{Route: route}, []driver.Hint{tasks}, nil)
		send("to nobody", journal.Sent{}, nil, []driver.Hint{tasks})
		send("a duplicate", journal.Sent{Duplicate: true, Owner: 7}, nil, nil)
		send("refused", journal.Sent{Err: journal.ErrClosed}, nil, nil)
	})
}

func TestCommitsAreToldToWhomTheyConcern(t *testing.T) {
	withOffice(t, func(t *testing.T, o *office) {
		run := journal.NewRunID()
		commit := func(what string, next driver.Next, out driver.Outcome, local, remote []driver.Hint) {
			t.Helper()
			o.outcomes = []driver.Outcome{out}
			c := driver.Commit{Run: run, Next: next, InboxSeen: 3}
			if next.Kind == driver.NextClose {
				c.Head.Link, c.Events = 1, []journal.Event{{Seq: 1, Kind: journal.RunCompleted, Link: 2}}
			}
			if _, err := o.j.Commit(t.Context(), []driver.Commit{c}); err != nil {
				t.Fatal(err)
			}
			o.want(what, local, remote)
		}
		closing := driver.Next{Kind: driver.NextClose}
		terminal := &journal.Event{Seq: 1, Kind: journal.RunCompleted, Link: 2}
		inside := []driver.Hint{{Kind: driver.HintClosed, Run: run, Terminal: terminal}}
		outside := []driver.Hint{{Kind: driver.HintClosed, Run: run}}
		commit("keep", driver.Next{}, driver.Outcome{}, nil, nil)
		commit("park", driver.Next{Kind: driver.NextPark}, driver.Outcome{InboxLast: 3}, nil, nil)
		commit("park, but a message waits", driver.Next{Kind: driver.NextPark}, driver.Outcome{InboxLast: 4}, []driver.Hint{tasks}, nil)
		commit("park until", driver.Next{Kind: driver.NextPark, At: due}, driver.Outcome{InboxLast: 3},
			[]driver.Hint{{Kind: driver.HintTasks, At: due}}, nil)
		commit("release", driver.Next{Kind: driver.NextRelease}, driver.Outcome{}, []driver.Hint{tasks}, []driver.Hint{tasks})
		child := journal.NewRunID()
		limits := driver.Hint{Kind: driver.HintRunLimits}
		orphan := []driver.Hint{{Kind: driver.HintClosed, Run: child}, {Kind: driver.HintTerminated, Run: child}}
		commit("close, a child is terminated", closing, driver.Outcome{Closed: []journal.RunID{child}}, append(slices.Clone(inside), orphan...),
			append([]driver.Hint{limits}, orphan[1:]...))
		commit("refused", closing, driver.Outcome{Err: journal.ErrFenced}, nil, nil)
		commit("close, nobody waits elsewhere", closing, driver.Outcome{}, inside, nil)
		o.watch(driver.Hint{Kind: driver.HintWaiter})
		o.want("somebody waits who may have read the run before", nil, []driver.Hint{{Kind: driver.HintClosed}})
		commit("close, somebody waits elsewhere", closing, driver.Outcome{}, inside, outside)
		o.watch(driver.Hint{Kind: driver.HintWaiter})
		o.want("who waits has been told", nil, nil)
		time.Sleep(3 * driver.WaiterInterval)
		o.watch(driver.Hint{Kind: driver.HintWaiter})
		o.want("another one waits, nothing has closed lately", nil, nil)
		time.Sleep(3 * driver.WaiterInterval)
		commit("close, the waiter fell silent", closing, driver.Outcome{}, inside, nil)
		time.Sleep(driver.WaiterInterval)
		o.watch(driver.Hint{Kind: driver.HintWaiter})
		o.want("somebody waits who has read the run behind its end", nil, nil)
	})
}

func TestHintsOfOthersReachWatchers(t *testing.T) {
	withOffice(t, func(t *testing.T, o *office) {
		scan := driver.Hint{Kind: driver.HintScan}
		o.watch(scan)
		o.watch(driver.Hint{Kind: driver.HintWaiter}) // for the Journal itself
		o.watch(tasks)
		o.want("from outside", []driver.Hint{scan, tasks}, nil)
		o.j.AnnounceWaiter()
		o.want("a waiter here", nil, []driver.Hint{{Kind: driver.HintWaiter}})
	})
}

func TestFreedTasksAreToldToEverybody(t *testing.T) {
	withOffice(t, func(t *testing.T, o *office) {
		m := o.serve()
		if _, err := m.Reap(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		o.want("reap", []driver.Hint{tasks}, []driver.Hint{tasks})
		if err := m.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		free := driver.Hint{Kind: driver.HintLimit}
		o.want("leave", []driver.Hint{free}, []driver.Hint{tasks, free})
		limit := driver.AdminAction{Kind: driver.AdminSetLimit, Limit: &journal.Limit{Name: "api", Concurrency: 1}}
		if _, err := o.j.Admin(t.Context(), limit); err != nil {
			t.Fatal(err)
		}
		o.want("a limit", []driver.Hint{free}, []driver.Hint{free})
		claim := driver.AdminAction{Kind: driver.AdminReleaseClaim, Claim: &journal.LimitClaim{ID: 1}}
		if _, err := o.j.Admin(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		o.want("a claim that an operator releases", []driver.Hint{free, tasks}, []driver.Hint{free, tasks})
		for op, want := range map[driver.AdminKind]func(journal.RunID) []driver.Hint{
			driver.AdminResume:      func(journal.RunID) []driver.Hint { return []driver.Hint{{Kind: driver.HintRunLimits}, tasks} },
			driver.AdminSetLabels:   func(journal.RunID) []driver.Hint { return nil }, // nobody waits for labels
			driver.AdminSetPriority: func(journal.RunID) []driver.Hint { return nil }, // nothing is due that was not
			driver.AdminTerminate: func(run journal.RunID) []driver.Hint {
				return []driver.Hint{{Kind: driver.HintRunLimits}, {Kind: driver.HintTerminated, Run: run}, {Kind: driver.HintClosed, Run: run}, tasks}
			},
		} {
			a := driver.AdminAction{Run: journal.NewRunID(), Kind: op, Priority: 1}
			if _, err := o.j.Admin(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			inside := slices.DeleteFunc(want(a.Run), func(h driver.Hint) bool { return h.Kind == driver.HintRunLimits }) // no node is left here
			o.want("admin", inside, want(a.Run))
		}
		for _, op := range []driver.AdminKind{driver.AdminPause, driver.AdminInterrupt, driver.AdminResume} {
			a := driver.AdminAction{Run: journal.NewRunID(), Kind: op}
			o.postman.admin = driver.AdminOutcome{Owner: 77}
			if _, err := o.j.Admin(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			o.want(op.String()+" of an owned run", nil, []driver.Hint{{Kind: driver.HintInbox, Run: a.Run, Node: 77}})
		}
	})
}

func TestWatchersEndWithTheirContext(t *testing.T) {
	withOffice(t, func(t *testing.T, o *office) {
		ctx, cancel := context.WithCancel(t.Context())
		var got []driver.Hint
		ended := make(chan error)
		go func() { ended <- o.j.Watch(ctx, func(h driver.Hint) { got = append(got, h) }) }()
		synctest.Wait()
		cancel()
		<-ended
		o.outcomes = []driver.Outcome{{}}
		c := driver.Commit{Run: journal.NewRunID(), Next: driver.Next{Kind: driver.NextPark, At: due}}
		if _, err := o.j.Commit(t.Context(), []driver.Commit{c}); err != nil {
			t.Fatal(err)
		}
		if len(got) > 0 || !slices.Contains(o.local, driver.Hint{Kind: driver.HintTasks, At: due}) {
			t.Errorf("a watcher that ended got %v, the other %v", got, o.local)
		}
	})
}

// A turn's effects on other runs are told as if each had been a call of its own.
func TestEffectsOfCommitsAreTold(t *testing.T) {
	withOffice(t, func(t *testing.T, o *office) {
		m := o.serve()
		run, other := journal.NewRunID(), journal.NewRunID()
		parent := &journal.Parent{Run: run, Generation: 1, Cmd: 1}
		commit := func(what string, c driver.Commit, out driver.Outcome, local, remote []driver.Hint) {
			t.Helper()
			o.outcomes, c.Run = []driver.Outcome{out}, run
			if _, err := o.j.Commit(t.Context(), []driver.Commit{c}); err != nil {
				t.Fatal(err)
			}
			o.want(what, local, remote)
		}
		mine, others := journal.Start{Workflow: "mine", Parent: parent}, journal.Start{Workflow: "theirs", Parent: parent}
		made := journal.Started{Created: true, StartAt: due}
		commit("a child served here", driver.Commit{Starts: []journal.Start{mine}}, driver.Outcome{Started: []journal.Started{made}},
			[]driver.Hint{tasks}, nil)
		commit("one served elsewhere", driver.Commit{Starts: []journal.Start{others}}, driver.Outcome{Started: []journal.Started{made}},
			nil, []driver.Hint{tasks})
		mine.Delay = time.Hour
		commit("a delayed one", driver.Commit{Starts: []journal.Start{mine}}, driver.Outcome{Started: []journal.Started{made}},
			[]driver.Hint{{Kind: driver.HintTasks, At: due}}, nil)
		signal := driver.Commit{Messages: []journal.Message{{Run: other, Kind: journal.MessageSignal, Name: "s"}}}
		commit("a signal to an owned run", signal, driver.Outcome{Sent: []journal.Sent{{Number: 1, Owner: m.ID()}}},
			[]driver.Hint{{Kind: driver.HintInbox, Run: other, Node: m.ID()}}, nil)
		commit("a signal to nobody", signal, driver.Outcome{Sent: []journal.Sent{{Err: journal.ErrNotFound}}}, nil, nil)
		commit("written by an earlier try", signal, driver.Outcome{}, nil, nil)
		commit("a reply", driver.Commit{Replies: []journal.Reply{{Number: 1}}}, driver.Outcome{},
			[]driver.Hint{{Kind: driver.HintClosed, Run: run}}, nil)
		closing := driver.Commit{Next: driver.Next{Kind: driver.NextClose}, Head: journal.Head{Link: 1},
			Events: []journal.Event{{Seq: 1, Kind: journal.RunCompleted, Link: 2}}}
		closed := driver.Hint{Kind: driver.HintClosed, Run: run, Terminal: &closing.Events[0]}
		closing.Children = true
		commit("a close with children", closing, driver.Outcome{Closed: []journal.RunID{other}},
			[]driver.Hint{closed, {Kind: driver.HintRunLimits}, tasks, {Kind: driver.HintClosed, Run: other}, {Kind: driver.HintTerminated, Run: other}},
			[]driver.Hint{tasks, {Kind: driver.HintTerminated, Run: other}})
	})
}
