package sim

import (
	"github.com/reprise-run/reprise/journal"
)

// checkOwner: each fence of a run belongs to one node, and only the newest owner's commits are
// accepted, also those that leave the task alone; a second one is a repetition (J3, J4). A node that
// has left owns nothing any more.
func checkOwner(f *finder) {
	type fenced struct {
		run   journal.RunID
		fence journal.Fence
		after int
	}
	owners := map[fenced]grant{}
	for _, g := range f.tape.grants {
		if first, known := owners[fenced{g.run, g.fence, g.after}]; known && first != g {
			f.breaks("fence %d of run %s was given to node %d (%s) and to node %d (%s)", g.fence, f.number(g.run), first.node, first.to, g.node, g.to)
		}
		owners[fenced{g.run, g.fence, g.after}] = g
	}
	for _, g := range f.tape.orphans {
		f.breaks("run %s was given to node %d, fence %d, which had left", f.number(g.run), g.node, g.fence)
	}
	var known repetitions
	for i := range f.tape.commits {
		c := &f.tape.commits[i]
		if known.has(c) {
			continue
		}
		if g, known := owners[fenced{c.Run, c.Fence, f.tape.reopened(c.Run, c.place)}]; !known || g.to != c.process {
			f.breaks("a commit of %s, fence %d, was accepted for run %s, and nobody but %q had that fence", c.process, c.Fence, f.number(c.Run), g.to)
		}
		// What adds events alone goes on from the history, which is the same after turns were lost that
		// added none.
		unchanged := c.AppendOnly && f.epoch > 0
		if unchanged && c.late {
			continue // its node was the owner in the very state to which the database went back
		}
		if b := c.before; b == nil || b.Owner != c.Node || b.Fence != c.Fence || b.Turn != c.Turn && !unchanged {
			f.breaks("a commit of node %d (%s), fence %d, turn %d, was accepted for run %s, whose task was %+v",
				c.Node, c.process, c.Fence, c.Turn, f.number(c.Run), b)
		}
	}
}
