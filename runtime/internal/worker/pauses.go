package worker

import (
	"context"
	"errors"
	"log/slog"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
)

// pauses lets the node heed the pauses of scopes (J11), and what else operators want of it. It
// reads them when a renewal says so, and a hint makes the node renew, so that a lost hint costs no
// more than the time between two renewals. First the actor system takes them in,
// from when on no body in their scopes begins; then the node tells the store that it heeds them.
// What it tells is the number of an answer that it has taken in, never more.
//
// Tasks do not show that their scope is paused, so a node does not ask for them: neither by its
// claims nor when it starts a run.
type pauses struct {
	member driver.Membership
	node   journal.NodeID
	routes []journal.Route
	pause  func([]journal.Pause)
	claim  func() // what was paused may be due
	drain  func() // an operator wants the node to leave; called again and again
	log    *slog.Logger
	wake   chan struct{} // one token: read

	heeded int64           // of the loop
	taken  []journal.Pause // what the actor system knows of; of the loop
	open   atomic.Pointer[[]journal.Route]
}

// look makes the loop read. It does not block.
func (p *pauses) look() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// loop reads until ctx ends. A read that fails is repeated with the next renewal.
func (p *pauses) loop(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		}
		for p.heed(ctx) {
		}
	}
}

// heed takes in what the store says, and tells whether the store is to be told of it.
func (p *pauses) heed(ctx context.Context) (news bool) {
	orders, err := p.member.Heed(ctx, p.heeded)
	if err != nil {
		if !errors.Is(err, journal.ErrUnavailable) && !errors.Is(err, journal.ErrNodeLost) && ctx.Err() == nil {
			p.log.Error("the pauses of queues and workflows cannot be read; they will be read again", logkey.Node, p.node, logkey.Error, err)
		}
		return false
	}
	if orders.Drain {
		p.drain()
	}
	before := p.heeded
	p.take(orders.Pauses)
	return p.heeded != 0 && p.heeded != before
}

// take makes the pauses what the store says. The actor system is told of what is new to it alone,
// because it asks every live run to look.
func (p *pauses) take(list []journal.Pause) {
	if p.open.Load() == nil || !reflect.DeepEqual(list, p.taken) {
		p.pause(list)
		p.taken = list
	}
	p.heeded = 0
	open := make([]journal.Route, 0, len(p.routes))
	for i := range list {
		p.heeded = max(p.heeded, list[i].Number)
	}
	for _, r := range p.routes {
		if !slices.ContainsFunc(list, func(q journal.Pause) bool { return q.Scope.Covers(r) }) {
			open = append(open, r)
		}
	}
	if was := p.open.Swap(&open); was == nil || len(open) > len(*was) {
		p.claim()
	}
}

// openRoutes are those that no pause covers.
func (p *pauses) openRoutes() []journal.Route { return *p.open.Load() }
