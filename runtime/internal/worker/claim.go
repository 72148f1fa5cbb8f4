package worker

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/reprise-run/reprise/actor"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
	"github.com/reprise-run/reprise/runtime/internal/retry"
)

// claimer acquires due tasks, in one loop at its own pace: claim a batch, hand it out, claim again
// while batches are full and there is room, otherwise wait for a hint, for the next known due time
// or for the poll. A claim that got all it asked for has left something, as far as anybody knows.
//
// One loop, and never two claims at once, for two reasons. A claim's limit is the room that is
// left; two claims would both use it. And a reconciling claim reports what the node owns as of one
// moment; a second claim in flight could acquire a task before that moment and report it after, and
// the same task would be activated twice. A second activation is harmless (the actor compares fence
// and turn), but it would be a cost in the normal case.
//
// Every claim is limited by the room at the time of the call. Starts of this node use the same room
// without telling the claimer, so the node may own some batches more than LiveMax for a moment.
// LiveMax protects memory; it is no invariant. A claim without room takes nothing and counts who
// waits: see crowd.
//
// A claim that fails may have acquired tasks all the same. See unconfirmed.
type claimer struct {
	j      *driver.Journal
	node   journal.NodeID
	routes func() []journal.Route // those that no pause covers
	sys    *actor.System
	room   *room
	crowd  *crowd
	log    *slog.Logger

	member      driver.Membership
	comparison  *comparison
	doubt       func() // has what the node holds of limits compared
	timer       *claimTimer
	unconfirmed *unconfirmed
	trials      *trials
	claims      context.Context // of each claim; ends a while after the loop's
	lost        func(error)     // called if the store was closed
	said        string          // the error of the last comparison, of the loop
}

// loop claims until ctx ends.
func (c *claimer) loop(ctx context.Context) {
	waits := retry.Waits()
	for ctx.Err() == nil {
		c.compare()
		reconcile := c.unconfirmed.due()
		suspects, max := c.trials.suspects(), c.room.left()
		claim, err := c.claim(max, suspects, reconcile)
		if err != nil {
			if ctx.Err() != nil {
				return // Leave frees what this claim may have acquired
			}
			if errors.Is(err, journal.ErrStoreClosed) {
				c.lost(err)
				return
			}
			c.unconfirmed.note()
			if !errors.Is(err, journal.ErrUnavailable) {
				c.log.Error("claim failed; it will be tried again", logkey.Node, c.node, logkey.Error, err)
			}
			if !retry.Sleep(ctx, waits.NextBackOff()) {
				return
			}
			continue
		}
		waits.Reset()
		found := c.trials.note(suspects, &claim)
		activate := c.sys.Activate
		if reconcile {
			activate = c.sys.ActivateUnconfirmed
		}
		for i := range claim.Tasks {
			activate(claim.Tasks[i])
		}
		for _, run := range claim.Attention {
			c.sys.Attend(run)
		}
		if found > 0 {
			continue // suspects may have stood in the way of others
		}
		c.noteLeft(max, &claim)
		c.timer.await(ctx, c.trials.next(c.timer.nextDue(&claim), c.timer.now()))
	}
}

func (c *claimer) claim(max, suspects int, reconcile bool) (driver.Claim, error) {
	c.timer.noteClaim(max)
	return c.j.Claim(c.claims, driver.ClaimRequest{
		Node: c.node, Routes: c.routes(), Max: max, Suspects: suspects, Reconcile: reconcile,
	})
}

// noteLeft takes what a claim for up to max tasks says of those that it left.
func (c *claimer) noteLeft(max int, claim *driver.Claim) {
	switch {
	case max == 0:
		c.crowd.note(claim.Waiting)
	case len(claim.Tasks) < max:
		c.crowd.note(0)
		return
	}
	if max > 0 || claim.Waiting > 0 {
		c.timer.expect(time.Time{})
	}
}

// reconcileNow makes the next claim ask for everything that the node owns, at once.
func (c *claimer) reconcileNow() {
	c.unconfirmed.note()
	c.timer.expect(time.Time{})
}

// unread says once, for as long as the error is the same, that the store does not tell what this
// node owns.
func (c *claimer) unread(err error) {
	if errors.Is(err, journal.ErrUnavailable) || errors.Is(err, journal.ErrNodeLost) || errors.Is(err, journal.ErrStoreClosed) ||
		c.claims.Err() != nil || c.said == err.Error() {
		return
	}
	c.said = err.Error()
	c.log.Error("what this node owns cannot be read; it is asked for again, and a run that the node has lost sight of waits until then",
		logkey.Node, c.node, logkey.Error, err)
}

// compare holds what the store says this node owns against what is live, if that is due, and
// releases what the last comparison has found astray, and has limits compared. It belongs into the
// claim loop: between two claims no answer to a claim is on its way, so what the store names and
// nobody here knows is lost. What fails is done the next time.
//
// What was found astray is looked at a second time. A run that was freed between the store's answer
// and the comparison is not live here, but it is not in the list any more either. One that is
// listed again under the same fence is astray: nobody takes up a fence that no actor has.
func (c *claimer) compare() {
	suspects := c.comparison.takeStrays()
	if due := c.comparison.due(); !due && len(suspects) == 0 {
		return
	}
	c.doubt()
	asked := time.Now()
	list, err := c.member.Owned(c.claims)
	if err != nil {
		c.comparison.note()
		c.unread(err)
		return
	}
	c.said = ""
	strays, others := split(list, suspects)
	for _, h := range strays {
		c.log.Warn("the store says that this node owns a run, and the run is not live here in that state; it is released",
			logkey.Node, c.node, logkey.Run, h.Run, "fence", h.Fence, "events", h.Head.Seq)
	}
	if len(strays) > 0 {
		if err := c.member.Release(c.claims, strays); err != nil {
			c.comparison.note()
		}
	}
	c.sys.Compare(others, asked)
}

// split returns the tasks of a list that are suspects under the same fence, and the others.
func split(list, suspects []driver.Holding) (found, others []driver.Holding) {
	fences := make(map[journal.RunID]journal.Fence, len(suspects))
	for _, h := range suspects {
		fences[h.Run] = h.Fence
	}
	for _, h := range list {
		if fence, suspect := fences[h.Run]; suspect && fence == h.Fence {
			found = append(found, h)
		} else {
			others = append(others, h)
		}
	}
	return found, others
}
