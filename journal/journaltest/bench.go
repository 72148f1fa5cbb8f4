package journaltest

import (
	"fmt"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Bench measures what a node does with a store. Each benchmark calls open for a store on a database
// of its own. Beside the time of a call it reports how many members went through in a second.
func Bench(b *testing.B, open func(b *testing.B) driver.Store) {
	for _, size := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("Start/%d", size), func(b *testing.B) { benchStart(newBencher(b, open(b)), size) })
		b.Run(fmt.Sprintf("Commit/%d", size), func(b *testing.B) { benchCommit(newBencher(b, open(b)), size) })
	}
	for _, backlog := range []int{100, 10_000} {
		b.Run(fmt.Sprintf("Claim/%d", backlog), func(b *testing.B) { benchClaim(newBencher(b, open(b)), backlog) })
	}
	b.Run("FanIn", func(b *testing.B) { benchFanIn(newBencher(b, open(b))) })
	b.Run("Load", func(b *testing.B) { benchLoad(newBencher(b, open(b))) })
}

// bencher is a store under measurement, with one node.
type bencher struct {
	b    *testing.B
	j    *driver.Journal
	node journal.NodeID
}

func newBencher(b *testing.B, s driver.Store) *bencher {
	r := &bencher{b: b, j: driver.New(s, nil)}
	m, err := r.j.Join(b.Context(), journal.Node{Name: "bench", Routes: []journal.Route{flowRoute}, Lease: time.Hour})
	r.ok(err)
	r.node = m.ID()
	return r
}

func (r *bencher) ok(err error) {
	r.b.Helper()
	if err != nil {
		r.b.Fatal(err)
	}
}

// measure times calls of so many members each.
func (r *bencher) measure(members int, call func()) {
	r.b.ReportAllocs()
	for r.b.Loop() {
		call()
	}
	r.b.ReportMetric(float64(members)*float64(r.b.N)/r.b.Elapsed().Seconds(), "members/s")
}

// start starts n runs, due at once or owned from birth by the bencher's node.
func (r *bencher) start(n int, owned bool) []*owner {
	r.b.Helper()
	list := make([]journal.Start, n)
	for i := range list {
		list[i] = journal.Start{Workflow: flow, Input: journal.Payload{Data: []byte(`{"n":1}`)}}
		if owned {
			list[i].Owner = r.node
		}
	}
	out, err := r.j.Start(r.b.Context(), nil, list)
	r.ok(err)
	owners := make([]*owner, n)
	for i := range out {
		r.ok(out[i].Err)
		owners[i] = bornOwner(&kit{j: r.j}, r.node, out[i].Run, list[i].Input)
	}
	return owners
}

// commit writes the next turn of every run.
func (r *bencher) commit(owners []*owner, next driver.Next, events ...journal.Event) {
	r.b.Helper()
	list := make([]driver.Commit, len(owners))
	for i, o := range owners {
		list[i] = o.build(next, events...)
	}
	out, err := r.j.Commit(r.b.Context(), list)
	r.ok(err)
	for i := range out {
		r.ok(out[i].Err)
		owners[i].accept(&list[i])
	}
}

func benchStart(r *bencher, size int) {
	r.measure(size, func() { r.start(size, false) })
}

// benchCommit commits one step a turn, of runs that stay owned.
func benchCommit(r *bencher, size int) {
	owners := r.start(size, true)
	cmd := journal.Cmd(1)
	r.commit(owners, keep, started("step"))
	r.measure(size, func() {
		r.commit(owners, keep, stepDone(cmd, "step", `{"n":1}`, "step"))
		cmd++
	})
}

// benchClaim claims while many tasks are due, as many are parked for ever, and as many until
// tomorrow. What was claimed goes back behind the others; that is not measured.
func benchClaim(r *bencher, backlog int) {
	const size, piece = 16, 500
	for n := 0; n < backlog; n += piece {
		r.commit(r.start(min(piece, backlog-n), true), park, started())
		r.commit(r.start(min(piece, backlog-n), true), parkUntil(r.j.Now().Add(24*time.Hour)), started())
		r.commit(r.start(min(piece, backlog-n), true), release, started())
	}
	request := driver.ClaimRequest{Node: r.node, Routes: []journal.Route{flowRoute}, Max: size}
	r.measure(size, func() {
		c, err := r.j.Claim(r.b.Context(), request)
		r.ok(err)
		if len(c.Tasks) != size {
			r.b.Fatalf("claimed %d tasks, want %d", len(c.Tasks), size)
		}
		r.b.StopTimer()
		back := make([]*owner, size)
		for i, task := range c.Tasks {
			back[i] = &owner{k: &kit{j: r.j}, node: r.node, run: task.Run.ID, gen: 1, fence: task.Task.Fence, turn: task.Task.Turn,
				head: journal.Head{Seq: 1, Link: task.Task.Link}}
		}
		r.commit(back, release)
		r.b.StartTimer()
	})
}

// benchFanIn sends signals to one owned run, which reads and consumes them.
func benchFanIn(r *bencher) {
	const size = 64
	o := r.start(1, true)[0]
	r.commit([]*owner{o}, keep, started())
	r.measure(size, func() {
		list := make([]journal.Message, size)
		for i := range list {
			list[i] = journal.Message{Run: o.run, Kind: journal.MessageSignal, Name: "sig", Payload: journal.Payload{Data: []byte(`{"n":1}`)}}
		}
		sent, err := r.j.Send(r.b.Context(), nil, list)
		r.ok(err)
		for i := range sent {
			r.ok(sent[i].Err)
		}
		loaded, err := r.j.Load(r.b.Context(), []driver.LoadRequest{{Run: o.run, InboxOnly: true, AfterInbox: o.seen}})
		r.ok(err)
		events := make([]journal.Event, 0, size)
		for _, m := range loaded[0].Inbox {
			events = append(events, received(m))
		}
		r.commit([]*owner{o}, keep, events...)
	})
}

// benchLoad loads sixteen histories of a hundred events.
func benchLoad(r *bencher) {
	const size = 16
	owners := r.start(size, true)
	events := []journal.Event{started("step")}
	for cmd := journal.Cmd(1); cmd < 100; cmd++ {
		events = append(events, stepDone(cmd, "step", `{"n":1}`, "step"))
	}
	r.commit(owners, keep, events...)
	requests := make([]driver.LoadRequest, size)
	for i, o := range owners {
		requests[i].Run = o.run
	}
	r.measure(size, func() {
		list, err := r.j.Load(r.b.Context(), requests)
		r.ok(err)
		if n := len(list[size-1].Events); n != len(events) {
			r.b.Fatalf("loaded %d events, want %d", n, len(events))
		}
	})
}
