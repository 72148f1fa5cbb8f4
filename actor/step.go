package actor

import (
	"context"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// step is a step without an outcome, as the actor of its run sees it.
//
// It may start once it is durable, which is when the turn that asked for it is written, or is a
// function of what is written. At most one attempt of it runs at a time. number tells the attempts
// of this actor apart, so the late answer of an attempt that was given up cannot be taken for the
// answer of its successor; made counts failed attempts over all owners, and is stored.
type step struct {
	replay.Step
	durable bool
	ended   bool // its outcome waits among the inputs
	dropped bool // nobody waits for its outcome, once the turn in flight is written
	// exhausted says that it may not be tried again, and pauses its run instead of ending: told, if
	// the store knows. See exhaust.go.
	exhausted, told bool
	running         bool // an attempt is being executed, or waits for its slot

	number  int
	attempt *attempt                // the running one
	cancel  context.CancelCauseFunc // of the running attempt
	handoff *txHandoff              // of the running attempt
	asks    chan struct{}           // the running attempt wants to borrow the store; nil if not
	borrows bool                    // the running attempt has borrowed it

	made      int32     // attempts that have failed
	earlier   int32     // those of them before the present set of attempts
	since     time.Time // when it got the present set; zero for the first
	freezes   journal.Freezes
	panics    int32     // of the present set, those that panicked
	nextAt    time.Time // when the next attempt is due, by the store's clock
	failure   *journal.Failure
	heartbeat *journal.Payload // details of the last heartbeat
	given     *journal.Payload // the output that an operator gives it; nil for none
}

// recall takes over what is stored of the step, which is nothing if no attempt of it has failed or
// beaten.
func (s *step) recall(stored []journal.Attempt) {
	var a journal.Attempt
	if i := slices.IndexFunc(stored, func(a journal.Attempt) bool { return a.Cmd == s.Cmd }); i >= 0 {
		a = stored[i]
	}
	s.made, s.panics, s.nextAt, s.failure, s.heartbeat = a.Made, a.Panics, a.NextAt, a.Failure, a.Heartbeat
	s.earlier, s.since, s.exhausted, s.told, s.given = a.Earlier, a.Since, a.Exhausted, a.Exhausted, a.Given
}

// interrupt cancels the context of the running attempt, if there is one. Its answer still counts.
func (s *step) interrupt(cause error) {
	if s.running {
		s.cancel(cause)
	}
}

// abandon interrupts the step, and gives up the running attempt: nobody will look at its answer. A
// body that has not been called will not be: the run may be paused by now (J11), or somebody else's
// (J9). It returns the transaction that must be rolled back then, nil for none.
func (s *step) abandon(cause error) journal.Tx {
	if !s.running {
		return nil
	}
	s.attempt.callOff(cause)
	s.cancel(cause)
	s.attempt.exec.hung.watch(s.attempt)
	return s.handoff.abandon()
}

// due tells whether the step may run now, or may end without running.
func (s *step) due(now time.Time) bool { return s.Cancelled || !s.nextAt.After(now) }

// startable tells whether the step is to start now, or to end without.
func (s *step) startable(now time.Time) bool {
	return s.durable && !s.running && !s.ended && !s.exhausted && s.due(now)
}

// kept tells whether the journal has to keep something of the step beside its history, or will have
// to if the attempt that runs fails.
func (s *step) kept() bool {
	return !s.ended && !s.dropped && (s.running || s.remembers())
}

// remembers tells whether anything of the step must survive this actor.
func (s *step) remembers() bool {
	return s.made > 0 || s.heartbeat != nil || s.exhausted || s.given != nil || !s.since.IsZero()
}

// waits tells whether the step will start an attempt at some time, unless somebody has to resume
// its run first.
func (s *step) waits() bool { return !s.running && !s.ended && !s.dropped && !s.exhausted }

// deadline is when the whole step runs out of time; zero for never. While its run is paused and the
// timers stand still, so does this time, for the attempts that begin after the resume. One that is
// executed then, and the retry of it, are limited as if they did not: its context has its limit
// already.
func (s *step) deadline() time.Time {
	if s.Options.Overall <= 0 {
		return time.Time{}
	}
	from := s.IssuedAt
	if s.since.After(from) {
		from = s.since
	}
	at, _ := s.freezes.Due(from, from.Add(s.Options.Overall))
	return at
}
