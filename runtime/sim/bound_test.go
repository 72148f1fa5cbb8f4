package sim

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
)

// Limits that steps name (J14). A plan calls them bounds, because a step has limits of time, too.
// The bodies of steps are the witness: they count who executes one beside them, as an API would
// that is called. A step that waits for a bound takes no place from others, so it is late by
// nobody's fault, and no check of times knows of it.

// boundPlan is a limit that is there from the beginning.
type boundPlan struct {
	Name        string `json:"name"` // one letter, as in sort.Needs
	Concurrency int    `json:"concurrency,omitempty"`
	Total       int    `json:"total,omitempty"`
	Rate        int64  `json:"rate,omitempty"`    // of costs in a second
	Backlog     int    `json:"backlog,omitempty"` // of runs; 0 for any number

	Full journal.OnFull `json:"full,omitempty"` // what happens to a run that comes beyond it
}

// boundKeys are how many keys a bound with a Total has. A step's number decides which one is its.
const boundKeys = 2

// bounds draws limits for some plans, from a generator of their own, as pauses do. A run that waits
// for one keeps its place on its node, so nodes of few places have none.
func (p *plan) bounds() {
	m := &maker{Rand: rand.New(rand.NewPCG(p.Seed, 0x11417))}
	if m.IntN(3) > 0 || slices.ContainsFunc(p.Nodes, func(n nodePlan) bool { return n.LiveMax > 0 }) {
		return
	}
	p.Bounds = []boundPlan{{Name: "a", Concurrency: 1 + m.IntN(3)}, {Name: "b", Concurrency: 1 + m.IntN(2), Total: 2, Rate: 40}}
	for i := range p.Runs {
		walkAll(p.Runs[i].Program, func(in *instr) {
			if m.IntN(3) == 0 && in.executes() {
				in.Sort.Needs = []string{"a", "b", "ab"}[m.IntN(3)]
			}
		})
	}
}

// walkAll visits every instruction of a run, of its children and of further generations.
func walkAll(body []instr, visit func(*instr)) {
	for i := range body {
		visit(&body[i])
		walkAll(body[i].Body, visit)
	}
}

// executes tells whether the instruction is a step.
func (in *instr) executes() bool {
	return in.Do == doStep || in.Do == doTx || in.Do == doAsync || in.Do == doPlain
}

// limits are what the instruction's step names.
func (in *instr) limits() (list []workflow.StepLimit) {
	for _, name := range strings.Split(in.Sort.Needs, "") {
		list = append(list, workflow.StepLimit{Name: name, Key: boundKey(name, in.ID), Cost: in.cost()})
	}
	return list
}

// boundKey is the key of a step; only b has several.
func boundKey(name string, id int) string {
	if name == "b" {
		return []string{"x", "y"}[id%boundKeys]
	}
	return ""
}

// cost is what a step reserves of a rate. Its body uses 1.
func (in *instr) cost() int64 { return 1 + int64(in.ID%4) }

// bind makes the limits of the plan. Nobody is connected yet.
func (w *world) bind() {
	for _, b := range w.plan.Bounds {
		l := journal.Limit{Name: b.Name, Concurrency: b.Concurrency, Total: b.Total, MaxBacklog: b.Backlog, OnFull: b.Full}
		if b.Rate > 0 {
			l.Rate = journal.Rate{N: b.Rate, Per: time.Second, Burst: b.Rate}
		}
		if err := l.Check(); err != nil {
			panic(err)
		}
		if _, err := w.db.Admin(context.Background(), driver.AdminAction{Kind: driver.AdminSetLimit, Limit: &l, Actor: "plan"}); err != nil {
			panic(err)
		}
	}
}

// holding is what a body holds while it is executed.
type holding struct{ name, key string }

// beginsBounded is the witness of J14: when a body begins, no more are executed that hold the same
// than the limit allows. A process that is dead executes nothing. It says nothing once the database
// has gone back, which forgets who holds what, or its clock has made a leap, which ends the leases
// of those who go on.
func (w *world) beginsBounded(ctx context.Context, e *execution, in *instr, undo bool) {
	if undo || in.Sort.Needs == "" || len(w.plan.Bounds) == 0 {
		return
	}
	for _, l := range in.limits() {
		if err := workflow.Settle(ctx, l.Name, 1); err != nil {
			w.breaks("bounds", "step %s of run %s settles %s: %v", e.step, w.number(e.run), l.Name, err)
		}
	}
	w.mu.Lock()
	var over []string
	for _, l := range in.limits() {
		e.holds = append(e.holds, holding{l.Name, l.Key})
	}
	for _, b := range w.plan.Bounds {
		for _, h := range e.holds {
			if h.name != b.Name {
				continue
			}
			ofKey, all := w.holders(h)
			if b.Concurrency > 0 && ofKey > b.Concurrency || b.Total > 0 && all > b.Total {
				over = append(over, h.name+h.key)
			}
			w.bounded++
		}
	}
	excused := w.excusesHolders()
	w.mu.Unlock()
	if len(over) > 0 && !excused {
		w.breaks("bounds", "step %s of run %s begins on %s, and more than may hold %q (J14)", e.step, w.number(e.run), e.process, over)
	}
}

// excusesHolders tells whether the store may not know who holds what: see beginsBounded. The caller
// holds mu.
func (w *world) excusesHolders() bool {
	return w.epoch > 0 || slices.ContainsFunc(w.plan.Faults, func(f fault) bool { return f.Kind == leap })
}

// holders counts the bodies that hold a key of a limit, and those that hold any key of it. The
// caller holds mu.
func (w *world) holders(h holding) (ofKey, all int) {
	for _, e := range w.executions {
		if e.over != 0 || w.isDead(e.process) {
			continue
		}
		for _, has := range e.holds {
			if has == h {
				ofKey++
			}
			if has.name == h.name {
				all++
			}
		}
	}
	return ofKey, all
}

// isDead tells whether a process has died without a word. The caller holds mu.
func (w *world) isDead(name string) bool {
	i := slices.IndexFunc(w.all, func(p *process) bool { return p.name == name })
	return i >= 0 && w.all[i].dead.Load()
}

// readClaims keeps the claims that are left of nodes which are gone. A node that has died without a
// word is there until somebody sees it.
func (w *world) readClaims() {
	page, err := w.db.Limits(context.Background(), journal.LimitFilter{Claims: journal.ListMax})
	if err != nil {
		w.breaks("bounds", "limits cannot be read: %v", err)
	}
	there := map[journal.NodeID]bool{}
	for _, n := range w.db.Snapshot().Nodes {
		there[n.ID] = true
	}
	w.claims = slices.DeleteFunc(page.Claims, func(c journal.LimitClaim) bool { return there[c.Node] })
}

// checkBounds: when all is over, nothing is held and nobody waits: no slot is lost.
func checkBounds(f *finder) {
	for i := range f.claims {
		c := &f.claims[i]
		f.breaks("step %s of run %s has a claim of %s on node %d, which is gone (J14)", c.Step, f.number(c.Run), c.Limit, c.Node)
	}
}
