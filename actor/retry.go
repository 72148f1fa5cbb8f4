package actor

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// afterFailure counts a failed attempt and decides what follows. If the step is not tried again, it
// returns the failure that the step ends with, unless it pauses its run; else nil, and after which
// delay the step is tried again.
func (s *step) afterFailure(f *journal.Failure, now time.Time, pace *retryPace) (last *journal.Failure, delay time.Duration) {
	s.made++
	made := s.made - s.earlier
	if f.Type == journal.FailurePanic {
		s.panics++
	}
	if s.Cancelled {
		return cancelledFailure(f), 0
	}
	p := s.Options.Retry
	if f.Type == journal.FailurePanic && p.Panics > 0 && s.panics >= p.Panics {
		f.Permanent = s.Options.Exhausted == replay.FailStep
		return f, 0
	}
	if f.Permanent || p.Attempts > 0 && made >= p.Attempts {
		return f, 0
	}
	delay = f.RetryIn
	if delay <= 0 {
		delay = backoff(p, made)
	}
	left := time.Duration(math.MaxInt64)
	if d := s.deadline(); !d.IsZero() {
		left = d.Sub(now)
	}
	if delay >= left {
		return stepTimeout(f), 0
	}
	delay = min(pace.space(made, delay), left) // at its deadline the step ends
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

// stepTimeout is the failure of a step that is out of time. The last one may be such a failure too,
// of a step that got its time anew.
func stepTimeout(last *journal.Failure) *journal.Failure {
	if last != nil && last.Type == journal.FailureTimeout && last.Message == ErrStepTimeout.Error() {
		last = last.Cause
	}
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
