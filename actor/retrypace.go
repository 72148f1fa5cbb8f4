package actor

import (
	"sync/atomic"
	"time"
)

// retryPace spaces the retries of a node. A policy without a delay, or with a small one, would
// otherwise execute a step that cannot succeed as fast as the store can write, and ten thousand
// runs that do so at once, because what they need is down, would leave nothing of the store to
// others.
//
// Each spaced retry books the next free place in its lane, and waits for it if that is longer than
// what its policy says. There is a lane for the first retries of steps, one for the second ones,
// and so on, and the last one is for all from a step's fourth retry on. So a step that fails once
// stands behind other steps that have failed once, and never behind those that always fail.
//
//   - In the last lane n runs that always fail retry every n·retryEvery, and one every retryFloor:
//     a step that nobody would call greedy still writes a commit and a line for each attempt.
//   - In the lanes before, retries are spaced only while steps fail more often than they succeed.
//     Each success is a credit for one retry that comes when its policy says, and a node begins
//     with creditMax. So a node that does much beside its retries, or has few of them, delays none.
//
// A policy that says retrySlow or more spaces its retries itself and books nothing.
//
// # Ticks
//
// Places are not spread evenly: those of a tick are due at one time, retryTick apart. A run whose
// retry is due is claimed and its commit is written with those of the same tick, in a few
// statements for all of them. One by one the same retries cost several times as much of the store
// and of the node. The lanes have their ticks in turns: whoever comes meanwhile waits for one.
type retryPace struct {
	base    time.Time                   // times are counted from here, by the monotonic clock
	credits atomic.Int64                // at most creditMax, or a few more
	lanes   [retryFree + 1]atomic.Int64 // the next free place of each
}

func newRetryPace() *retryPace {
	p := &retryPace{base: time.Now()}
	p.credits.Store(creditMax)
	return p
}

// succeeded notes a step that has succeeded.
func (p *retryPace) succeeded() {
	if p.credits.Load() < creditMax {
		p.credits.Add(1)
	}
}

// space returns the delay of a step's retry, the first one being number 1, whose policy says delay.
func (p *retryPace) space(number int32, delay time.Duration) time.Duration {
	switch {
	case delay >= retrySlow:
		return delay
	case number > retryFree:
		return max(p.book(retryFree, retryEvery), delay, retryFloor)
	case p.spend():
		return delay
	default:
		return max(p.book(int(number-1), retryEarlyEvery), delay)
	}
}

// spend takes a credit, if there is one.
func (p *retryPace) spend() bool {
	for n := p.credits.Load(); n > 0; n = p.credits.Load() {
		if p.credits.CompareAndSwap(n, n-1) {
			return true
		}
	}
	return false
}

// book takes the next free place of a lane that has one for each every, and returns how long it is
// until then. A place that has gone by is nobody's.
func (p *retryPace) book(lane int, every time.Duration) time.Duration {
	ticks := time.Duration(lane) * retryTick / time.Duration(len(p.lanes)) // of the lane begin so late
	now, perTick := time.Since(p.base)-ticks, int64(retryTick/every)
	first := (int64((now + retryTick) / retryTick)) * perTick
	for {
		next := p.lanes[lane].Load()
		place := max(next, first)
		if p.lanes[lane].CompareAndSwap(next, place+1) {
			return time.Duration(place/perTick)*retryTick - now
		}
	}
}
