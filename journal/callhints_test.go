package journal_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
)

// postman is a store that answers as it is told and records what it is asked to tell other processes.
type postman struct {
	journal.Store
	started  []journal.Started
	sent     []journal.Sent
	outcomes []journal.Outcome

	mu     sync.Mutex
	remote []journal.Hint
	watch  func(journal.Hint)
}

func (p *postman) Start(context.Context, journal.Tx, []journal.Start) ([]journal.Started, error) {
	return p.started, nil
}

func (p *postman) Send(context.Context, journal.Tx, []journal.Message) ([]journal.Sent, error) {
	return p.sent, nil
}

func (p *postman) Commit(context.Context, []journal.Commit) ([]journal.Outcome, error) {
	return p.outcomes, nil
}

func (p *postman) Admin(context.Context, journal.AdminAction) error { return nil }

func (p *postman) Join(context.Context, journal.Node) (journal.Membership, error) { return seat{}, nil }

func (p *postman) Hints() journal.Hints { return p }

func (p *postman) Notify(hints []journal.Hint) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remote = append(p.remote, hints...)
}

func (p *postman) Watch(ctx context.Context, fn func(journal.Hint)) error {
	p.mu.Lock()
	p.watch = fn
	p.mu.Unlock()
	<-ctx.Done()
	return ctx.Err()
}

// seat is node 7.
type seat struct{ journal.Membership }

func (seat) ID() journal.NodeID { return 7 }

func (seat) Renew(context.Context) (journal.Renewal, error) {
	return journal.Renewal{}, journal.ErrNodeLost
}

func (seat) Reap(context.Context, []journal.NodeID) (journal.Reaped, error) {
	return journal.Reaped{Tasks: 1}, nil
}

func (seat) Leave(context.Context) error { return nil }

// office is a Journal on a postman, with one watcher.
type office struct {
	t *testing.T
	*postman
	j     *journal.Journal
	local []journal.Hint
}

func withOffice(t *testing.T, fn func(t *testing.T, o *office)) {
	synctest.Test(t, func(t *testing.T) {
		o := &office{t: t, postman: &postman{}}
		o.j = journal.New(o.postman, nil)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- o.j.Watch(ctx, func(h journal.Hint) {
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
func (o *office) want(what string, local, remote []journal.Hint) {
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

func (o *office) serve() journal.Membership {
	o.t.Helper()
	m, err := o.j.Join(o.t.Context(), journal.Node{Name: "n", Routes: []journal.Route{{Queue: "default", Workflow: "mine", Version: 1}}})
	if err != nil {
		o.t.Fatal(err)
	}
	return m
}

var (
	tasks = journal.Hint{Kind: journal.HintTasks}
	due   = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
)

func TestStartsHintWhereTheyAreServed(t *testing.T) {
	withOffice(t, func(t *testing.T, o *office) {
		m := o.serve()
		start := func(what string, s journal.Start, out journal.Started, local, remote []journal.Hint) {
			t.Helper()
			o.started = []journal.Started{out}
			if _, err := o.j.Start(t.Context(), nil, []journal.Start{s}); err != nil {
				t.Fatal(err)
			}
			o.want(what, local, remote)
		}
		created := journal.Started{Created: true, StartAt: due}
		mine, other := journal.Start{Workflow: "mine"}, journal.Start{Workflow: "other"}
		start("mine", mine, created, []journal.Hint{tasks}, nil)
		start("another's", other, created, nil, []journal.Hint{tasks})
		start("an existing one", mine, journal.Started{}, nil, nil)
		start("owned from birth", mine, journal.Started{Created: true, Owned: true}, nil, nil)
		start("refused", mine, journal.Started{Err: journal.ErrInvalid}, nil, nil)
		mine.Delay, other.Delay = time.Hour, time.Hour
		start("mine, later", mine, created, []journal.Hint{{Kind: journal.HintTasks, At: due}}, nil)
		start("another's, later", other, created, nil, nil)
		if _, err := m.Renew(t.Context()); err == nil {
			t.Fatal("the node is not lost")
		}
		start("mine, after my node was lost", journal.Start{Workflow: "mine"}, created, nil, []journal.Hint{tasks})
	})
}

func TestMessagesHintToTheOwner(t *testing.T) {
	withOffice(t, func(t *testing.T, o *office) {
		o.serve()
		run := journal.NewRunID()
		route := journal.Route{Queue: "default", Workflow: "mine", Version: 1}
		send := func(what string, sent journal.Sent, local, remote []journal.Hint) {
			t.Helper()
			o.sent = []journal.Sent{sent}
			if _, err := o.j.Send(t.Context(), nil, []journal.Message{{Run: run, Kind: journal.MessageSignal, Name: "s"}}); err != nil {
				t.Fatal(err)
			}
			o.want(what, local, remote)
		}
		inbox := func(node journal.NodeID) []journal.Hint {
			return []journal.Hint{{Kind: journal.HintInbox, Run: run, Node: node}}
		}
		send("to my node", journal.Sent{Owner: 7, Route: route}, inbox(7), nil)
		send("to another node", journal.Sent{Owner: 8, Route: route}, nil, inbox(8))
		send("to nobody, but I serve it", journal.Sent{Route: route}, []journal.Hint{tasks}, nil)
		send("to nobody", journal.Sent{}, nil, []journal.Hint{tasks})
		send("a duplicate", journal.Sent{Duplicate: true, Owner: 7}, nil, nil)
		send("refused", journal.Sent{Err: journal.ErrClosed}, nil, nil)
	})
}

func TestCommitsHintToWhomTheyConcern(t *testing.T) {
	withOffice(t, func(t *testing.T, o *office) {
		run := journal.NewRunID()
		commit := func(what string, next journal.Next, out journal.Outcome, local, remote []journal.Hint) {
			t.Helper()
			o.outcomes = []journal.Outcome{out}
			c := journal.Commit{Run: run, Next: next, InboxSeen: 3}
			if next.Kind == journal.NextClose {
				c.Events = []journal.Event{{Seq: 1, Kind: journal.RunCompleted}}
			}
			if _, err := o.j.Commit(t.Context(), []journal.Commit{c}); err != nil {
				t.Fatal(err)
			}
			o.want(what, local, remote)
		}
		closing := journal.Next{Kind: journal.NextClose}
		terminal := &journal.Event{Seq: 1, Kind: journal.RunCompleted}
		inside := []journal.Hint{{Kind: journal.HintClosed, Run: run, Terminal: terminal}}
		outside := []journal.Hint{{Kind: journal.HintClosed, Run: run}}
		commit("keep", journal.Next{}, journal.Outcome{}, nil, nil)
		commit("park", journal.Next{Kind: journal.NextPark}, journal.Outcome{InboxLast: 3}, nil, nil)
		commit("park, but a message waits", journal.Next{Kind: journal.NextPark}, journal.Outcome{InboxLast: 4}, []journal.Hint{tasks}, nil)
		commit("park until", journal.Next{Kind: journal.NextPark, At: due}, journal.Outcome{InboxLast: 3},
			[]journal.Hint{{Kind: journal.HintTasks, At: due}}, nil)
		commit("release", journal.Next{Kind: journal.NextRelease}, journal.Outcome{}, []journal.Hint{tasks}, []journal.Hint{tasks})
		commit("refused", closing, journal.Outcome{Err: journal.ErrFenced}, nil, nil)
		commit("close, nobody waits elsewhere", closing, journal.Outcome{}, inside, nil)
		o.watch(journal.Hint{Kind: journal.HintWaiter})
		commit("close, somebody waits elsewhere", closing, journal.Outcome{}, inside, outside)
		time.Sleep(3 * journal.WaiterInterval)
		commit("close, the waiter fell silent", closing, journal.Outcome{}, inside, nil)
	})
}

func TestHintsOfOthersReachWatchers(t *testing.T) {
	withOffice(t, func(t *testing.T, o *office) {
		scan := journal.Hint{Kind: journal.HintScan}
		o.watch(scan)
		o.watch(journal.Hint{Kind: journal.HintWaiter}) // for the Journal itself
		o.watch(tasks)
		o.want("from outside", []journal.Hint{scan, tasks}, nil)
		o.j.AnnounceWaiter()
		o.want("a waiter here", nil, []journal.Hint{{Kind: journal.HintWaiter}})
	})
}

func TestFreedTasksHintToEverybody(t *testing.T) {
	withOffice(t, func(t *testing.T, o *office) {
		m := o.serve()
		if _, err := m.Reap(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		o.want("reap", []journal.Hint{tasks}, []journal.Hint{tasks})
		if err := m.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		o.want("leave", nil, []journal.Hint{tasks})
		for op, want := range map[journal.AdminKind]func(journal.RunID) []journal.Hint{
			journal.AdminResume: func(journal.RunID) []journal.Hint { return []journal.Hint{tasks} },
			journal.AdminTerminate: func(run journal.RunID) []journal.Hint {
				return []journal.Hint{{Kind: journal.HintClosed, Run: run}, tasks}
			},
		} {
			a := journal.AdminAction{Run: journal.NewRunID(), Kind: op}
			if err := o.j.Admin(t.Context(), a); err != nil {
				t.Fatal(err)
			}
			o.want("admin", want(a.Run), want(a.Run))
		}
	})
}

func TestWatchersEndWithTheirContext(t *testing.T) {
	withOffice(t, func(t *testing.T, o *office) {
		ctx, cancel := context.WithCancel(t.Context())
		var got []journal.Hint
		ended := make(chan error)
		go func() { ended <- o.j.Watch(ctx, func(h journal.Hint) { got = append(got, h) }) }()
		synctest.Wait()
		cancel()
		<-ended
		o.outcomes = []journal.Outcome{{}}
		c := journal.Commit{Run: journal.NewRunID(), Next: journal.Next{Kind: journal.NextPark, At: due}}
		if _, err := o.j.Commit(t.Context(), []journal.Commit{c}); err != nil {
			t.Fatal(err)
		}
		if len(got) > 0 || !slices.Contains(o.local, journal.Hint{Kind: journal.HintTasks, At: due}) {
			t.Errorf("a watcher that ended got %v, the other %v", got, o.local)
		}
	})
}

// A turn's effects on other runs are told as if each had been a call of its own.
func TestEffectsOfCommitsHint(t *testing.T) {
	withOffice(t, func(t *testing.T, o *office) {
		m := o.serve()
		run, other := journal.NewRunID(), journal.NewRunID()
		parent := &journal.Parent{Run: run, Generation: 1, Cmd: 1}
		commit := func(what string, c journal.Commit, out journal.Outcome, local, remote []journal.Hint) {
			t.Helper()
			o.outcomes, c.Run = []journal.Outcome{out}, run
			if _, err := o.j.Commit(t.Context(), []journal.Commit{c}); err != nil {
				t.Fatal(err)
			}
			o.want(what, local, remote)
		}
		mine, others := journal.Start{Workflow: "mine", Parent: parent}, journal.Start{Workflow: "theirs", Parent: parent}
		made := journal.Started{Created: true, StartAt: due}
		commit("a child served here", journal.Commit{Starts: []journal.Start{mine}}, journal.Outcome{Started: []journal.Started{made}},
			[]journal.Hint{tasks}, nil)
		commit("one served elsewhere", journal.Commit{Starts: []journal.Start{others}}, journal.Outcome{Started: []journal.Started{made}},
			nil, []journal.Hint{tasks})
		mine.Delay = time.Hour
		commit("a delayed one", journal.Commit{Starts: []journal.Start{mine}}, journal.Outcome{Started: []journal.Started{made}},
			[]journal.Hint{{Kind: journal.HintTasks, At: due}}, nil)
		signal := journal.Commit{Messages: []journal.Message{{Run: other, Kind: journal.MessageSignal, Name: "s"}}}
		commit("a signal to an owned run", signal, journal.Outcome{Sent: []journal.Sent{{Number: 1, Owner: m.ID()}}},
			[]journal.Hint{{Kind: journal.HintInbox, Run: other, Node: m.ID()}}, nil)
		commit("a signal to nobody", signal, journal.Outcome{Sent: []journal.Sent{{Err: journal.ErrNotFound}}}, nil, nil)
		commit("written by an earlier try", signal, journal.Outcome{}, nil, nil)
		commit("a reply", journal.Commit{Replies: []journal.Reply{{Number: 1}}}, journal.Outcome{},
			[]journal.Hint{{Kind: journal.HintClosed, Run: run}}, nil)
		closing := journal.Commit{Next: journal.Next{Kind: journal.NextClose}, Events: []journal.Event{{Seq: 1, Kind: journal.RunCompleted}}}
		closed := journal.Hint{Kind: journal.HintClosed, Run: run, Terminal: &closing.Events[0]}
		closing.Children = true
		commit("a close with children", closing, journal.Outcome{Closed: []journal.RunID{other}},
			[]journal.Hint{closed, tasks, {Kind: journal.HintClosed, Run: other}}, []journal.Hint{tasks})
	})
}
