package flow

import (
	"fmt"
	"slices"
	"strings"
)

// nesting is what a flow comes to with the flows that it nests.
type nesting struct {
	nodes int // all nodes as often as they are nested, up to one more than nodesMax
	depth int // how many flows are in each other, this one included
}

// nests looks at the flows that nodes are, once at each however often it is nested: a flow that is
// nested twice by one that is nested twice, and so on, is a tree too large to be gone through.
type nests struct {
	known map[*graph]*nesting // nil while a flow is in above
	above []*graph            // those in which the one that is looked at is nested
}

// problem is what is wrong with the nesting of a flow, "" if nothing is. Then shapes and pictures,
// which are trees, have a size; and so have the flows that it nests, each of which is smaller.
func (g *graph) nestingProblem() string {
	n := nests{known: map[*graph]*nesting{}}
	loop := n.look(g)
	switch of := n.known[g]; {
	case loop != nil:
		return "it nests itself: " + strings.Join(loop, " → ")
	case of.nodes > nodesMax:
		return fmt.Sprintf("it has more than %d nodes with those of the flows that it nests, each counted as often as it is nested: "+
			"use Call for some of them, whose nodes are not drawn inside", nodesMax)
	case of.depth > depthMax:
		return fmt.Sprintf("%d flows are nested in each other: at most %d are possible", of.depth, depthMax)
	}
	return ""
}

// look returns the names of flows from one that is in itself to itself; nil if there is none.
func (n *nests) look(g *graph) (loop []string) {
	if of, seen := n.known[g]; seen && of == nil {
		for _, a := range append(n.above[slices.Index(n.above, g):], g) {
			loop = append(loop, a.name)
		}
		return loop
	} else if seen {
		return nil
	}
	n.known[g], n.above = nil, append(n.above, g)
	of := &nesting{nodes: len(g.nodes)}
	for _, node := range g.nodes {
		if node.nested == nil {
			continue
		}
		if loop := n.look(node.nested); loop != nil {
			return loop
		}
		inner := n.known[node.nested]
		of.nodes = min(of.nodes+inner.nodes, nodesMax+1)
		of.depth = max(of.depth, inner.depth)
	}
	of.depth++
	n.known[g] = of
	n.above = n.above[:len(n.above)-1]
	return nil
}
