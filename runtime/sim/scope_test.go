package sim

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime"
)

// What operators do to all runs of a scope and to a node. Both are faults of a plan: they happen at a
// time, to nobody's run, and are over after a while.

// scopes are what a plan can pause. Every program is in all of them.
var scopes = []journal.Scope{{Queue: "default"}, {Workflow: string(program)}, {Workflow: string(program), Version: 1}}

// operates adds such faults to a plan. They come from a generator of their own, as pauses do.
func (p *plan) operates() {
	m := &maker{Rand: rand.New(rand.NewPCG(p.Seed, 0x5c09e))}
	if m.IntN(5) == 0 {
		for range 1 + m.IntN(2) {
			p.Faults = append(p.Faults, fault{At: m.between(0, 8*time.Second), Kind: pauseScope, Node: m.IntN(len(scopes)),
				For: m.between(time.Millisecond, 3*time.Second), Back: m.IntN(2)})
		}
	}
	if m.IntN(6) == 0 {
		p.Faults = append(p.Faults, fault{At: m.between(0, 8*time.Second), Kind: drainNode, Node: 1 + m.IntN(len(p.Nodes)),
			For: m.between(time.Millisecond, 3*time.Second)})
	}
}

// pausesAll tells whether the plan pauses all runs at some time.
func (p *plan) pausesAll() bool {
	return slices.ContainsFunc(p.Faults, func(f fault) bool { return f.Kind == pauseScope })
}

// pauseScope pauses a scope, until the fault is over. J11 is checked where steps begin, from the
// moment when the operator hears that every node heeds the pause.
func (w *world) pauseScope(f *fault) {
	client, scope, began := w.clients[0].client, scopes[f.Node], w.elapsed()
	ctx, cancel := context.WithTimeout(w.ctx, max(f.For, callMax))
	err := client.PauseScope(ctx, scope, &runtime.PauseOptions{Reason: "by plan", CancelSteps: f.Back == 1})
	cancel()
	if err == nil {
		w.heeded(scope)
	} else { // a pause without an answer may be on its way yet, and would come behind the resume: who looks lets it pass
		w.insist("pauses", func(ctx context.Context) error {
			_, err := client.Pauses(ctx)
			return err
		})
	}
	time.Sleep(began + f.For - w.elapsed())
	w.insist("resume scope", func(ctx context.Context) error { return client.ResumeScope(ctx, scope) })
}

// heeded notes that an operator has heard that every node heeds a pause, unless another one has ended
// it meanwhile. Nodes that have joined since are to heed it from the first moment on, whether the
// store knows that they do or not.
func (w *world) heeded(scope journal.Scope) {
	w.tape.mu.Lock() // nobody resumes it now
	defer w.tape.mu.Unlock()
	list, err := w.db.Pauses(context.Background())
	i := slices.IndexFunc(list, func(p journal.Pause) bool { return p.Scope == scope })
	pauses := 0 // with several, this one may be another's
	for _, f := range w.plan.Faults {
		if f.Kind == pauseScope && scopes[f.Node] == scope {
			pauses++
		}
	}
	if err == nil && i >= 0 && (pauses == 1 || len(list[i].Unheeded) == 0) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.scoped[scope] = true
		w.pausedScopes++
	}
}

// drain has a node leave that an operator asks to. It is back after a while, as another node.
func (w *world) drain(f *fault) {
	w.mu.Lock()
	p := w.nodes[f.Node]
	w.mu.Unlock()
	if p == nil || p.node.ID() == 0 {
		return
	}
	id, epoch := p.node.ID(), w.now()
	ctx, cancel := context.WithTimeout(w.ctx, callMax+w.plan.Drain)
	err := w.clients[0].client.DrainNode(ctx, id)
	cancel()
	switch {
	case err == nil && w.now() == epoch:
		w.mu.Lock()
		w.drained++
		w.mu.Unlock()
		if w.isMember(id) { // its lease had run out, and it has renewed that: the order stays
			time.Sleep(w.plan.Lease + w.plan.Drain + callMax)
		}
		if w.isMember(id) && w.now() == epoch {
			w.breaks("drain", "node %d has been drained, and is a member", id)
		}
	case err != nil && !errors.Is(err, journal.ErrNoNode) && !errors.Is(err, journal.ErrUnavailable) && ctx.Err() == nil:
		w.breaks("client", "drain node %d: %v", id, err)
	}
	go func() { // also if the operator has heard nothing: the order may be given
		<-p.ended
		w.mu.Lock()
		if w.nodes[f.Node] == p && !p.dead.Load() {
			w.nodes[f.Node] = nil
		}
		w.mu.Unlock()
		time.Sleep(f.For)
		w.boot(f.Node)
	}()
}

// isMember tells whether a node is one whose lease has not run out.
func (w *world) isMember(id journal.NodeID) bool {
	nodes, err := w.db.Nodes(context.Background())
	return err != nil || slices.ContainsFunc(nodes, func(n journal.Node) bool { return n.ID == id })
}

// beginsScoped checks J11 when a step begins: no scope of its run is paused, once every node heeds
// that, those among them that have joined since.
func (w *world) beginsScoped(e *execution) {
	w.mu.Lock()
	paused, back := len(w.scoped) > 0, w.epoch > 0
	w.mu.Unlock()
	if paused && !back && !w.thawed(e.process) {
		w.breaks("paused", "step %s of run %s begins on %s, and its scope is paused, as every node has said: %v (J11)", e.step, w.number(e.run), e.process, w.scoped)
	}
}

// adminOther has a store carry out what is about no run, and checks J12: what changes something has
// one row of the audit. The tape is locked.
func (w *world) adminOther(ctx context.Context, s driver.Store, a driver.AdminAction) (driver.AdminOutcome, error) {
	before, rows := w.orders(), w.auditedAll()
	if a.Scope != nil && a.Kind == driver.AdminResume {
		w.mu.Lock()
		delete(w.scoped, *a.Scope)
		w.mu.Unlock()
	}
	out, err := s.Admin(ctx, a)
	want := int64(0)
	if !slices.Equal(before, w.orders()) {
		want = 1
	}
	if got := w.auditedAll() - rows; got != want {
		w.breaks("audit", "a %s of %v, node %d, %v, has left %d entries, want %d (J12)", a.Kind, a.Scope, a.Node, err, got, want)
	}
	return out, err
}

// order is what operators have said that is about no run.
type order struct {
	scope      journal.Scope
	pause      int64
	interrupts bool
	drains     journal.NodeID
}

func (w *world) orders() (list []order) {
	pauses, err := w.db.Pauses(context.Background())
	if err != nil {
		w.breaks("audit", "the pauses cannot be read: %v", err)
	}
	for _, p := range pauses {
		list = append(list, order{scope: p.Scope, pause: p.Number, interrupts: p.Interrupts})
	}
	for _, n := range w.db.Snapshot().Nodes {
		if n.Draining {
			list = append(list, order{drains: n.ID})
		}
	}
	return list
}

// auditedAll is the number of the newest entry of the audit.
func (w *world) auditedAll() int64 {
	list, err := w.db.Audit(context.Background(), journal.AuditFilter{Limit: 1})
	if err != nil || len(list) == 0 {
		return 0
	}
	return list[0].Number
}

// resumeLostScopes resumes scopes whose resume the database has lost.
func (w *world) resumeLostScopes() {
	for _, scope := range scopes {
		_, _ = w.db.Admin(context.Background(), driver.AdminAction{Kind: driver.AdminResume, Scope: &scope})
	}
}
