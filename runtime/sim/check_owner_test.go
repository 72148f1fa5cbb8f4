package sim

import (
	"github.com/reprise-run/reprise/journal"
)

// checkOwner: each fence of a run belongs to one node, and only the newest owner's commits are
// accepted, one for each turn; a second one is a repetition (J3, J4). A node that has left owns
// nothing any more.
func checkOwner(f *finder) {
	type fenced struct {
		run   journal.RunID
		fence journal.Fence
	}
	owners := map[fenced]journal.NodeID{}
	for _, g := range f.tape.grants {
		if first, known := owners[fenced{g.run, g.fence}]; known && first != g.node {
			f.breaks("fence %d of run %s was given to nodes %d and %d", g.fence, f.number(g.run), first, g.node)
		}
		owners[fenced{g.run, g.fence}] = g.node
	}
	for _, g := range f.tape.orphans {
		f.breaks("run %s was given to node %d, fence %d, which had left", f.number(g.run), g.node, g.fence)
	}
	type turn struct {
		run  journal.RunID
		turn journal.Turn
	}
	accepted := map[turn]journal.Fence{}
	for i := range f.tape.commits {
		c := &f.tape.commits[i]
		at := turn{c.Run, c.Turn}
		if fence, known := accepted[at]; known {
			if fence != c.Fence {
				f.breaks("turn %d of run %s was accepted under fence %d, and again from %s under fence %d",
					c.Turn, f.number(c.Run), fence, c.process, c.Fence)
			}
			continue
		}
		accepted[at] = c.Fence
		if b := c.before; b == nil || b.Owner != c.Node || b.Fence != c.Fence || b.Turn != c.Turn {
			f.breaks("a commit of node %d (%s), fence %d, turn %d, was accepted for run %s, whose task was %+v",
				c.Node, c.process, c.Fence, c.Turn, f.number(c.Run), b)
		}
	}
}
