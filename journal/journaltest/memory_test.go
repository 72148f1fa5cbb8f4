package journaltest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/state"
	"github.com/reprise-run/reprise/journal/memory"
)

// TestMemoryInABubble runs the suite on a clock that moves only while everybody waits.
func TestMemoryInABubble(t *testing.T) {
	for _, c := range suite() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { c.run(newKit(t, memory.New(nil))) })
		})
	}
}

// memoryKit returns a store with a clock that the test sets.
func memoryKit(t *testing.T) (*kit, *memory.Store, *time.Time) {
	now := time.Date(2030, 1, 2, 3, 4, 5, 6000, time.UTC)
	m := memory.New(&memory.Options{Now: func() time.Time { return now }})
	return newKit(t, m), m, &now
}

func TestMemoryStateIsWhatTheInterfaceShows(t *testing.T) {
	t.Parallel()
	k, m, _ := memoryKit(t)
	node := k.join(leaseLong).ID()
	k.starts(journal.Start{Key: "k", Labels: map[string]string{"a": "b"}, Input: journal.Payload{Data: []byte("in")}})
	owners := append(k.take(node, 1), k.own(node, 3)...)
	for _, o := range owners {
		k.sends(signal(o.run, "s", "1"), signal(o.run, "s", "2"))
	}
	first := owners[0].build(park, started("a", "b"), received(signal(owners[0].run, "s", "1")))
	first.Events[1].Inbox = 1
	first.Attempts = []journal.Attempt{{Cmd: 1, Name: "a", Made: 2, Failure: &journal.Failure{Message: "no"}}}
	first.Waiting = []string{"x", "y"}
	owners[0].submit(first)
	owners[1].commit(closed, started(), completed("1"))
	owners[2].commit(block("diverged", k.j.Now().Add(time.Hour)), started())
	got := state.OfMemory(m.Snapshot())
	want, err := state.Of(t.Context(), m)
	k.ok(err)
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("state (-interface +memory):\n%s", diff)
	}
	if len(got.Runs) != 4 || len(got.Nodes) != 1 {
		t.Errorf("%d runs and %d nodes", len(got.Runs), len(got.Nodes))
	}
}

// TestMemorySharesNothing: bytes and maps that callers keep, or got, are not the store's.
func TestMemorySharesNothing(t *testing.T) {
	t.Parallel()
	k, m, _ := memoryKit(t)
	in := journal.Payload{Data: []byte("input")}
	headers := map[string]string{"h": "v"}
	o := k.takeStarted(k.join(leaseLong).ID(), journal.Start{Input: in, Labels: map[string]string{"a": "b"}, Headers: headers})
	headers["h"] = "changed"
	msg := signal(o.run, "s", "1")
	k.sends(msg)
	c := o.build(keep, started("a", "b"), stepDone(1, "a", "output"))
	c.Attempts = []journal.Attempt{{Cmd: 2, Name: "b", Made: 1, Heartbeat: &journal.Payload{Data: []byte("beat")}}}
	o.submit(c)
	shown := func() state.State { return state.OfMemory(m.Snapshot()) }
	before := shown()
	for _, s := range []state.State{shown(), {Runs: []state.Run{{Run: k.row(o.run), Events: c.Events, Inbox: []journal.Message{msg}}}}} {
		r := s.Runs[0]
		r.Run.Labels["a"], r.Run.Headers["h"] = "changed", "changed"
		for _, b := range [][]byte{r.Run.Input.Data, r.Events[1].Payload.Data, r.Inbox[0].Payload.Data,
			r.Run.Task.Attempts[0].Heartbeat.Data, in.Data} {
			b[0] = 'X'
		}
		r.Events[0].Issued[0].Name = "changed"
	}
	k.same("state", shown(), before)
	k.same("headers", k.row(o.run).Headers, map[string]string{"h": "v"}) // a map that all share differs from none of them
}

// TestMemoryRefusesWhatNoOwnerWrites: the reference is stricter than stores must be.
func TestMemoryRefusesWhatNoOwnerWrites(t *testing.T) {
	t.Parallel()
	k, _, _ := memoryKit(t)
	o := k.one(k.join(leaseLong).ID())
	k.send(o.run, "s", "1")
	unknown := o.build(keep, started(), journal.Event{Kind: journal.SignalReceived, Inbox: 2, Name: "s"})
	o.refused(unknown, "unknown message (J5)", func(err error) bool { return errors.Is(err, journal.ErrInvalid) })
	once := journal.Event{Kind: journal.SignalReceived, Inbox: 1, Name: "s"}
	o.commit(keep, started(), once)
	o.refused(o.build(keep, once), "message consumed twice (J5)", func(err error) bool { return errors.Is(err, journal.ErrInvalid) })
}

func TestMemoryEffectsCommitWithTheirEvent(t *testing.T) {
	t.Parallel()
	k, m, _ := memoryKit(t)
	o := k.one(k.join(leaseLong).ID())
	o.commit(keep, started("a", "b"))
	done := 0
	begin := func() journal.Tx {
		tx, err := k.j.Begin(k.ctx)
		k.ok(err)
		tx.Value().(*memory.Effects).Do(func() { done++ })
		return tx
	}
	try := func(what string, want error, change func(c *driver.Commit)) {
		c := o.build(keep, stepDone(1, "a", "1"))
		c.Tx = begin()
		change(&c)
		o.refused(c, what, func(err error) bool { return errors.Is(err, want) })
		o.refused(c, what+", again", func(err error) bool { return errors.Is(err, journal.ErrTxLost) })
	}
	try("a stale fence (J3)", journal.ErrFenced, func(c *driver.Commit) { c.Fence-- })
	try("rolled back", journal.ErrTxLost, func(c *driver.Commit) { k.ok(c.Tx.Rollback(k.ctx)) })
	k.same("effects", done, 0)
	c := o.build(keep, stepDone(1, "a", "1"))
	c.Tx = begin()
	o.submit(c)
	k.ok(c.Tx.Rollback(k.ctx))
	k.same("effects", done, 1)

	foreign := o.build(keep, stepDone(2, "b", "1"))
	var err error
	foreign.Tx, err = memory.New(nil).Begin(k.ctx)
	k.ok(err)
	if _, err := k.commits(foreign); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("another store's transaction: %v", err)
	}
	pair := []driver.Commit{o.build(keep), o.build(keep)}
	pair[1].Tx = begin()
	if _, err := m.Commit(k.ctx, pair); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("a transaction in a batch: %v", err)
	}
	if _, err := m.Start(k.ctx, begin(), []journal.Start{{Workflow: flow}}); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("a start in a transaction: %v", err)
	}
	if _, err := m.Send(k.ctx, begin(), nil); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("a message in a transaction: %v", err)
	}
}

// TestMemoryPeerDies: the end of a process's connection is seen before its lease runs out, at the
// second look.
func TestMemoryPeerDies(t *testing.T) {
	t.Parallel()
	k, m, now := memoryKit(t)
	peer := m.Peer()
	other := &kit{t: t, ctx: k.ctx, store: peer, j: driver.New(peer, nil)}
	victim, err := other.j.Join(k.ctx, journal.Node{Name: "victim", Routes: []journal.Route{flowRoute}, Lease: leaseLong})
	k.ok(err)
	other.own(victim.ID(), 2)
	survivor := k.join(leaseLong)
	look := func(want ...journal.NodeID) {
		t.Helper()
		l, err := survivor.Look(k.ctx)
		k.ok(err)
		k.same("suspects", l.Suspects, want)
	}
	look()
	peer.Close()
	peer.Close()
	look(victim.ID())
	if r, err := survivor.Reap(k.ctx, nil); err != nil || len(r.Nodes) > 0 {
		t.Errorf("reaped without being suspected: %+v, %v", r, err)
	}
	r, err := survivor.Reap(k.ctx, []journal.NodeID{victim.ID()})
	if err != nil || r.Tasks != 2 || !slices.Equal(r.Nodes, []journal.NodeID{victim.ID()}) {
		t.Errorf("reaped %+v, %v", r, err)
	}
	look()
	if _, err := victim.Renew(k.ctx); !errors.Is(err, journal.ErrStoreClosed) {
		t.Errorf("a closed store renewed: %v", err)
	}
	*now = now.Add(2 * leaseLong)
	nodes, err := k.j.Nodes(k.ctx)
	k.ok(err)
	k.same("nodes whose lease ran out", len(nodes), 0)
	*now = now.Add(-time.Hour)
	k.same("a clock that is set back stands still", k.claim(0, 0).Now, now.Add(time.Hour))
}

func TestMemoryHintsReachOtherPeers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := memory.New(nil)
		a, b := m.Peer(), m.Peer()
		var mu sync.Mutex
		heard := map[*memory.Store][]driver.Hint{}
		ends := make(chan error, 2)
		ctx, cancel := context.WithCancel(t.Context())
		for _, p := range []*memory.Store{a, b} {
			go func() {
				ends <- p.Hints().Watch(ctx, func(h driver.Hint) {
					mu.Lock()
					defer mu.Unlock()
					heard[p] = append(heard[p], h)
				})
			}()
		}
		synctest.Wait()
		run := journal.NewRunID()
		a.Hints().Notify([]driver.Hint{{Kind: driver.HintClosed, Run: run, At: time.Now(), Terminal: new(journal.Event)}})
		scan := driver.Hint{Kind: driver.HintScan}
		if want := []driver.Hint{scan, {Kind: driver.HintClosed, Run: run}}; len(heard[a]) != 1 || !cmp.Equal(heard[b], want) {
			t.Errorf("heard %v", heard)
		}
		b.Close()
		if err := <-ends; !errors.Is(err, journal.ErrStoreClosed) {
			t.Errorf("a watch on a closed store ended with %v", err)
		}
		cancel()
		if err := <-ends; !errors.Is(err, context.Canceled) {
			t.Errorf("a watch ended with %v", err)
		}
		a.Hints().Notify([]driver.Hint{{Kind: driver.HintScan}})
		if len(heard[b]) != 2 {
			t.Error("a watch that has ended heard something")
		}
	})
}
