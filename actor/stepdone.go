package actor

import (
	"github.com/reprise-run/reprise/journal"
)

// onStepDone decides whether the end of an attempt is the end of its step. An attempt that the node
// interrupted does not count: the step starts anew, elsewhere if the node drains.
func (r *run) onStepDone(m *stepDone) {
	s := r.steps.get(m.result.cmd)
	if m.epoch != r.epoch || s == nil || !s.running || s.number != m.result.number {
		r.host.exec.rollback(m.result.tx) // given up long ago: what it did must not be committed
		return
	}
	s.running, s.attempt = false, nil
	m.result.borrowed = s.borrows && m.result.tx != nil
	s.asks, s.borrows = nil, false
	r.worked = r.worked || !m.result.interrupted
	res := m.result
	if res.heartbeat != nil {
		s.heartbeat = res.heartbeat
	}
	switch {
	case res.interrupted:
		lookForPause(r) // its body may not begin, and the message that says so is on its way
	case res.failure == nil:
		r.host.pace.succeeded()
		r.inputs.addOutcome(s, res, r.now())
	default:
		r.retryOrEnd(s, res.failure)
	}
	r.advance()
}

// retryOrEnd applies the retry policy to a failed attempt.
func (r *run) retryOrEnd(s *step, f *journal.Failure) {
	permanent := f.Permanent
	last, delay := s.afterFailure(f, r.now(), r.host.pace)
	switch {
	case last == nil:
	case !permanent && exhaust(r, s, last):
		return
	default:
		if f.Type == journal.FailurePanic && r.host.o.Hooks.Panicked != nil {
			r.host.o.Hooks.Panicked(r.info, s.Name, s.made, f)
		}
		r.inputs.addOutcome(s, result{failure: last}, r.now())
		return
	}
	r.steps.dirty = true
	if r.host.o.Hooks.Retry != nil {
		r.host.o.Hooks.Retry(r.info, s.Name, s.made, delay, f)
	}
}

// onHeartbeat keeps the details of a heartbeat, and makes them durable now or soon.
func (r *run) onHeartbeat(m heartbeat) {
	s := r.steps.get(m.cmd)
	if m.epoch != r.epoch || s == nil || !s.running || s.number != m.number {
		return
	}
	s.heartbeat = &m.details
	makeDurable(r)
}

// makeDurable saves the details of all steps' heartbeats, if it is time.
func makeDurable(r *run) {
	epoch := r.epoch
	if r.steps.beats.due(func() { r.host.send(r.self, saveHeartbeats{epoch: epoch}) }) {
		r.steps.dirty = true
		r.advance()
	}
}

// onBorrow notes that an attempt asks.
func onBorrow(r *run, m borrow) {
	s := r.steps.get(m.cmd)
	if m.epoch != r.epoch || s == nil || !s.running || s.number != m.number {
		return // it was given up, and its handoff says so
	}
	s.asks = m.granted
	r.advance()
}
