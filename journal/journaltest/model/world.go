package model

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/state"
	"github.com/reprise-run/reprise/journal/memory"
)

// stateEvery is how many steps lie between two comparisons of the whole state.
const stateEvery = 10

// Times of the model. The reference lives in its own year; what steps ask for lies clearly before
// or behind the clocks of both stores, and is compared exactly.
var (
	yearNow  = time.Date(2050, 1, 1, 0, 0, 0, 0, time.UTC)
	yearPast = time.Date(2005, 1, 1, 0, 0, 0, 0, time.UTC)
	yearThen = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	waits    = time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC) // stands for times between: not yet
)

// world is one of the two stores with the nodes that live on it.
type world struct {
	store   driver.Store
	j       *driver.Journal
	members []driver.Membership // by incarnation
	names   map[journal.NodeID]journal.NodeID
}

// model is a program under way. It asks the reference what there is, carries a step out in both
// worlds, and compares the answers. Where a store has a choice, as among tasks that became due at
// the same time, the reference follows the store under test; see claim.
type model struct {
	ctx    context.Context
	space  string // in the names of this program's workflows and keys
	ids    []journal.RunID
	routes []journal.Route
	memory *memory.Store
	clock  time.Time // of the memory
	worlds [2]*world // the memory, the store under test
	slots  [nodesMax][]int
	views  [runsMax][]*view // what owners know of a run; the newest is the last
	steps  int              // counts, so that times of events and names differ
}

// view is what an owner knows of its run.
type view struct {
	node   int // by incarnation
	run    journal.RunID
	gen    journal.Generation
	fence  journal.Fence
	turn   journal.Turn
	origin journal.Link // of the generation
	head   journal.Head
	seen   journal.InboxSeq
	last   *driver.Commit // that was written
}

// accept takes note that a commit was written.
func (v *view) accept(c *driver.Commit) {
	v.last = c
	v.seen, v.head = max(v.seen, c.InboxSeen), c.NewHead()
	if v.turn = c.Turn; !c.AppendOnly {
		v.turn++
	}
	if next := c.Continue; next != nil {
		v.gen, v.seen = v.gen+1, next.Seen
		v.origin = journal.OriginOf(v.run, v.gen, next.Seen, next.Input)
		v.head = journal.Head{Link: v.origin}
	}
}

// newModel returns a program's two worlds. Names carry a fresh id, so programs that share a store
// do not see each other.
func newModel(ctx context.Context, store driver.Store) *model {
	m := &model{ctx: ctx, space: journal.NewRunID().String(), clock: yearNow}
	for range runsMax {
		m.ids = append(m.ids, journal.NewRunID())
	}
	m.routes = []journal.Route{{Queue: journal.DefaultQueue, Workflow: "w " + m.space, Version: 1},
		{Queue: journal.DefaultQueue, Workflow: "w " + m.space, Version: 2}, {Queue: "q", Workflow: "x " + m.space, Version: 1}}
	m.memory = memory.New(&memory.Options{Now: func() time.Time { return m.clock }})
	m.worlds = [2]*world{{store: m.memory}, {store: store}}
	for _, w := range m.worlds {
		w.j, w.names = driver.New(w.store, nil), map[journal.NodeID]journal.NodeID{}
	}
	return m
}

// run carries a program out and returns the first difference, or nil.
func (p program) run(ctx context.Context, store driver.Store, every int) *Difference {
	m := newModel(ctx, store)
	defer m.leave()
	for i, s := range p {
		m.steps++
		m.clock = m.clock.Add(time.Millisecond)
		text := m.do(s)
		if text == "" && ((i+1)%every == 0 || i == len(p)-1) {
			text = m.compareState()
		}
		if text != "" {
			return &Difference{program: p, step: i, text: text}
		}
	}
	return nil
}

// leave takes the program's nodes off the store, and what nodes claimed that had left, so that no
// later program meets them. Whatever goes wrong here does so in the next program too.
func (m *model) leave() {
	w := m.worlds[1]
	for _, member := range w.members {
		_ = member.Leave(m.ctx)
	}
	if last, err := w.j.Join(m.ctx, journal.Node{Name: "model", Lease: time.Hour}); err == nil {
		_, _ = last.Reap(m.ctx, nil)
		_ = last.Leave(m.ctx)
	}
}

// diff compares what the two worlds say, which must be plain.
func (m *model) diff(what string, want, got any) string {
	if reflect.DeepEqual(want, got) { // nearly always, and much faster
		return ""
	}
	names := cmp.Transformer("run", func(id journal.RunID) string {
		if n := slices.Index(m.ids, id); n >= 0 {
			return fmt.Sprint("run ", n)
		}
		return id.String()
	})
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.Comparer(sameError), names); d != "" {
		return fmt.Sprintf("%s (-model +store):\n%s", what, d)
	}
	return ""
}

// sameError compares errors by what callers branch on.
func sameError(a, b error) bool {
	if (a == nil) != (b == nil) {
		return false
	}
	for _, e := range []error{journal.ErrInvalid, journal.ErrNotFound, journal.ErrClosed, journal.ErrOpen, journal.ErrFenced,
		journal.ErrNodeLost, journal.ErrUnavailable, journal.ErrTxLost} {
		if errors.Is(a, e) != errors.Is(b, e) {
			return false
		}
	}
	var keyA, keyB *journal.KeyConflictError
	if errors.As(a, &keyA) != errors.As(b, &keyB) {
		return false
	}
	return keyA == nil || *keyA == *keyB
}

// both makes a call in both worlds and compares the answers, made plain.
func both[T any](m *model, what string, call func(w *world) (T, error)) (string, T) {
	type result struct {
		Answer T
		Err    error
	}
	var r [2]result
	for i, w := range m.worlds {
		r[i].Answer, r[i].Err = call(w)
	}
	return m.diff(what, r[0], r[1]), r[0].Answer
}

// compareState compares all that both stores show of the program.
func (m *model) compareState() string {
	text, _ := both(m, "state", func(w *world) (state.State, error) {
		s, err := state.Of(m.ctx, byIDs{w.store, m.ids})
		if err != nil {
			return state.State{}, err
		}
		p := m.plain(w)
		for i := range s.Runs {
			p.Run(&s.Runs[i])
		}
		var nodes []journal.Node
		for _, n := range s.Nodes {
			if name, ok := w.names[n.ID]; ok {
				nodes = append(nodes, journal.Node{ID: name, Name: n.Name, Routes: n.Routes, Lease: n.Lease})
			}
		}
		s.Nodes = nodes
		return s, nil
	})
	return text
}

// plain returns what makes a world's answers comparable.
func (m *model) plain(w *world) *state.Plain {
	return &state.Plain{Nodes: w.names, Visible: m.visible(w)}
}

// visible keeps what steps have asked for, and tells of other times whether they have come.
func (m *model) visible(w *world) func(time.Time) time.Time {
	return func(t time.Time) time.Time {
		switch {
		case t.IsZero() || t.Before(yearPast.AddDate(1, 0, 0)) || !t.Before(yearThen):
			return t
		case t.After(w.j.Now().Add(30 * time.Minute)): // a delayed start waits for an hour
			return waits
		}
		return state.SomeTime
	}
}

// byIDs narrows the listing of a store to some runs.
type byIDs struct {
	driver.Store
	ids []journal.RunID
}

// List implements driver.Store.
func (b byIDs) List(ctx context.Context, f journal.ListFilter) (journal.RunPage, error) {
	f.IDs = b.ids
	return b.Store.List(ctx, f)
}
