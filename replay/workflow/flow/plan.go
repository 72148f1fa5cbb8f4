package flow

import (
	"slices"
	"sync/atomic"
)

// plan is a checked flow. Nodes are known by their index in the order of their names, so the order
// in which code declares them means nothing to runs.
type plan struct {
	name       string
	nodes      []*node
	index      map[*node]int
	parents    [][]int
	dependents [][]int
	shape      *Shape
	change     func() string // the id of the change that marks a run which began with this shape
}

// newPlan orders the nodes of a flow without problems by their names, and its edges.
func newPlan(g *graph) *plan {
	nodes := g.byName()
	p := &plan{
		name: g.name, nodes: nodes, index: make(map[*node]int, len(nodes)),
		parents: make([][]int, len(nodes)), dependents: make([][]int, len(nodes)),
	}
	for i, n := range nodes {
		p.index[n] = i
	}
	for i, n := range nodes {
		for _, e := range n.parents() {
			p.parents[i] = append(p.parents[i], p.index[e.node])
		}
		slices.Sort(p.parents[i])
		p.parents[i] = slices.Compact(p.parents[i])
		for _, parent := range p.parents[i] {
			p.dependents[parent] = append(p.dependents[parent], i) // in order, because i is
		}
	}
	p.shape = shapeOf(g)
	var name atomic.Pointer[string] // no lock in replayed code: two who ask at once find the same
	p.change = func() string {
		if known := name.Load(); known != nil {
			return *known
		}
		hashed := shapePrefix + p.shape.Hash()
		name.Store(&hashed)
		return hashed
	}
	return p
}

// awaits is how many parents of a node must end before it begins.
func (p *plan) awaits(i int) int {
	if q := p.nodes[i].o.Quorum; q > 0 {
		return q
	}
	return len(p.parents[i])
}
