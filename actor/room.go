package actor

import (
	"sync"
	"sync/atomic"
	"time"
)

// room says how many more runs the system can work on. It is what keeps a node from owning runs
// that wait for its slots while another node has free ones.
//
// A run that the node comes to own takes part in one of three ways until it closes or parks: as a
// newcomer, until it has been loaded and its code has asked for something; by the slots that its
// bodies have; or by waiting for a slot. A run whose turn is being written is none of them, and
// needs no slot at this moment. So
//
//	room = free slots + lead - lines without a slot - newcomers
//
// where lead is for slots that are about to become free: as many as have become free in the last
// leadTime. Without it each slot would be empty for the time of a claim after each step. With it a
// node that executes steps of a millisecond owns many runs beyond its slots, and one that executes
// steps of a minute none: those would wait here while another node may have a place for them.
//
// A newcomer counts for a limited time. Code that hangs before it asks for anything, or a history
// that takes a minute to arrive, must not keep the place of a run that could work. So newcomers are
// counted in cohorts, of which the older ones count no more: see newcomers.
type room struct {
	slots     *slots
	newcomers newcomers

	mu    sync.Mutex
	at    time.Time // when lead was computed
	ended int64     // slots given back until then
	lead  int64
}

// left is the room. It may be less than nothing.
func (r *room) left() int {
	now := time.Now()
	return int(r.slots.free.Load() + r.ahead(now) - r.slots.stalled.Load() - r.newcomers.count(now))
}

// ahead is the lead, computed anew every leadTime.
func (r *room) ahead(now time.Time) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if since := now.Sub(r.at); since >= leadTime {
		ended := r.slots.ended.Load()
		r.lead = min((ended-r.ended)*int64(leadTime)/int64(since), r.slots.size)
		r.at, r.ended = now, ended
	}
	return r.lead
}

// newcomers counts activations that have not come to their first turn's end. The present cohort and
// the one before count, so an activation counts for one to two times newcomerTime at most.
type newcomers struct {
	present atomic.Pointer[cohort]

	mu     sync.Mutex
	before *cohort
	began  time.Time // of the present cohort
}

// cohort counts the newcomers of a time.
type cohort struct{ n atomic.Int64 }

// enter adds a newcomer. Whoever gets the cohort calls leave once.
func (n *newcomers) enter() *cohort {
	c := n.present.Load()
	c.n.Add(1)
	return c
}

// leave takes a newcomer out. A nil cohort has none.
func (c *cohort) leave() {
	if c != nil {
		c.n.Add(-1)
	}
}

func (n *newcomers) count(now time.Time) int64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	present := n.present.Load()
	if now.Sub(n.began) >= newcomerTime {
		n.before, n.began = present, now
		present = &cohort{}
		n.present.Store(present)
	}
	return present.n.Load() + n.before.n.Load()
}

func newRoom(s *slots) *room {
	r := &room{slots: s}
	r.newcomers.before, r.newcomers.began = &cohort{}, time.Now()
	r.newcomers.present.Store(&cohort{})
	return r
}

// Room is how many more runs this system can work on at once, apart from any limit of how many it
// may own. It may be less than nothing.
func (s *System) Room() int { return s.room.left() }

// roomier says that there may be more room.
func (h *host) roomier() {
	if h.o.Hooks.Room != nil {
		h.o.Hooks.Room()
	}
}
