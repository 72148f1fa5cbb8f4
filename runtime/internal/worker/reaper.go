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

// reaper frees the runs of dead nodes, so that any node may claim them. Every node does it and none
// is a leader: reaping is one statement that decides by the store's clock and locks, and a second
// one finds nothing left.
type reaper struct {
	member driver.Membership
	node   journal.NodeID
	lease  time.Duration
	log    *slog.Logger

	looking atomic.Bool     // a second look is under way
	loops   *sync.WaitGroup // counts it
}

// suspect reaps nodes that seem to be dead, if they still do after a moment: a node whose
// connection was lost holds no lock until it has another one. It does not block. While a second
// look is under way, further suspects are left to the next renewal, which names them again.
func (r *reaper) suspect(ctx context.Context, suspects []journal.NodeID) {
	if len(suspects) == 0 || !r.looking.CompareAndSwap(false, true) {
		return
	}
	r.loops.Add(1)
	go func() {
		defer r.loops.Done()
		defer r.looking.Store(false)
		if retry.Sleep(ctx, secondLook) {
			r.reap(ctx, suspects)
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
		if ctx.Err() == nil && !errors.Is(err, journal.ErrUnavailable) {
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
