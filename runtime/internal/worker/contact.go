package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
	"github.com/reprise-run/reprise/runtime/internal/retry"
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
// So that silence means a fault, a judged node that owns runs and has heard nothing for a quarter
// of the grace asks the store, askPerGrace times in each grace. One whose commits are answered
// needs no questions. A node that nobody judges is never interrupted.
//
// # Rest
//
// A judged node that owns no run executes no step, so its contact may be as old as it likes: it
// rests, and asks for nothing. What ends the rest is the first run that it comes to own, by begin:
// before a step of that run can start, the contact is looked at. Nearly always the claim or the
// start that made the node the owner has just been answered, and nothing happens. If that answer
// does not count, see Contact, the node is interrupted until a question is answered.
//
// resting changes under mu alone, and is read without it by begin, which each activation calls. No
// activation slips through: it counts as a run of the node's before it calls begin, and the loop
// first says that the node rests and then looks again whether it owns something. So either the loop
// sees the run and takes it back, or begin sees the rest.
//
// # The others
//
// As often as it would ask, a judged node offers to look after the other nodes, resting or not: see
// Ask. The death of any node thus becomes known at once, however few others there are.
type contact struct {
	member    driver.Membership
	node      journal.NodeID
	grace     time.Duration
	owns      func() bool       // whether the node owns a run
	interrupt func(cause error) // ends the steps, and lets no other one begin; does not block
	resume    func()            // does not block
	look      func()            // another node seems to have died
	lost      func(error)       // as of lease
	log       *slog.Logger

	wake  chan struct{}   // one token: look at the contact again
	loops *sync.WaitGroup // counts calls

	resting     atomic.Bool
	mu          sync.Mutex // guards what is below, and interrupt and resume
	interrupted bool
	quiet       time.Time // until when that is not logged
	logged      bool
}

// note makes the loop look at the contact: a renewal was answered, so the node may not be judged
// any more. That it is judged, the store tells by itself, as that begins before the answer.
func (c *contact) note() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// begin says that the node has come to own a run, of which nothing is executed yet.
func (c *contact) begin() {
	if !c.resting.Load() {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.resting.Load() {
		return
	}
	last, judged := c.member.Contact()
	c.heed(last, judged, true)
	c.resting.Store(false)
	if c.interrupted || time.Since(last) > c.grace/2 { // else the loop looks in time by itself
		c.note()
	}
}

// state is what the loop has to know of the contact.
type state struct {
	judged, resting, interrupted bool
	last                         time.Time // as of Contact
}

// heedNow interrupts, resumes, or begins or ends a rest, as the contact and the runs are now.
func (c *contact) heedNow() (s state) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.last, s.judged = c.member.Contact()
	if s.judged && !c.interrupted && !c.owns() {
		c.resting.Store(true)
		s.resting = !c.owns()
	}
	if !s.resting {
		c.heed(s.last, s.judged, false)
		c.resting.Store(false)
	}
	s.interrupted = c.interrupted
	return s
}

// heed interrupts when a silence begins and resumes when it ends. The caller holds mu. A node that
// has rested has not asked, so the store may well be there: that it is silent is logged when a
// question has got no answer.
func (c *contact) heed(last time.Time, judged, rested bool) {
	now := time.Now()
	silence, silent := now.Sub(last), judged && !now.Before(c.end(last))
	if silent && !c.interrupted {
		c.interrupted, c.quiet = true, now
		if rested {
			c.quiet = now.Add(c.grace / askPerGrace)
		}
		c.interrupt(fmt.Errorf("%w: it has not answered for %s", journal.ErrUnavailable, silence))
	}
	switch {
	case silent && !c.logged && !now.Before(c.quiet):
		c.logged = true
		c.log.Warn("the store does not answer; steps are interrupted, because other nodes may take their runs",
			logkey.Node, c.node, "silence", silence, "grace", c.grace)
	case !silent && c.interrupted:
		if c.interrupted = false; c.logged {
			c.log.Info("the store answers again; steps go on", logkey.Node, c.node)
		}
		c.logged = false
		c.resume()
	}
}

// end is when a silence since last interrupts.
func (c *contact) end(last time.Time) time.Time { return last.Add(c.grace - c.grace/8) }

// loop interrupts and resumes until ctx ends. Two questions are never in flight at once; one that
// hangs ends by its own limit.
func (c *contact) loop(ctx context.Context) {
	every := c.grace / askPerGrace
	answered := make(chan struct{}, 1)
	asking, asked, offered := false, time.Time{}, time.Time{}
	timer := time.NewTimer(retry.Soon)
	defer timer.Stop()
	for {
		s := c.heedNow()
		now, due := time.Now(), later(asked, s.last).Add(every)
		need, offer := !s.resting && !now.Before(due), !now.Before(offered.Add(every))
		if s.judged && !asking && (need || offer) {
			if need {
				asked = now
			}
			asking, offered = true, now
			c.loops.Add(1)
			go func() {
				defer c.loops.Done()
				c.ask(ctx, every, need)
				answered <- struct{}{}
			}()
		}
		if next := c.next(s, asking, due, offered.Add(every)); !next.IsZero() {
			timer.Reset(max(time.Until(next), retry.Soon))
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

// next is when the loop has to look again if nothing happens; zero if an answer or a renewal is
// what there is to wait for. due is when the next question is due, offer when the next offer is.
func (c *contact) next(s state, asking bool, due, offer time.Time) time.Time {
	end := c.end(s.last)
	switch watched := !s.resting && !s.interrupted; {
	case !s.judged, asking && !watched:
		return time.Time{}
	case asking:
		return end
	case s.resting:
		return offer
	case s.interrupted:
		return earlier(due, offer)
	default:
		return earlier(earlier(due, offer), end)
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// ask asks for a sign of life if the node needs one, and looks after others. That no sign has come
// shows in Contact.
func (c *contact) ask(ctx context.Context, limit time.Duration, need bool) {
	call, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	look, err := c.member.Ask(call, need)
	switch {
	case errors.Is(err, journal.ErrNodeLost):
		c.lost(err)
	case look:
		c.look()
	}
}
