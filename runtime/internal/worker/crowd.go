package worker

import (
	"log/slog"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
)

// crowd is what the claim loop knows of due runs that wait because this node is full. While it is
// full and something is due, the loop counts them now and then. What it finds makes runs give their
// places back (actor.System.Crowd) and, if it lasts, is logged: somebody who waits for a run finds
// nothing wrong with it otherwise.
//
// Its methods are for the claim loop.
type crowd struct {
	node    journal.NodeID
	tell    func(crowded bool) // System.Crowd
	room    *room
	log     *slog.Logger
	observe func(waiting int, since time.Time) // measures; nil for nothing

	waiting int
	since   time.Time // since when somebody has been waiting
	logged  time.Time // when it was last logged; zero if it has not been since then
}

// note takes how many due runs wait for this node.
func (c *crowd) note(waiting int) {
	was, now := c.waiting, time.Now()
	c.waiting = waiting
	if waiting > 0 && was == 0 {
		c.since = now
	}
	if c.observe != nil && waiting != was {
		c.observe(waiting, c.since)
	}
	switch {
	case waiting > 0 && was == 0:
		c.tell(true)
	case waiting == 0 && was > 0:
		c.tell(false)
		if !c.logged.IsZero() {
			c.log.Info("the node has room again for all due runs", logkey.Node, c.node, "after", now.Sub(c.since).Round(time.Millisecond))
			c.logged = time.Time{}
		}
	}
	if waiting > 0 && now.Sub(c.since) >= crowdAfter && now.Sub(c.logged) >= crowdEvery {
		c.logged = now
		c.log.Warn("the node is full, and due runs wait for a place; more nodes, or a larger limit, would begin them sooner",
			logkey.Node, c.node, logkey.Live, c.room.sys.Live(), "waiting", waiting, "limit", c.room.limit())
	}
}
