package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
	"github.com/reprise-run/reprise/runtime/internal/retry"
)

// reaper looks at the store after each renewal, and between two of an idle node, and frees the runs
// of dead nodes, so that any node may claim them. Every node does it and none is a leader: reaping
// is one statement that decides by the store's clock and locks, and a second one finds nothing
// left.
//
// A look reads what a queue holds, and a store may take long for that. So it is no part of the
// renewal, which it must not hold up: it has a time limit, there is one at a time, and one that was
// asked for meanwhile follows.
type reaper struct {
	member driver.Membership
	node   journal.NodeID
	lease  time.Duration
	looked func(driver.Look) // must be quick
	log    *slog.Logger

	wake    chan struct{}   // one token: look
	waiting atomic.Bool     // a second look is under way
	loops   *sync.WaitGroup // counts it
}

// look asks for a look. It does not block.
func (r *reaper) look() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// lookLoop looks whenever it is asked to, and when it has not been for a while, until ctx ends. A
// look that fails is made up for by the next one.
func (r *reaper) lookLoop(ctx context.Context) {
	every := r.lease / looksPerLease
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-timer.C:
		}
		timer.Reset(every)
		call, cancel := context.WithTimeout(ctx, lookMax)
		l, err := r.member.Look(call)
		cancel()
		if err == nil {
			r.looked(l)
			r.suspect(ctx, l)
		}
	}
}

// suspect reaps nodes that seem to be dead, if they still do after the shortest of their graces:
// see [journal.Node.Grace]. It does not block. The others, and further suspects while a second look
// is under way, are left to the next look, which names them again. So nobody waits for a longer
// grace than its own.
func (r *reaper) suspect(ctx context.Context, l driver.Look) {
	if len(l.Suspects) == 0 || !r.waiting.CompareAndSwap(false, true) {
		return
	}
	r.loops.Add(1)
	go func() {
		defer r.loops.Done()
		defer r.waiting.Store(false)
		if retry.Sleep(ctx, l.Wait) {
			r.reap(ctx, l.Suspects)
		}
	}()
}

// sweepLoop frees tasks whose owner does not exist any more, until ctx ends.
func (r *reaper) sweepLoop(ctx context.Context) {
	for retry.Sleep(ctx, r.lease*leasesPerSweep) {
		r.reap(ctx, nil)
	}
}

func (r *reaper) reap(ctx context.Context, suspects []journal.NodeID) {
	reaped, err := r.member.Reap(ctx, suspects)
	if err != nil {
		if ctx.Err() == nil && !errors.Is(err, journal.ErrUnavailable) && !errors.Is(err, journal.ErrStoreClosed) {
			r.log.Error("freeing the runs of dead nodes failed; it will be tried again",
				logkey.Node, r.node, logkey.Error, err)
		}
		return
	}
	if len(reaped.Nodes) > 0 || reaped.Tasks > 0 {
		r.log.Warn("freed the runs of dead nodes", logkey.Node, r.node, "dead", reaped.Nodes, "runs", reaped.Tasks)
	}
	if reaped.Quarantined > 0 {
		r.log.Error("quarantined runs whose owners died again and again without a commit", logkey.Node, r.node,
			"runs", reaped.Quarantined)
	}
}
