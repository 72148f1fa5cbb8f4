package actor

import (
	"time"

	"github.com/reprise-run/reprise/journal/driver"
)

// A run gives its place in the node back when others need it and it does not need it itself: it is
// parked with a time that has come, so that whoever has room claims it, here or elsewhere. Nothing
// of it is lost by that: no strike, no attempt, and an actor that stays warm needs no load. There
// are three reasons.
//
//   - Others wait. The node is full, and the queue has due runs that it could execute
//     ([System.Crowd]). A run that has had its place for longer than quantum yields with its next
//     commit at which no body of it is executed, and one that is about to repeat a failed attempt
//     does so at once: a run that always has something to do would keep its place for ever, and a
//     hundred that fail and retry would keep all places. But a run does not yield before it has got
//     something done, or runs that take long to load would only go round.
//   - It waits itself. All its attempts have been waiting for a slot for longer than quantum, and
//     nothing is due in the queue. Another node may have free slots; if not, this node claims the
//     run again as soon as it has room. While something is due there, other nodes have work enough.
//     A suspect stays (driver.SuspectStrikes): the commit that parks it would acquit it untried.
//
// A run whose steps overlap may never come to a moment without a body. So one that is to yield
// first comes to rest: it starts no step, and attempts that wait for a slot are withdrawn. If a
// body still runs after restMax, the run goes on: a step that takes an hour must not keep the other
// steps of its run from starting.
//
//   - It waits for limits. The node is full, others wait, and all attempts of the run have been
//     waiting for claims of limits for longer than limitQuantum: it is parked for limitRest. Its
//     place in the lines is counted from when its steps fell due, so it loses none by that.
//
// Outcomes of steps that wait for the next turn keep a run from yielding, because they are in
// memory only.

// Crowd says whether due runs wait in the queue because this node is full.
func (s *System) Crowd(crowded bool) { s.crowded.Store(crowded) }

// comeToRest begins and ends the rest of a run.
func comeToRest(r *run) {
	switch {
	case !mustYield(r):
		r.rest = time.Time{}
	case r.rest.IsZero():
		r.rest = time.Now().Add(restMax)
		withdraw(r)
	case time.Now().After(r.rest):
		r.since, r.rest, r.stalled = time.Now(), time.Time{}, time.Time{}
	}
}

// mustYield tells whether the run should give its place back.
func mustYield(r *run) bool {
	switch crowded := r.host.crowded.Load(); {
	case r.host.draining.Load():
		return false
	case crowded && !r.limited.IsZero():
		return !r.rest.IsZero() || time.Since(r.limited) >= limitQuantum
	case !crowded && !r.stalled.IsZero():
		return !r.rest.IsZero() || r.task.Strikes < driver.SuspectStrikes && r.steps.onlyWait() && time.Since(r.stalled) >= quantum
	default:
		return crowded && r.worked && time.Since(r.since) >= quantum
	}
}

// yields tells whether the run gives its place back although it could go on. No body is executed.
func yields(r *run) bool {
	return len(r.inputs.queue) == 0 && (!r.rest.IsZero() || r.host.crowded.Load() && r.worked && r.steps.retry())
}

// noteStall keeps since when all attempts of the run have been waiting for slots. What ends that is
// an attempt that has begun: only then is the run tried.
func noteStall(r *run) {
	if !r.steps.onlyLimited() {
		r.limited = time.Time{}
	} else if r.limited.IsZero() {
		r.limited = time.Now()
	}
	switch {
	case r.stalled.IsZero() && r.host.exec.slots.queued.Load() == 0:
	case !r.steps.onlyWait():
		if !r.stalled.IsZero() {
			tryRun(r)
		}
		r.stalled = time.Time{}
	case r.stalled.IsZero():
		r.stalled = time.Now()
	}
}

// withdraw takes back all attempts that wait for a slot.
func withdraw(r *run) {
	for _, s := range r.steps.open {
		if s.running && r.host.exec.withdraw(s.attempt) {
			s.running, s.attempt = false, nil
		}
	}
}

// nextLook is when a run should look again whether it must yield, at most d from now; d below zero
// means never.
func nextLook(r *run, d time.Duration) time.Duration {
	var look time.Duration
	switch {
	case !r.rest.IsZero():
		look = max(time.Until(r.rest), lookMin)
	case !r.stalled.IsZero():
		look = max(time.Until(r.stalled.Add(quantum)), lookMin)
	case !r.limited.IsZero():
		look = limitQuantum
	default:
		return d
	}
	if d < 0 {
		return look
	}
	return min(d, look)
}
