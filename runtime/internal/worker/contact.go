package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
)

// contact keeps the promise of [journal.Node.Grace]: a node that the others judge by its sessions
// executes no step when it has had no answer from the store for its grace. By then they may take
// its runs, although its lease lasts.
//
// The node counts from before the newest answered request was sent, and stops an eighth of the
// grace early. The eighth is for this process: a timer fires late, and the interruption passes
// through a mailbox to each run. The others count the whole grace, from when they know that no
// session is left, which is later than the request.
//
// So that silence means a fault, a judged node asks the store askPerGrace times in each grace. The
// same statement looks after a neighbour, so what it costs also makes the death of a node known at
// once. A node that nobody judges asks nothing and is never interrupted.
type contact struct {
	member    driver.Membership
	node      journal.NodeID
	grace     time.Duration
	interrupt func(cause error) // ends the steps, and lets no other one begin
	resume    func()
	look      func()      // another node seems to have died
	lost      func(error) // as of lease
	log       *slog.Logger

	wake  chan struct{}   // one token: look at the contact again
	loops *sync.WaitGroup // counts calls
}

// note makes the loop look at the contact: a renewal was answered, so the node may not be judged
// any more. That it is judged, the store tells by itself, as that begins before the answer.
func (c *contact) note() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// loop interrupts and resumes until ctx ends. Two questions are never in flight at once; one that
// hangs ends by its own limit.
func (c *contact) loop(ctx context.Context) {
	every := c.grace / askPerGrace
	answered := make(chan struct{}, 1)
	interrupted, asking, asked := false, false, time.Time{}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		last, judged := c.member.Contact()
		end := last.Add(c.grace - c.grace/8)
		interrupted = c.heed(interrupted, judged && !time.Now().Before(end), last)
		if judged && !asking && time.Since(asked) >= every {
			asking, asked = true, time.Now()
			c.loops.Add(1)
			go func() {
				defer c.loops.Done()
				c.ask(ctx, every)
				answered <- struct{}{}
			}()
		}
		next := asked.Add(every)
		if asking || !interrupted && end.Before(next) {
			next = end
		}
		if judged && !(asking && interrupted) { // else an answer or a renewal is what there is to wait for
			timer.Reset(time.Until(next))
		}
		select {
		case <-ctx.Done():
			return
		case <-answered:
			asking = false
		case <-c.member.Judged():
		case <-c.wake:
		case <-timer.C:
		}
	}
}

// heed interrupts when a silence begins and resumes when it ends. It returns whether steps are
// interrupted now.
func (c *contact) heed(interrupted, silent bool, last time.Time) bool {
	switch silence := time.Since(last); {
	case silent && !interrupted:
		c.log.Warn("the store does not answer; steps are interrupted, because other nodes may take their runs",
			logkey.Node, c.node, "silence", silence, "grace", c.grace)
		c.interrupt(fmt.Errorf("%w: it has not answered for %s", journal.ErrUnavailable, silence))
	case !silent && interrupted:
		c.log.Info("the store answers again; steps go on", logkey.Node, c.node)
		c.resume()
	}
	return silent
}

// ask asks for a sign of life. That none has come shows in Contact.
func (c *contact) ask(ctx context.Context, limit time.Duration) {
	call, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	look, err := c.member.Ask(call)
	switch {
	case errors.Is(err, journal.ErrNodeLost):
		c.lost(err)
	case look:
		c.look()
	}
}
