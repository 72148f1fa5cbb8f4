package sim

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime"
)

// Limits that runs hold until they close (J14): whole runs take places, forks of them too, and their
// children none. A run whose start finds the limit full is started again until there is room. The
// bodies of steps are the witness here as well: those of different runs are never executed beside
// each other, if their runs are open and the limit has no place for both. A run that waits for its
// place takes no message and fires no timer, so it is not late.

// placesName is the limit that runs hold; those that steps need have other letters.
const placesName = "r"

// places draws a limit of runs for some plans, from a generator of its own.
func (p *plan) places() {
	m := &maker{Rand: rand.New(rand.NewPCG(p.Seed, 0x91ace))}
	if m.IntN(3) > 0 {
		return
	}
	p.Bounds = append(p.Bounds, boundPlan{Name: placesName, Concurrency: 1 + m.IntN(2), Backlog: m.IntN(3)})
	if b := &p.Bounds[len(p.Bounds)-1]; b.Backlog > 0 {
		b.Full = journal.OnFullReject + journal.OnFull(m.IntN(3))
	}
	for i := range p.Runs {
		p.Runs[i].Holds = m.IntN(4) > 0
	}
}

// isFull tells whether a start is refused because as many wait as may.
func isFull(err error) bool {
	_, full := errors.AsType[*journal.LimitFullError](err)
	return full
}

// needs are the limits that a run of the plan holds.
func (p *plan) needs(r *runPlan) []journal.LimitNeed {
	if !r.Holds || p.bound(placesName) == nil {
		return nil
	}
	return []journal.LimitNeed{{Name: placesName}}
}

// holdsPlace tells whether a run of the plan, or a fork of one, holds the limit of runs. The caller
// holds mu.
func (w *world) holdsPlace(run journal.RunID) bool {
	r := w.run(run)
	return r != nil && r.of == 0 && r.plan.Holds && w.plan.bound(placesName) != nil
}

// bound returns a limit of the plan.
func (p *plan) bound(name string) *boundPlan {
	if i := slices.IndexFunc(p.Bounds, func(b boundPlan) bool { return b.Name == name }); i >= 0 {
		return &p.Bounds[i]
	}
	return nil
}

// beginsPlaced is the witness: when a body begins, no more runs execute one that hold a place than
// there are places. A run that has closed has none any more, while a body of it may still hear of
// that, and one that an operator has opened again waits for one.
func (w *world) beginsPlaced(e *execution) {
	w.mu.Lock()
	if !w.holdsPlace(e.run) {
		w.mu.Unlock()
		return
	}
	runs := []journal.RunID{e.run}
	for _, other := range w.executions {
		if other.over == 0 && !w.isDead(other.process) && w.holdsPlace(other.run) && !slices.Contains(runs, other.run) {
			runs = append(runs, other.run)
		}
	}
	w.placed++
	most := w.plan.bound(placesName).Concurrency
	excused := w.excusesHolders()
	w.mu.Unlock()
	if len(runs) <= most || excused {
		return
	}
	requests := make([]driver.LoadRequest, len(runs))
	for i, run := range runs {
		requests[i] = driver.LoadRequest{Run: run, InboxOnly: true, AfterInbox: 1 << 40}
	}
	list, err := w.db.Load(context.Background(), requests)
	if err != nil {
		w.breaks("bounds", "runs that hold a place cannot be loaded: %v", err)
		return
	}
	var held []string
	for i := range list {
		if t := list[i].Run.Task; t != nil && t.State == journal.Ready {
			held = append(held, w.number(runs[i]))
		}
	}
	if len(held) > most {
		w.breaks("bounds", "step %s of run %s begins on %s, and the runs %q hold %d places (J14)", e.step, w.number(e.run), e.process, held, most)
	}
}

// pushes tells whether a run that has not begun may be cancelled by another one that comes, or by
// those that wait when it comes.
func (p *plan) pushes(r *runPlan) bool {
	b := p.bound(placesName)
	return r.Holds && b != nil && b.Full > journal.OnFullReject
}

// stored finds the run by its key.
func (w *world) stored(r *running) journal.RunID {
	page, err := w.db.List(context.Background(), journal.ListFilter{Key: r.key()})
	if err != nil || len(page.Runs) == 0 {
		return journal.RunID{}
	}
	return page.Runs[0].ID
}

// isPushed tells whether an event is the end of a run that never began, which no owner writes.
func isPushed(ev *journal.Event) bool { return ev.Kind == journal.RunCancelled && ev.Seq == 1 }

// isPushedOut tells whether the run was cancelled by a full limit before it began.
func (r *settled) isPushedOut() bool {
	return r.Run.Status == journal.Cancelled && r.Run.Terminal != nil && isPushed(r.Run.Terminal)
}

// wasNotAsked tells whether the run has closed and its program has not come to anything.
func (r *settled) wasNotAsked() bool { return r.Run.Status == journal.Terminated || r.isPushedOut() }

// pushedOut checks such a run: its limit does that, its end names the limit, and its client hears of
// a cancellation.
func (f *finder) pushedOut(r *settled) {
	f.world.pushed++
	failure, err := journal.DecodeFailure(r.Run.Terminal.Payload)
	if !f.plan.pushes(r.plan) || err != nil || !strings.Contains(failure.Message, `limit "`+placesName+`"`) {
		f.breaks("%s was cancelled before it began: %+v, %v", r, failure, err)
	}
	if _, ok := errors.AsType[*runtime.CancelledError](r.failure); r.heard && !ok {
		f.breaks("%s was cancelled, its client heard %v", r, r.failure)
	}
}

// isLimited tells whether the run waits for a place, or may have: who is never late by it.
func (r *settled) isLimited() bool { return len(r.Run.Limits) > 0 }
