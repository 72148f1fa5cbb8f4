package replay

import (
	"fmt"
	"sync/atomic"

	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/journal"
)

// sched runs the strands, strictly one at a time and in an order that follows from the code alone.
//
// Its invariants:
//
//   - running is the strand whose code runs, nil while none does. It is set by run and unwind only,
//     on the machine's goroutine, around the hand-off to a coroutine.
//   - Whoever calls a verb is compared with the goroutine of running before anything of the machine
//     is touched, see here. So what strands share needs no lock although code may break the rule
//     that it starts no goroutines; running and intruder, which foreign goroutines do reach, are
//     atomic.
//   - A strand is running, or woken, or parked with a waiter in each Cond that can let it go on. So
//     a change that is broadcast while a strand is about to wait cannot be missed: nothing runs
//     between its last look and its park.
//   - Once err is set, no strand runs again but to be unwound. Once unwinding is set, nothing that
//     code asks for has any effect, and each wait ends the strand.
//
// The last one is what makes a machine safe to throw away at any moment: deferred calls of workflow
// code run, as Go promises, but in a world where every verb does nothing.
type sched struct {
	strands    strands
	predicates predicates
	running    atomic.Pointer[strand]
	intruder   intruder
	onlooker   *strand // see ReadOnly; nil before the first

	// About the event being processed.
	event     *journal.Event // nil while the machine is at rest
	seq       journal.Seq    // of the last event
	replaying bool
	actions   int // what the code did in reaction to it: see spend
	budget    int // how many actions it has; actionsMax but in tests

	readOnly      bool  // see ReadOnly
	reads         bool  // the goroutine is among the readers, see reading
	refused       error // the first refusal that read-only code did not see, see Unseen
	readsExternal bool  // a predicate looked at what comes from outside: see MarkExternal
	returned      bool  // the workflow's function has returned: nothing runs any more
	unwinding     bool  // strands are being ended
	failAtPark    error // what the machine fails with when the running strand parks or ends: see refuse
	err           error // why the machine is dead; nil while it lives
}

// begin starts the reaction to an event. The event may have changed what predicates look at.
func (d *sched) begin(ev *journal.Event, replaying bool) {
	d.event, d.replaying, d.actions = ev, replaying, 0
	d.predicates.settled = false
	d.fail(d.intruder.err()) // a goroutine that code left behind may call while the machine is at rest
}

// run resumes strands until all are blocked, the function has returned or the machine is dead.
func (d *sched) run() {
	for d.err == nil && !d.returned {
		s := d.strands.pop()
		if s == nil {
			if s = d.predicates.tester(); s == nil {
				return
			}
		}
		if d.spend(); d.err != nil {
			return
		}
		d.running.Store(s)
		done, crash := s.co.Resume()
		d.running.Store(nil)
		if done {
			d.strands.remove(s)
		}
		if crash != nil {
			d.fail(crashed("", crash.Value, crash.PCs, crash.Stack))
		} else if d.failAtPark != nil {
			d.fail(d.failAtPark)
		}
		d.fail(d.intruder.err())
	}
}

// park blocks the running strand until one of its waiters' Conds or the scope's wakes it. Code that
// panics must not wait: what it asked for would be committed, and be in the way of code that does
// not panic. In replay it may, because what a history has is committed already.
func (d *sched) park(s *strand, sc *Scope) error {
	if !d.replaying && s.panicking() {
		return d.refuse()
	}
	if d.failAtPark != nil {
		d.Abort(d.failAtPark)
	}
	if s.internal() {
		s.mark()
	}
	if sc.err == nil {
		s.waiters = append(s.waiters, waiter{strand: s, cond: &sc.cond})
	}
	for i := range s.waiters { // after the last append: Conds keep pointers to them
		w := &s.waiters[i]
		w.cond.add(w)
	}
	s.co.Park()
	for i := range s.waiters {
		s.waiters[i].remove()
	}
	s.waiters = s.waiters[:0]
	s.unmark()
	return nil
}

// refuse is the answer to a wait in a deferred call of a panic. The turn is lost: a panic that goes
// on ends it at the end of the deferred call; if the call has recovered, the next proper wait does,
// or the strand's end.
func (d *sched) refuse() error {
	if d.failAtPark == nil {
		d.failAtPark = fmt.Errorf("%w%s", ErrPanicking, callsite.Caller().At())
	}
	if d.actions += d.budget / refusedMax; d.actions > d.budget {
		d.Abort(d.failAtPark)
	}
	return d.failAtPark
}

// current returns the strand that runs. During unwinding it does not return.
func (d *sched) current() (*strand, error) {
	s := d.running.Load()
	switch {
	case !s.here():
		return nil, d.intruder.refuse()
	case d.readOnly:
		return nil, d.refuseReadOnly()
	case d.unwinding:
		s.co.Park()
	}
	return s, nil
}

// Inside returns nil if the caller is workflow code of this run that is running and may change it:
// an error that matches ErrOutside or ErrReadOnly if not.
func (d *sched) Inside() error {
	if err := d.Reading(); err != nil {
		return err
	}
	if d.readOnly {
		return d.refuseReadOnly()
	}
	return nil
}

// Reading returns an error that matches ErrOutside unless the caller is workflow code of this run
// that is running, code that may only read included.
func (d *sched) Reading() error {
	if !d.running.Load().here() {
		return d.intruder.refuse()
	}
	return nil
}

// Go spawns a strand. It first runs when the strands spawned before it are blocked.
func (d *sched) Go(fn func()) {
	if d.readOnly {
		panic(d.refuseReadOnly())
	}
	if d.unwinding {
		return
	}
	d.spend()
	d.strands.spawn(fn)
}

// Broadcast lets every strand that waits at the Cond look again. They run when the running strand
// waits.
func (d *sched) Broadcast(c *Cond) {
	for w := c.waiters.First(); w != nil; w = w.node.Next() {
		if w.notify != nil {
			w.notify()
		} else {
			d.strands.wake(w.strand)
		}
	}
}

// signal lets the strand look again that has waited longest and is not awake already.
func (d *sched) signal(c *Cond) {
	for w := c.waiters.First(); w != nil; w = w.node.Next() {
		if w.notify == nil && !w.strand.woken {
			d.strands.wake(w.strand)
			return
		}
	}
}

// Poll counts a look that does not block, so that code that loops over it is stopped.
func (d *sched) Poll() {
	if !d.readOnly {
		d.spend()
	}
}

// spend counts an action of the code. Nothing can stop code that neither waits nor calls a verb;
// code that calls verbs without end is stopped here.
func (d *sched) spend() {
	if d.actions++; d.actions > d.budget && !d.unwinding {
		d.Abort(fmt.Errorf("after %d actions at event %d: %w", d.budget, d.seq, ErrRunaway))
	}
}

// Abort makes the machine dead. Called from workflow code it does not return.
func (d *sched) Abort(err error) {
	s := d.running.Load()
	if s != nil && s == d.onlooker {
		panic(err) // who looks at a run must not end it
	}
	if d.fail(err); s != nil {
		s.co.Park()
	}
}

// fail keeps the first reason for which the machine is dead; nil is none.
func (d *sched) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// unwind ends all strands in spawn order. With trace it returns where the first one was parked.
func (d *sched) unwind(trace bool) (first callsite.Site) {
	d.unwinding = true
	for s := d.strands.live.First(); s != nil; s = d.strands.live.First() {
		d.strands.remove(s)
		d.running.Store(s)
		pcs := s.co.Unwind(trace)
		d.running.Store(nil)
		if first.Where == "" {
			first = callsite.Of(pcs)
		}
	}
	d.strands, d.predicates = strands{}, predicates{}
	return first
}
