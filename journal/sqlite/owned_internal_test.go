package sqlite

import (
	"database/sql"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

func (f *family) join() driver.Membership {
	f.t.Helper()
	m, err := f.s.Join(f.t.Context(), journal.Node{Name: "other", Lease: time.Hour})
	if err != nil {
		f.t.Fatal(err)
	}
	return m
}

// TestAppendingLeavesTheTaskAlone: not a column of it changes, and yet only its owner appends.
func TestAppendingLeavesTheTaskAlone(t *testing.T) {
	t.Parallel()
	f := newFamily(t, openHere(t))
	other := f.join()
	first := f.run()
	first.Attempts = []journal.Attempt{{Cmd: 2, Name: "b", Made: 1}}
	f.accepted(first)
	if _, err := f.s.Send(t.Context(), nil, []journal.Message{signalTo(first.Run, "a", 0)}); err != nil {
		t.Fatal(err)
	}
	task := func() any { return f.load(first.Run).Run.Task }
	more := func(c driver.Commit) driver.Commit {
		c = Then(c, kept, stepEvent, stepEvent)
		c.AppendOnly = true
		return c
	}
	before, last := task(), first
	for range 3 {
		last = more(last)
		if out := f.accepted(last); out.InboxLast != 1 {
			t.Errorf("an appending commit told of message %d, want 1", out.InboxLast)
		}
	}
	if d := cmp.Diff(before, task()); d != "" {
		t.Errorf("appending commits changed the task:\n%s", d)
	}
	if h := f.load(first.Run); len(h.Events) != 7 || h.Events[6].Link != last.NewHead().Link {
		t.Errorf("%d events are stored", len(h.Events))
	}
	for what, change := range map[string]func(c *driver.Commit){
		"another node":            func(c *driver.Commit) { c.Node = other.ID() },
		"nobody":                  func(c *driver.Commit) { c.Node = 0 },
		"a fence of before":       func(c *driver.Commit) { c.Fence-- },
		"a turn of before":        func(c *driver.Commit) { c.Turn-- },
		"a generation of before":  func(c *driver.Commit) { c.Generation-- },
		"another run's generator": func(c *driver.Commit) { c.Run = journal.NewRunID() },
	} {
		c := more(last)
		change(&c)
		f.refused("appending by "+what, c)
	}
	f.accepted(Then(last, released))
	f.refused("appending to a run that is free", more(last))
	f.claim(f.node, 3, false)
	f.refused("appending under the fence before", more(last))
}

// TestClaimsHandOverTheLink with which the owner freed the task, once; whoever else frees a task
// vouches for nothing.
func TestClaimsHandOverTheLink(t *testing.T) {
	t.Parallel()
	f := newFamily(t, openHere(t))
	c := f.run()
	var holder driver.Membership // from the second try on
	var held journal.Task
	f.accepted(c)
	for n, free := range []func(){
		func() { f.accepted(Then(c, released, stepEvent)) },
		func() { _ = holder.Release(t.Context(), []driver.Holding{{Run: c.Run, Fence: held.Fence}}) },
		func() { _ = holder.Leave(t.Context()) },
		func() {
			_ = Aged{f.s}.Expire(t.Context(), holder.ID())
			if _, err := f.join().Reap(t.Context(), nil); err != nil {
				t.Error(err)
			}
			_ = Aged{f.s}.Rush(t.Context(), c.Run)
		},
		func() {},
	} {
		free()
		link := f.load(c.Run).Run.Task.Link
		if h := f.load(c.Run); n == 0 && link != h.Events[1].Link || n > 0 && link != 0 {
			t.Errorf("try %d: the task was freed with link %x", n, uint64(link))
		}
		if n == 4 {
			break
		}
		holder = f.join()
		chance := uint32(0xabcc0007 + n)
		claimed := f.claim(holder.ID(), chance, false)
		if len(claimed) != 1 {
			t.Fatalf("try %d: claimed %d tasks", n, len(claimed))
		}
		got := claimed[0].Task
		held = got
		if got.Link != link || got.Fence != journal.Fence(n+2)<<20|journal.Fence(0xc0007+n) || got.Owner != holder.ID() {
			t.Errorf("try %d: claimed %+v", n, got)
		}
		got.Link = 0
		if d := cmp.Diff(*f.load(c.Run).Run.Task, got); d != "" {
			t.Errorf("try %d: the row and the answer differ:\n%s", n, d)
		}
		if again := f.claim(holder.ID(), 5, true); len(again) != 1 || cmp.Diff(again[0].Task, got) != "" {
			t.Errorf("try %d: told again %+v", n, again)
		}
	}
}

// TestOwnedIsWhatTheFileSays, and Release frees what is named with its fence, without a strike.
func TestOwnedIsWhatTheFileSays(t *testing.T) {
	t.Parallel()
	f := newFamily(t, openHere(t))
	other := f.join()
	fresh, busy, next, second, gone := f.run(), f.run(), f.run(), f.run(), f.run()
	f.accepted(busy)
	f.accepted(Then(busy, kept, stepEvent))
	for _, c := range []driver.Commit{next, second} {
		f.accepted(c)
		c = Then(c, kept, journal.Event{Kind: journal.RunContinued})
		c.Continue = &journal.Continue{Version: 1}
		f.accepted(c)
	}
	f.accepted(Chain(driver.Commit{Run: second.Run, Node: f.node, Fence: second.Fence, Turn: 2, Generation: 2,
		Head: journal.Head{Link: journal.OriginOf(second.Run, 2, 0, journal.Payload{})}, Events: []journal.Event{startedEvent}}))
	f.accepted(gone)
	f.accepted(Then(gone, released))
	f.claim(other.ID(), 0, false)
	m := &member{s: f.s, id: f.node}
	list, err := m.Owned(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	newest, begun := f.load(busy.Run).Events[1], f.load(second.Run).Events[0]
	want := []driver.Holding{
		{Run: fresh.Run, Generation: 1, Fence: fresh.Fence},
		{Run: busy.Run, Generation: 1, Fence: busy.Fence, Confirmed: true, Head: journal.Head{Seq: 2, Link: newest.Link}},
		{Run: next.Run, Generation: 2, Fence: next.Fence, Confirmed: true},
		{Run: second.Run, Generation: 2, Fence: second.Fence, Confirmed: true, Head: journal.Head{Seq: 1, Link: begun.Link}},
	}
	if d := cmp.Diff(want, list); d != "" { // the index has them in the order of their ids
		t.Errorf("owned (-want +got):\n%s", d)
	}
	list = append(list, driver.Holding{Run: gone.Run, Fence: f.load(gone.Run).Run.Task.Fence})
	list[0].Fence++
	if err := m.Release(t.Context(), list); err != nil {
		t.Fatal(err)
	}
	for i, run := range []journal.RunID{fresh.Run, busy.Run, next.Run, second.Run, gone.Run} {
		task := f.load(run).Run.Task
		owner := []journal.NodeID{f.node, 0, 0, 0, other.ID()}[i]
		if task.Owner != owner || (owner == 0) == task.VisibleAt.IsZero() || task.Strikes != 0 {
			t.Errorf("after the release, run %d: %+v", i, task)
		}
	}
	if err := m.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Owned(t.Context()); !errors.Is(err, journal.ErrNodeLost) {
		t.Errorf("what a node owns that has left: %v", err)
	}
	if err := m.Release(t.Context(), list); !errors.Is(err, journal.ErrNodeLost) {
		t.Errorf("release by a node that has left: %v", err)
	}
}

// TestRecallsAreHeardOnce, by the node that a run was taken from, whoever took it; all else that the
// node owns goes on.
func TestRecallsAreHeardOnce(t *testing.T) {
	t.Parallel()
	f := newFamily(t, openHere(t))
	other := f.join()
	heard := func(m driver.Membership) bool {
		t.Helper()
		r, err := m.Renew(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return r.Compare
	}
	mine := &member{s: f.s, id: f.node}
	adopt := func(parent *driver.Commit) driver.Commit {
		st := childOf(parent, "good", 1)
		st.Owner, st.Parent.Policy = other.ID(), journal.CloseTerminate
		parent.Starts = []journal.Start{st}
		f.accepted(*parent)
		child := First(st.ID, other.ID(), st.Input, kept, startedEvent)
		f.accepted(child)
		return child
	}
	closeParent := func(parent driver.Commit, inTx bool) func() {
		end := Then(parent, closes, doneEvent)
		end.Children = true
		return func() {
			if inTx {
				tx, err := f.s.Begin(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if _, err := tx.Value().(*sql.Tx).Exec(`CREATE TABLE IF NOT EXISTS done (n INTEGER)`); err != nil {
					t.Fatal(err)
				}
				end.Tx = tx
			}
			if out := f.accepted(end); len(out.Closed) != 1 {
				t.Errorf("closed %v", out.Closed)
			}
		}
	}
	parents := []driver.Commit{f.run(), f.run(), f.run()}
	children := []driver.Commit{adopt(&parents[0]), adopt(&parents[1]), adopt(&parents[2])}
	bystander := First(f.run().Run, f.node, startOf("good").Input, kept, startedEvent)
	f.accepted(bystander)
	free := f.run()
	f.accepted(free)
	f.accepted(Then(free, parked))
	terminate := func(run journal.RunID) {
		if _, err := f.s.Admin(t.Context(), driver.AdminAction{Run: run, Kind: driver.AdminTerminate, Reason: "r"}); err != nil {
			t.Fatal(err)
		}
	}
	if terminate(free.Run); heard(mine) || heard(other) {
		t.Error("the end of a run that nobody owned was told to a node")
	}
	for i, take := range []func(){func() { terminate(children[0].Run) }, closeParent(parents[1], false), closeParent(parents[2], true)} {
		take()
		late := Then(children[i], kept, stepEvent)
		late.AppendOnly = true
		f.refused("appending to a run that was terminated", late)
		if heard(mine) || !heard(other) || !heard(other) {
			t.Errorf("recall %d: heard by the wrong node, or not until the node compares", i)
		}
		bystander = Then(bystander, kept, stepEvent)
		bystander.AppendOnly = true
		f.accepted(bystander)
		list, err := other.Owned(t.Context())
		lost := slices.ContainsFunc(list, func(h driver.Holding) bool { return h.Run == children[i].Run })
		if err != nil || lost || heard(other) {
			t.Errorf("recall %d: the node owns %v, %v, and is asked again: %v", i, list, err, heard(other))
		}
	}
	h := f.load(children[0].Run)
	if n := len(h.Events); n != 2 || h.Events[1].Kind != journal.RunTerminated || h.Events[1].Link != 0 || h.Events[0].Link == 0 {
		t.Errorf("the history of a run that was terminated: %+v", h.Events)
	}
}
