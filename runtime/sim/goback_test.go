package sim

import (
	"maps"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
)

// pastsMax is how many commits the database can lose.
const pastsMax = 40

// past is a moment ahead of a commit, to which the database may go back, and how far the tape was.
type past struct {
	mark            *memory.Mark
	at              time.Duration
	commits, grants int
	backs           int
	tells           map[journal.RunID]int
	arrived         map[message]time.Time
	left            map[journal.NodeID]bool
	effects         map[string]int
}

// remember keeps the present moment while the database is still to go back. The tape is locked.
func (w *world) remember() {
	if !slices.ContainsFunc(w.plan.Faults, func(f fault) bool { return f.Kind == goBack && f.At >= w.elapsed() }) {
		return
	}
	t := &w.tape
	now := past{
		mark: w.db.Mark(), at: w.elapsed(), commits: len(t.commits), grants: len(t.grants), backs: len(t.backs),
		tells: map[journal.RunID]int{}, arrived: maps.Clone(t.arrived), left: maps.Clone(t.left),
	}
	for run, list := range t.tells {
		now.tells[run] = len(list)
	}
	w.effectsMu.Lock()
	now.effects = maps.Clone(w.effects)
	w.effectsMu.Unlock()
	if t.pasts = append(t.pasts, now); len(t.pasts) > pastsMax {
		t.pasts = slices.Delete(t.pasts, 0, 1)
	}
}

// goBack takes the database back to what it was ahead of some of its last commits. What is on the
// tape from there on is lost: it was acknowledged and is no more. Fences that claims have given out
// are not forgotten: none may come a second time. That of a birth may, with the birth.
func (w *world) goBack(f *fault) {
	t := &w.tape
	t.mu.Lock()
	defer t.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(t.pasts) == 0 {
		return
	}
	at := max(len(t.pasts)-f.Back, 0)
	then := t.pasts[at]
	t.pasts = t.pasts[:at]
	w.db.GoBack(then.mark)
	w.epoch++
	t.lost = append(t.lost, t.commits[then.commits:]...)
	t.commits, t.backs = slices.Clip(t.commits[:then.commits]), slices.Clip(t.backs[:then.backs])
	claimed := slices.DeleteFunc(slices.Clone(t.grants[then.grants:]), func(g grant) bool { return g.fence == journal.FenceAtBirth })
	t.grants = append(slices.Clip(t.grants[:then.grants]), claimed...)
	for run, list := range t.tells {
		t.tells[run] = list[:then.tells[run]]
	}
	t.arrived, t.left = maps.Clone(then.arrived), maps.Clone(then.left)
	w.effectsMu.Lock()
	w.effects = maps.Clone(then.effects)
	w.effectsMu.Unlock()
	w.forget(then.at)
}

// forget has the world outside hear that all is lost that was acknowledged since a moment. A run
// that is gone is started again; of the rest about half is done again, and the other half is given
// up. w.mu is held.
func (w *world) forget(since time.Duration) {
	exists := map[journal.RunID]bool{}
	for _, s := range w.db.Snapshot().Runs {
		exists[s.Run.ID] = true
	}
	w.runs = slices.DeleteFunc(w.runs, func(r *running) bool { return (r.of != 0 || r.fork != 0) && !exists[r.id] })
	for _, r := range w.runs {
		gone := !r.id.IsZero() && !exists[r.id]
		if gone {
			r.id = journal.RunID{}
		}
		var again []func()
		r.done = slices.DeleteFunc(r.done, func(d done) bool {
			lost := d.at >= since || gone
			if lost && hash(w.plan.Seed, r.number, d.payload, w.epoch)%2 == 0 {
				again = append(again, d.again)
				w.resent[d.payload] = true
			}
			if lost && d.call != nil {
				r.calls = slices.DeleteFunc(r.calls, func(a *answered) bool { return a == d.call })
			}
			return lost
		})
		heard := r.heard && r.heardAt >= since
		if heard || gone {
			r.heard = false
		}
		id := r.id
		if r.since = 0; heard || gone {
			r.ear++
		}
		ear := r.ear
		switch {
		case gone:
			w.drivers.Go(func() { w.begin(r) })
		case heard:
			w.drivers.Go(func() { w.listen(r, id, ear) })
		}
		if len(again) > 0 {
			w.drivers.Go(func() {
				for _, do := range again {
					do()
				}
			})
		}
	}
}

// done is what a client did to a run, with the answer that it has.
type done struct {
	at      time.Duration
	payload string
	signal  bool
	refused bool      // it came too late: the run was closed
	call    *answered // an update
	again   func()
}

// repeat does something to a run whose answer is known then, and notes it. If the database has gone
// back meanwhile, nobody can tell what the answer is worth: it is done again.
func (w *world) repeat(r *running, once func() (done, bool)) {
	for w.ctx.Err() == nil {
		epoch := w.now()
		d, ok := once()
		if w.note(r, epoch, d, ok) {
			return
		}
	}
}

// note tells whether nothing has gone back since an epoch, and notes what was done then.
func (w *world) note(r *running, epoch int, d done, ok bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.epoch != epoch {
		return false
	}
	if d.at = w.elapsed(); ok {
		r.done = append(r.done, d)
	}
	return true
}

// now is how often the database has gone back.
func (w *world) now() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.epoch
}

// idOf returns the run's id. A run that was lost with the database's last moments gets another one.
func (w *world) idOf(r *running) (id journal.RunID) {
	for ; w.ctx.Err() == nil; time.Sleep(callMax / 10) {
		w.mu.Lock()
		id = r.id
		w.mu.Unlock()
		if !id.IsZero() {
			return id
		}
	}
	return id
}

// asked tells whether a turn that asks for a step was durable once, and was lost.
func (t *tape) asked(run journal.RunID, step string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.ContainsFunc(t.lost, func(c written) bool { return c.Run == run && asksFor(c.Events, step) })
}

// echoed are the calls that may arrive when nobody waits for them.
var echoed = []string{"start", "send", "claim", "commit"}

// echoMax is how long such a call is on its way at most.
func (p *plan) echoMax() time.Duration { return 2*p.Lease + 4*time.Second }
