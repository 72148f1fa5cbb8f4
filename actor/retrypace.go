package actor

import (
	"sync/atomic"
	"time"
)

// retryPace spaces the retries of a node: from a step's fourth retry on there are retryEvery
// between two of them. A policy without a delay, or with a small one, would otherwise execute a
// step that cannot succeed as fast as the store can write, and ten thousand runs that do so at
// once, because what they need is down, would leave nothing of the store to others.
//
// Each retry books the next free time, and waits for it if that is longer than what its policy
// says, and for retryFloor in any case. So n runs that always fail retry every n·retryEvery, and
// one every retryFloor: a step that nobody would call greedy still writes a commit and a line for
// each attempt. A policy that says retrySlow or more does so for itself and books nothing. The
// first few retries of a step are not spaced: a step that fails once does not stand behind those
// that always fail.
type retryPace struct {
	base time.Time    // times are counted from here, by the monotonic clock
	next atomic.Int64 // the next free time
}

func newRetryPace() *retryPace { return &retryPace{base: time.Now()} }

// space returns the delay of a retry whose policy says delay.
func (p *retryPace) space(delay time.Duration) time.Duration {
	if delay >= retrySlow {
		return delay
	}
	now := int64(time.Since(p.base))
	for {
		next := p.next.Load()
		at := max(next, now)
		if p.next.CompareAndSwap(next, at+int64(retryEvery)) {
			return max(time.Duration(at-now), delay, retryFloor)
		}
	}
}
