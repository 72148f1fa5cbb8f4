package actor

import (
	"fmt"
	"runtime/debug"
	"time"

	proto "github.com/asynkron/protoactor-go/actor"
)

// Receive implements proto.Actor. No panic leaves it: the library's supervision would lose messages
// and keep no stack.
//
// Messages from the shard are counted. Each leaves the run owned or is answered by a report that
// says how many the run has handled: see parked.
func (r *run) Receive(ctx proto.Context) {
	defer func() {
		if p := recover(); p != nil {
			r.engineFailed(fmt.Errorf("the engine failed: %v\n%s", p, debug.Stack()))
		}
	}()
	r.read = time.Time{}
	switch m := ctx.Message().(type) {
	case *proto.Started:
		r.self, r.parent = ctx.Self(), ctx.Parent()
	case *proto.Stopping:
		r.lose(ErrRunLost)
	case *activate:
		r.seen++
		r.onActivate(m)
	case attention:
		r.seen++
		r.inputs.news = true
		r.advanceOrReport()
	case drain:
		r.seen++
		r.handBack = r.handBack || m.force
		withdraw(r)
		r.advanceOrReport()
	case pausesChanged:
		onPausesChanged(r)
	case interrupt:
		r.seen++
		onInterrupt(r, m.cause)
	case *compared:
		r.seen++
		r.onCompared(m)
	case passivate:
		r.seen++
		r.onPassivate(m.full)
	case loaded:
		if m.epoch == r.epoch && r.phase == loading {
			r.onLoaded(m)
		}
	case *committed:
		if m.epoch == r.epoch && r.phase.inFlight() {
			r.onCommitted(m)
		}
	case *stepDone:
		r.onStepDone(m)
	case borrow:
		onBorrow(r, m)
	case heartbeat:
		r.onHeartbeat(m)
	case saveHeartbeats:
		if m.epoch == r.epoch {
			makeDurable(r)
		}
	case survived:
		if m.epoch == r.epoch {
			onSurvived(r)
		}
	case wake:
		if m.epoch == r.epoch {
			r.advance()
		}
	}
}

// onPassivate makes an idle run leave memory. One that has no machine costs next to nothing, so it
// may remember its back-off, unless memory is full.
func (r *run) onPassivate(full bool) {
	switch {
	case r.phase.owned(): // it was activated meanwhile
	case !full && r.now().Before(r.trouble.keep):
		r.reportIdle()
	default:
		r.discard(ErrRunLost)
		r.reportVacant()
	}
}

// engineFailed is called for our own bugs, after a panic, in any phase. The run is blocked with the
// panic as its problem, so that somebody sees it and the next owner tries again.
func (r *run) engineFailed(err error) {
	switch {
	case !r.phase.owned():
		r.giveUp(err)
	case r.phase == failed, r.phase == failing, r.phase == blocking: // it is being blocked already
		r.wakeIn(r.trouble.delay())
	default:
		r.fail(err)
		r.advance()
	}
}
