package runtime

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime/internal/retry"
)

// renewLoop keeps the lease. deadline is the local time until which the node may be sure of it: the lease counted
// from before the request that granted it was sent, so it ends here before it ends for the others (J9).
func (inc *incarnation) renewLoop(deadline time.Time) {
	every := inc.n.o.Lease / renewalsPerLease
	var looking atomic.Bool
	for {
		if !retry.Sleep(inc.ctx, min(every, time.Until(deadline))) {
			return
		}
		sent := time.Now()
		ctx, cancel := context.WithDeadline(inc.ctx, deadline)
		r, err := inc.member.Renew(ctx)
		cancel()
		switch {
		case err == nil:
			deadline = sent.Add(inc.n.o.Lease)
			inc.hear(r)
			if len(r.Suspects) > 0 && looking.CompareAndSwap(false, true) {
				inc.loops.Add(1)
				go func() {
					defer inc.loops.Done()
					defer looking.Store(false)
					inc.lookAgain(r.Suspects)
				}()
			}
		case inc.ctx.Err() != nil:
			return
		case errors.Is(err, journal.ErrNodeLost):
			inc.lose(err)
			return
		case !time.Now().Before(deadline):
			inc.lose(fmt.Errorf("%w: the lease could not be renewed in time: %w", journal.ErrNodeLost, err))
			return
		}
	}
}

// lookAgain reaps nodes that seem to be dead, if they still do after a moment.
func (inc *incarnation) lookAgain(suspects []journal.NodeID) {
	if retry.Sleep(inc.claims, secondLook) {
		inc.reap(suspects)
	}
}

// sweepLoop frees tasks whose owner no longer exists.
func (inc *incarnation) sweepLoop() {
	for retry.Sleep(inc.claims, inc.n.o.Lease*leasesPerSweep) {
		inc.reap(nil)
	}
}

func (inc *incarnation) reap(suspects []journal.NodeID) {
	r, err := inc.member.Reap(inc.claims, suspects)
	log := inc.n.tel.log
	if err != nil {
		if inc.claims.Err() == nil && !errors.Is(err, journal.ErrUnavailable) {
			log.Error("reaping dead nodes failed", keyNode, inc.id, keyError, err)
		}
		return
	}
	if len(r.Nodes) > 0 || r.Tasks > 0 {
		log.Warn("took the runs of dead nodes", keyNode, inc.id, "dead", r.Nodes, "runs", r.Tasks)
	}
	if r.Quarantined > 0 {
		log.Error("quarantined runs that kept killing their nodes", keyNode, inc.id, "runs", r.Quarantined)
	}
}
