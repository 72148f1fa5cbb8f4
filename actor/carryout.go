package actor

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/replay"
)

// carryOut does what a turn asked for, which is durable now: its steps start, contexts are
// cancelled. A cancelled step that does not run ends at once.
func (r *run) carryOut(t *turn) {
	t.settle()
	for _, s := range t.cancel {
		s.interrupt(ErrCancelRequested)
		if !s.running && !s.ended && r.steps.get(s.Cmd) == s {
			r.inputs.addOutcome(s, result{failure: cancelledFailure(s.failure)}, r.now())
		}
	}
	r.startDue()
}

// startDue starts every step that may run now, in the order in which the code asked, and sets the
// timer for the others. A step that must not run any more ends; that needs a message, because the
// next turn must not begin while this one is being carried out. After Kill nothing starts: steps
// that Kill interrupted answer before their actors get Stopping, and would be started again on a
// cancelled context.
func (r *run) startDue() {
	if r.machine == nil || r.machine.Finished() || r.host.killed.Load() {
		return
	}
	if !r.host.draining.Load() && !r.host.silent.Load() && !onHold(r) {
		now := r.now()
		room := r.steps.room(r.host.o.attemptsMax)
		for _, s := range r.steps.open {
			if !s.startable(now) {
				continue
			}
			if f := s.endWithoutRunning(now); f != nil {
				if !exhaust(r, s, f) {
					r.inputs.addOutcome(s, result{failure: f}, r.now())
				}
				r.host.send(r.self, wake{epoch: r.epoch})
				continue
			}
			if r.rest.IsZero() && take(&room, s, now) {
				r.start(s, now)
			}
		}
		noteRoom(r, room)
	}
	endNewcomer(r)
	noteStall(r)
	r.setTimer()
}

// noteRoom reports a run some of whose steps wait for room because others are in retry, once until
// there is room again. That many steps are executed at once is nothing to report.
func noteRoom(r *run, room int) {
	full := room < 0 && r.steps.retries() >= r.host.o.attemptsMax/2
	if full && !r.steps.full && r.host.o.Hooks.Full != nil {
		r.host.o.Hooks.Full(r.info, -room, r.steps.retries())
	}
	r.steps.full = room < 0 && (full || r.steps.full)
}

// start starts an attempt. It begins when it has a slot.
func (r *run) start(s *step, now time.Time) {
	s.running = true
	s.number++
	a := &attempt{
		sc: replay.StepContext{
			Info: r.ident, Cmd: s.Cmd, Step: s.Name, Attempt: s.made + 1, LastHeartbeat: s.heartbeat, Encoder: r.host.o.Store,
		},
		body: s.Body, options: s.Options, run: r.info, epoch: r.epoch, number: s.number, reply: r.self,
	}
	a.ctx, a.cancel = context.WithCancelCause(r.host.exec.base)
	if s.Options.Tx {
		a.handoff = newTxHandoff()
	}
	if len(s.Options.Limits) > 0 {
		if a.since = s.IssuedAt; s.nextAt.After(a.since) {
			a.since = s.nextAt
		}
	}
	s.attempt, s.cancel, s.handoff = a, a.cancel, a.handoff
	d := s.deadline()
	if !d.IsZero() || r.host.o.Hooks.Step != nil {
		a.asked = time.Now()
	}
	if !d.IsZero() {
		a.left = d.Sub(now)
	}
	r.host.exec.execute(a)
}

// setTimer sets the timer to the time when a timer of the code or a step is due. The store's clock
// decides: the estimate of it is never ahead, so the run wakes late rather than early (J9). While
// the system drains no step starts any more, and a run that woke for one would wake without end. A
// run that is on hold waits for its bodies, and for nothing else.
func (r *run) setTimer() {
	r.alarm.stop()
	var at time.Time
	if !onHold(r) {
		at = nextTimer(r.machine)
	}
	if !onHold(r) && !r.host.draining.Load() && !r.host.silent.Load() && r.rest.IsZero() { // else it would wake without end
		at = r.steps.nextDue(at, r.now(), r.host.o.attemptsMax)
	}
	wait := time.Duration(-1)
	if !at.IsZero() {
		wait = max(at.Sub(r.now()), 0)
	}
	if wait = nextLook(r, wait); wait >= 0 {
		r.wakeIn(wait)
	}
}

// nextTimer is when the next timer of the code is due; zero for never.
func nextTimer(m *replay.Machine) time.Time {
	t, _ := m.NextTimer()
	return t.Due
}
