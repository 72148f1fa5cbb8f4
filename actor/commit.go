package actor

import (
	"errors"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// onCommitted lets the outside see the turn, or throws it away.
func (r *run) onCommitted(m *committed) {
	t := r.flight
	r.flight = nil
	switch {
	case m.err == nil:
	case errors.Is(m.err, journal.ErrFenced), errors.Is(m.err, journal.ErrNodeLost):
		r.drop(m.err)
		return
	case r.problem != "":
		r.blockLater()
		return
	case errors.Is(m.err, journal.ErrTxLost):
		r.retake(t, m.err)
		return
	default:
		r.block("the turn cannot be written: " + m.err.Error())
		return
	}
	r.task.Turn++
	r.task.Attempts, r.uncommitted = t.commit.Attempts, nil
	if t.commit.Next.Kind != journal.NextBlock {
		r.blocks, r.recall = 0, time.Time{}
	}
	r.forget(t.drop)
	switch t.commit.Next.Kind {
	case journal.NextClose:
		if r.sys.o.Hooks.Closed != nil {
			r.sys.o.Hooks.Closed(r.info, t.commit.Terminal())
		}
		r.discard(ErrCancelRequested)
		r.finish()
		r.sys.released()
	case journal.NextKeep:
		if t.commit.Continue != nil {
			r.succeed(t.commit.Continue)
		}
		if r.problem != "" { // the engine failed while this was in flight
			r.pump()
			return
		}
		r.release(t)
		r.inboxNews = r.inboxNews || m.inboxLast > r.inboxGot
		if r.sys.o.PassivateAlways && r.machine != nil {
			r.machine.Close()
			r.machine = nil
		}
		r.pump()
	default:
		r.rest(t)
	}
}

// rest leaves the run free. Parked runs stay warm.
func (r *run) rest(t *turn) {
	switch {
	case t.commit.Next.Kind == journal.NextPark && !r.sys.o.PassivateAlways:
		r.owned = false
		r.idle()
	case t.commit.Next.Kind == journal.NextBlock:
		r.discard(ErrRunLost)
		r.idle() // remembers how often it was blocked
	default:
		r.discard(ErrShutdown)
		r.finish()
	}
	r.sys.released()
}

// succeed begins the next generation: nothing of this one goes on but what waits in the inbox.
func (r *run) succeed(next *journal.Continue) {
	for _, s := range r.steps {
		s.abandon(r.sys, ErrCancelRequested)
	}
	for _, o := range r.queue {
		o.rollback(r.sys)
	}
	// Bodies that still run answer to nobody.
	r.epoch++
	if r.machine != nil { // else the engine failed while this was in flight
		r.machine.Close()
	}
	r.machine, r.queue, r.steps = nil, nil, map[journal.Cmd]*step{}
	info := *r.info
	info.Generation, info.Input, info.Version, info.Continued = info.Generation+1, next.Input, next.Version, next
	r.info = &info
	r.task.Generation, r.task.Version, r.task.Attempts = info.Generation, next.Version, nil
	r.inboxGot, r.dirty, r.inboxNews = 0, false, true
}

// release lets the outside see a turn: steps start, contexts are cancelled.
func (r *run) release(t *turn) {
	for _, s := range t.start {
		s.durable = true
	}
	for _, s := range t.cancel {
		s.Cancelled = true
		s.stop(ErrCancelRequested)
		if !s.running && !s.ended && r.steps[s.Cmd] == s {
			r.end(s, result{failure: cancelledFailure(s.failure)})
		}
	}
	r.startDue()
}

// forget gives up steps whose outcome nobody waits for any more, whether they run or not: see replay.CancelMode. Without an
// event there is nothing that their transactions could commit with.
func (r *run) forget(steps []*step) {
	for _, s := range steps {
		delete(r.steps, s.Cmd)
		(&occurrence{result: result{tx: s.handover.abandon()}}).rollback(r.sys)
	}
}

// retake repeats a turn whose transaction was lost: nothing of it happened. What it took waits again, except the
// outcome of the step whose effects are gone: that attempt has failed. If it were repeated at once, a transaction that can never
// commit (think of a deferred constraint) would be tried without end and without a pause.
func (r *run) retake(t *turn, cause error) {
	r.machine.Close()
	r.machine = nil
	for cmd, s := range r.steps {
		if !s.durable {
			delete(r.steps, cmd)
		}
	}
	for _, s := range t.drop {
		s.dropped = false
	}
	again := make([]occurrence, 0, len(t.taken)+len(r.queue))
	for _, o := range t.taken {
		if o.step != nil {
			r.steps[o.step.Cmd] = o.step
		}
		if o.step == t.tx && o.step != nil {
			o.step.ended = false
			continue
		}
		again = append(again, o)
	}
	r.queue = append(again, r.queue...)
	if t.tx != nil {
		r.retryOrEnd(t.tx, replay.FailureOf(cause))
	}
	r.dirty = true // attempts of others may have been in the lost commit
	r.pump()
}
