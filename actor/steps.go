package actor

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// step is a step without an outcome, as its run's actor sees it.
type step struct {
	replay.Step
	durable bool // what asked for it is in the journal, so it may start
	ended   bool // its outcome waits in the queue
	dropped bool // nobody waits for its outcome any more, once the turn that says so is durable
	running bool
	number  int                     // attempts started by this actor: tells late answers apart
	cancel  context.CancelCauseFunc // of the running attempt

	handover *handover // of the running attempt

	made    int32     // attempts that have failed
	nextAt  time.Time // when the next attempt is due
	failure *journal.Failure
	beat    *journal.Payload // details of the last heartbeat
}

func (s *step) stop(cause error) {
	if s.running {
		s.cancel(cause)
	}
}

// abandon stops a step whose outcome nobody waits for any more.
func (s *step) abandon(sys *System, cause error) {
	if s.running {
		s.cancel(cause)
		(&occurrence{result: result{tx: s.handover.abandon()}}).rollback(sys)
	}
}

// due tells whether the step may run now, or end without running.
func (s *step) due(now time.Time) bool { return s.Cancelled || !s.nextAt.After(now) }

// deadline is when the whole step runs out of time; zero for never.
func (s *step) deadline() time.Time {
	if s.Options.Overall <= 0 {
		return time.Time{}
	}
	return s.IssuedAt.Add(s.Options.Overall)
}

// absorb takes in what a decision asks of steps, and of others.
func (r *run) absorb(t *turn, d *replay.Decision) {
	t.commit.Starts, t.commit.Messages = d.Starts, d.Messages
	for i := range d.Starts {
		d.Starts[i].Trace = r.info.Trace // a family is one trace
	}
	t.commit.Replies = append(t.commit.Replies, d.Replies...)
	for _, n := range d.Steps {
		if r.steps[n.Cmd] == nil {
			s := &step{Step: n}
			r.steps[n.Cmd] = s
			t.start = append(t.start, s)
		}
	}
	for _, cmd := range d.CancelSteps {
		if s := r.steps[cmd]; s != nil && !s.ended { // else its outcome came first: cancelling it does nothing
			t.cancel = append(t.cancel, s)
		}
	}
	for _, cmd := range d.DropSteps {
		if s := r.steps[cmd]; s != nil {
			s.dropped = true
			t.drop = append(t.drop, s)
		}
	}
}

// adopt aligns the known steps with those the machine has pending: cold ones get their attempts from the task.
func (r *run) adopt() {
	for _, p := range r.machine.Pending() {
		if s := r.steps[p.Cmd]; s != nil {
			s.Step.Body = p.Body
			s.Cancelled = s.Cancelled || p.Cancelled
			continue
		}
		s := &step{Step: p, durable: true}
		for _, a := range r.task.Attempts {
			if a.Cmd == p.Cmd {
				s.made, s.nextAt, s.failure, s.beat = a.Made, a.NextAt, a.Failure, a.Heartbeat
			}
		}
		r.steps[p.Cmd] = s
	}
}

// end puts the step's outcome into the queue.
func (r *run) end(s *step, res result) {
	s.ended = true
	r.queue = append(r.queue, occurrence{at: r.now(), step: s, result: res})
}

func cancelledFailure(cause *journal.Failure) *journal.Failure {
	return &journal.Failure{Type: journal.FailureCancelled, Message: "the step was cancelled", Permanent: true, Cause: cause}
}

// count tells how many bodies run, and how many steps could start now.
func (r *run) count() (running, idle int) {
	now := r.now()
	for _, s := range r.steps {
		switch {
		case s.dropped:
		case s.running:
			running++
		case !s.ended && s.due(now):
			idle++
		}
	}
	return running, idle
}

// nextWake is the earliest time at which a timer or a retry is due.
func (r *run) nextWake() (time.Time, bool) {
	var at time.Time
	if t, ok := r.machine.NextTimer(); ok {
		at = t.Due
	}
	for _, s := range r.steps {
		if !s.running && !s.ended && !s.dropped && (at.IsZero() || s.nextAt.Before(at)) {
			at = s.nextAt
		}
	}
	return at, !at.IsZero()
}

// attempts is what must survive this actor of steps that failed or heartbeat.
func (r *run) attempts() []journal.Attempt {
	var list []journal.Attempt
	for _, s := range r.steps {
		if !s.ended && !s.dropped && (s.made > 0 || s.beat != nil) {
			list = append(list, journal.Attempt{Cmd: s.Cmd, Name: s.Name, Made: s.made, NextAt: s.nextAt, Failure: s.failure, Heartbeat: s.beat})
		}
	}
	slices.SortFunc(list, func(a, b journal.Attempt) int { return cmp.Compare(a.Cmd, b.Cmd) })
	return list
}

// startDue starts every step that may run now, in the order asked, and arms the local timer for the rest. A killed system
// starts none: steps that its end interrupted report before their actors hear of it, and would run again, doomed.
func (r *run) startDue() {
	if !r.owned || r.machine == nil || r.machine.Finished() || r.sys.killed.Load() {
		return
	}
	now := r.now()
	var due []*step
	for _, s := range r.steps {
		if s.durable && !s.running && !s.ended && s.due(now) && !r.sys.draining.Load() {
			due = append(due, s)
		}
	}
	slices.SortFunc(due, func(a, b *step) int { return cmp.Compare(a.Cmd, b.Cmd) })
	for _, s := range due {
		r.start(s, now)
	}
	r.arm()
}

func (r *run) start(s *step, now time.Time) {
	if s.Cancelled {
		r.end(s, result{failure: cancelledFailure(s.failure)})
		r.send(wake{epoch: r.epoch})
		return
	}
	if d := s.deadline(); !d.IsZero() && !now.Before(d) {
		r.end(s, result{failure: stepTimeout(s.failure)})
		r.send(wake{epoch: r.epoch})
		return
	}
	s.running = true
	s.number++
	a := r.attempt(s, now)
	r.sys.execute(a)
}

func (r *run) attempt(s *step, now time.Time) *attempt {
	a := &attempt{
		sc:   replay.StepContext{Info: r.ident, Cmd: s.Cmd, Step: s.Name, Attempt: s.made + 1, LastHeartbeat: s.beat, Encoder: r.sys.o.Store},
		body: s.Body, options: s.Options, run: r.info, epoch: r.epoch, number: s.number, reply: r.self,
	}
	a.ctx, a.cancel = context.WithCancelCause(r.sys.base)
	if s.Options.Tx {
		a.handover = new(handover)
	}
	s.cancel, s.handover = a.cancel, a.handover
	if d := s.deadline(); !d.IsZero() {
		a.left = d.Sub(now)
	}
	return a
}

// arm sets the local timer to the next wake-up of a run that stays owned. The store's clock decides: the
// estimate is never ahead of it, so the timer is late rather than early (J9).
func (r *run) arm() {
	r.stopTimer()
	at, ok := r.nextWake()
	if r.sys.draining.Load() { // no step starts any more: to be woken for one would go on without end
		t, armed := r.machine.NextTimer()
		at, ok = t.Due, armed
	}
	if !ok {
		return
	}
	epoch := r.epoch
	r.timer = time.AfterFunc(max(at.Sub(r.now()), 0), func() { r.send(wake{epoch: epoch}) })
}

// onStepDone decides whether an attempt's end is the step's end.
func (r *run) onStepDone(m *stepDone) {
	s := r.steps[m.result.cmd]
	if m.epoch != r.epoch || s == nil || !s.running || s.number != m.result.number {
		(&occurrence{result: m.result}).rollback(r.sys) // an earlier owner's attempt: its effect must not commit
		return
	}
	s.running = false
	s.cancel(nil)
	res := m.result
	if res.beat != nil {
		s.beat = res.beat
	}
	switch f := res.failure; {
	case res.interrupted:
		// The node drains: the attempt does not count, the step starts anew elsewhere.
	case f == nil:
		r.end(s, res)
	default:
		r.retryOrEnd(s, f)
	}
	r.pump()
}

// retryOrEnd applies the retry policy to a failed attempt.
func (r *run) retryOrEnd(s *step, f *journal.Failure) {
	s.made++
	if s.Cancelled {
		r.end(s, result{failure: cancelledFailure(f)})
		return
	}
	p := s.Options.Retry
	if f.Permanent || p.Attempts > 0 && s.made >= p.Attempts {
		r.end(s, result{failure: f})
		return
	}
	delay := f.RetryIn
	if delay <= 0 {
		delay = backoff(p, s.made)
	}
	now := r.now()
	if d := s.deadline(); !d.IsZero() && !now.Add(delay).Before(d) {
		r.end(s, result{failure: stepTimeout(f)})
		return
	}
	s.failure, s.nextAt, r.dirty = f, now.Add(delay), true
	if r.sys.o.Hooks.Retry != nil {
		r.sys.o.Hooks.Retry(r.info, s.Name, s.made, delay, f)
	}
}

func stepTimeout(last *journal.Failure) *journal.Failure {
	return &journal.Failure{Type: journal.FailureTimeout, Message: ErrStepTimeout.Error(), Permanent: true, Cause: last}
}

// backoff is Initial·Factor^(made-1), at most Max, spread by ±Jitter of itself.
func backoff(p replay.RetryPolicy, made int32) time.Duration {
	d := float64(p.Initial) * math.Pow(p.Factor, float64(made-1))
	if d > float64(p.Max) || math.IsInf(d, 0) || math.IsNaN(d) {
		d = float64(p.Max)
	}
	d *= 1 + p.Jitter*(2*rand.Float64()-1)
	if d >= math.MaxInt64 {
		return math.MaxInt64 // beyond it the conversion may give anything
	}
	return time.Duration(d)
}

// onBeat keeps a heartbeat's details, and makes them durable now and then.
func (r *run) onBeat(m beat) {
	s := r.steps[m.cmd]
	if m.epoch != r.epoch || s == nil || !s.running || s.number != m.number {
		return
	}
	s.beat = &m.details
	if time.Since(r.saved) >= heartbeatEvery {
		r.saved, r.dirty = time.Now(), true
		r.pump()
	}
}
