package postgres

import (
	"sync"
	"time"
)

// contact is when a node last heard from the server, on any session of its store, and whether the
// others judge the node by these sessions. It is what the promise of journal.Node.Grace rests on.
//
// The others take the node's runs if they have found no session of its store at one moment, and
// again a grace later, and the node has not renewed its lease in between (see lookSuspectsSQL and
// reapMarkSQL). The node may execute steps until a grace after last. So last must not be later than
// that first moment. It is not, because an answer counts only on a session that is older than the
// newest renewal that was answered. Suppose that an answer counts that came after the moment. Its
// session was opened after the moment, as none existed then. So a renewal was sent, and carried
// out, after the moment; the others see the number of renewals, which has grown, and begin anew.
// Without the rule a node that loses all sessions twice in a grace, and has others in between,
// would be declared dead while it executes steps.
//
// A node offers its sessions as evidence by the number of its store in its row, and only while it
// knows of other nodes. It is judged from before the request with the offer is sent until one
// without it was answered, and for offerLate after a request with an offer that got no answer,
// which the server may carry out late. So whoever sees the offer deals with a node that watches its
// contact. A node that is alone has nobody to fear, and goes on when the server pauses. Nobody sees
// an offer before it is sent, so with the first one the silence of a node that was alone begins
// anew; and its node is told then, not when the renewal that carries the offer has ended, which may
// get no answer.
type contact struct {
	mu      sync.Mutex
	begun   chan struct{} // gets a token when judged has become true
	last    time.Time     // sending of the newest request with an answer that counts, or of the first offer
	proven  time.Time     // sending of the newest renewal that was answered
	judged  bool
	offers  int       // requests with an offer that are in flight
	unknown time.Time // when one got no answer
}

// joined notes the answer to joining, which is the first renewal.
func (c *contact) joined(sent time.Time, offered bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last, c.proven, c.judged = sent, sent, offered
}

// heard notes an answer to a request that was sent then, on a session that was opened before.
func (c *contact) heard(opened, sent time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if opened.Before(c.proven) && sent.After(c.last) {
		c.last = sent
	}
}

// offer says that a renewal with an offer is about to be sent.
func (c *contact) offer(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offers++
	if c.judged {
		return
	}
	c.judged, c.last = true, later(c.last, now)
	select {
	case c.begun <- struct{}{}:
	default:
	}
}

// renewed notes how a renewal has ended. The session on which it was answered is older than the
// renewal, so the answer counts.
func (c *contact) renewed(sent time.Time, offered, answered bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if offered {
		c.offers--
	}
	switch {
	case answered:
		c.proven, c.last = later(c.proven, sent), later(c.last, sent)
	case offered:
		c.unknown = time.Now()
	}
	if answered && !offered && c.offers == 0 && (c.unknown.IsZero() || time.Since(c.unknown) > offerLate) {
		c.judged = false
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// proves tells whether answers on a session that was opened then count.
func (c *contact) proves(opened time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return opened.Before(c.proven)
}

func (c *contact) state() (last time.Time, judged bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last, c.judged
}
