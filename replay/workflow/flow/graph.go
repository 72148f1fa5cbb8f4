package flow

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/reprise-run/reprise/replay/workflow"
)

// graph is a flow without its types. Until it is compiled one goroutine adds nodes to it; what it
// compiles to never changes.
type graph struct {
	name  string
	steps *workflow.StepOptions
	nodes []*node // in the order of their declaration

	compiled atomic.Pointer[compiled] // nil while nodes may be added
}

// compiled is what came of a declaration.
type compiled struct {
	plan *plan
	err  error
}

// add declares a node. A declaration that comes late would be missing in the runs that have begun.
func (g *graph) add(n *node) {
	g.open("node " + n.name + " is declared")
	g.nodes = append(g.nodes, n)
}

// open panics if the declaration has ended.
func (g *graph) open(what string) {
	if g.compiled.Load() != nil {
		panic(fmt.Sprintf("flow: %s: %s after Build, Check or Shape: declare all of a flow first", g.name, what))
	}
}

// byName is the nodes in the order of their names, in which runs know them: the order in which code
// declares them means nothing.
func (g *graph) byName() []*node {
	nodes := slices.Clone(g.nodes)
	slices.SortFunc(nodes, func(a, b *node) int { return cmp.Compare(a.name, b.name) })
	return nodes
}
