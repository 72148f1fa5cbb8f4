package worker

import (
	"sync/atomic"

	"github.com/reprise-run/reprise/actor"
)

// room is how many more runs the node may own: no more than LiveMax, which protects memory, and no
// more than it can work on, which leaves the others to nodes that can. A claim takes no more than
// that, and of the runs that the node starts itself it owns no more; the others go to the queue.
//
// It is read and not booked, so what happens at once may exceed it by a batch each.
type room struct {
	sys     *actor.System
	liveMax int
	setFull func(full bool) // says whether the node claims nothing

	full atomic.Bool // as setFull was told
}

// left is the room, at most claimMax.
func (r *room) left() int {
	n := max(min(r.liveMax-r.sys.Live(), r.sys.Room(), claimMax), 0)
	if full := n == 0; r.full.CompareAndSwap(!full, full) {
		r.setFull(full)
	}
	return n
}

// limit names what limits the room.
func (r *room) limit() string {
	if r.sys.Live() >= r.liveMax {
		return "LiveMax"
	}
	return "StepsMax"
}
