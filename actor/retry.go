package actor

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// afterFailure counts a failed attempt and decides what follows. If it is the step's end, it
// returns the failure that the step ends with; else nil, and after which delay the step is tried
// again.
func (s *step) afterFailure(f *journal.Failure, now time.Time, pace *retryPace) (last *journal.Failure, delay time.Duration) {
	s.made++
	if f.Type == journal.FailurePanic {
		s.panics++
	}
	if s.Cancelled {
		return cancelledFailure(f), 0
	}
	p := s.Options.Retry
	if f.Type == journal.FailurePanic && p.Panics > 0 && s.panics >= p.Panics {
		f.Permanent = true
	}
	if f.Permanent || p.Attempts > 0 && s.made >= p.Attempts {
		return f, 0
	}
	delay = f.RetryIn
	if delay <= 0 {
		delay = backoff(p, s.made)
	}
	left := time.Duration(math.MaxInt64)
	if d := s.deadline(); !d.IsZero() {
		left = d.Sub(now)
	}
	if delay >= left {
		return stepTimeout(f), 0
	}
	if s.made > retryFree {
		delay = min(pace.space(delay), left) // at its deadline the step ends
	}
	s.failure, s.nextAt = f, now.Add(delay)
	return nil, delay
}

// endWithoutRunning returns the failure of a step that is due but must not run any more, nil if it
// may.
func (s *step) endWithoutRunning(now time.Time) *journal.Failure {
	if s.Cancelled {
		return cancelledFailure(s.failure)
	}
	if d := s.deadline(); !d.IsZero() && !now.Before(d) {
		return stepTimeout(s.failure)
	}
	return nil
}

// needsRoom tells whether the step may run only if the journal can keep its attempts. One that is
// to end without running needs none.
func (s *step) needsRoom(now time.Time) bool { return !s.kept() && s.endWithoutRunning(now) == nil }

func cancelledFailure(cause *journal.Failure) *journal.Failure {
	const message = "the step was cancelled"
	return &journal.Failure{Type: journal.FailureCancelled, Message: message, Permanent: true, Cause: cause}
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
		return math.MaxInt64 // the conversion of anything larger is undefined
	}
	return time.Duration(d)
}
