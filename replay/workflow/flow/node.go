package flow

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Options of a node. Nil and zero fields mean the defaults.
type Options struct {
	// If lists the conditions under which the node runs; all must hold. They are looked at once,
	// when all parents have ended, and the answer is kept in the run's history. What conditions
	// look at are parents of the node.
	If []Condition
	// Unmet is what happens if a condition does not hold; default Skip.
	Unmet Mode
	// Exhausted is what happens if the node fails for good; default Fail.
	Exhausted Mode
	// Quorum is how many of its parents must have ended, or been skipped, before the node begins;
	// default all. What the others come to is not there for it: it takes Maybe or Or of them.
	Quorum int
	// Timeout is the time of the node, from when it begins; default as long as it takes. What it
	// does is cancelled then, and it has failed with workflow.ErrTimeout.
	Timeout time.Duration

	// Step are the options of a step, or of the steps of a map; default those of the flow.
	Step *workflow.StepOptions
	// Child are the options of the child of [Call] and [Nest].
	Child *workflow.ChildOptions
	// Chunk is how many items of a map share a step; default 1: each has its own retries. A step
	// that is repeated goes on behind the items that it has done, unless its node has died.
	Chunk int
	// Window is how many steps of a map run at once; default 100.
	Window int

	// Since names a change that has brought the node: runs that passed its place before do without
	// it, and it is skipped as Unmet says. See Changing a flow in the package documentation.
	Since string
	// Until names a change that takes the node away: runs that passed its place before still have
	// it. In others it is skipped as Unmet says.
	Until string
}

// Any is a node of whatever type.
type Any interface{ untyped() *node }

// Node is a node of a flow, whose result is a T. It is a [Source]: others take its result.
type Node[T any] struct{ *node }

func (n *Node[T]) untyped() *node {
	if n == nil {
		return nil
	}
	return n.node
}

// After makes the node wait until others have ended, without taking their results. It returns the
// node.
func (n *Node[T]) After(others ...Any) *Node[T] {
	n.graph.open("the order of node " + n.name + " is changed")
	for _, o := range others {
		n.after = append(n.after, edge{node: untypedOf(o)})
	}
	return n
}

// Undo says how to undo the node. If the run fails or is cancelled after the node has completed,
// fn runs as a step with the node's result; o may be nil. Nodes are undone one after the other, the
// one that completed last first, and one that cannot be undone does not stop the others: the run
// fails with a *workflow.SagaError then. A map that has not completed is undone for the items that
// have: fn gets their results, in order. It returns the node.
func (n *Node[T]) Undo(fn func(context.Context, T) error, o *workflow.StepOptions) *Node[T] {
	n.graph.open("the compensation of node " + n.name + " is changed")
	n.undos++
	n.undoOptions = o
	if fn == nil {
		n.note("its compensation is nil")
		return n
	}
	n.undo = func(u *workflow.Undo, v any) {
		result, _ := v.(T) // a nil interface stays one
		u.Push(undoPrefix+n.name, func(ctx context.Context) error { return fn(ctx, result) }, o)
	}
	return n
}

// node is a node without its type.
type node struct {
	graph *graph
	name  string
	kind  Kind
	o     Options
	takes []edge // what it is given
	after []edge
	notes []string // what is wrong with it by itself

	calls  string // the signal or workflow that it is about
	nested *graph // of KindFlow

	// exec does what the node is for, in a strand of its own. What it returns beside an error is
	// what of a map has completed.
	exec func(ctx workflow.Context, v *values) (any, error)
	// instant tells whether the node is complete without doing anything, or why it cannot begin.
	// It is nil for nodes that always do something.
	instant func(v *values) (result any, done bool, err error)
	// trial calls the verbs of the node, to find out whether their arguments are valid.
	trial func(ctx workflow.Context) error

	undo        func(*workflow.Undo, any)
	undos       int
	undoOptions *workflow.StepOptions
}

// edge leads from a node to one that comes after it.
type edge struct {
	node  *node // nil: the declaration passed nil
	needs bool  // the result must be there: the one that comes after cannot do without it
}

func untypedOf(o Any) *node {
	if o == nil {
		return nil
	}
	return o.untyped()
}

// declare adds a node to a flow.
func declare[T any](g *graph, name string, kind Kind, o *Options, takes ...edge) *Node[T] {
	n := &node{graph: g, name: name, kind: kind, takes: takes}
	if o != nil {
		n.o = *o
	}
	if n.o.Step == nil && (kind == KindStep || kind == KindMap) {
		n.o.Step = g.steps
	}
	g.add(n)
	return &Node[T]{n}
}

// note keeps something that is wrong with the node for Check.
func (n *node) note(problem string) { n.notes = append(n.notes, problem) }

// skippable tells whether the node may be skipped while those after it go on.
func (n *node) skippable() bool {
	return n.conditional() && n.o.Unmet != Fail && n.o.Unmet != SkipDescendants || n.o.Exhausted == Skip
}

// conditional tells whether the node may not run.
func (n *node) conditional() bool { return len(n.o.If) > 0 || n.o.Since != "" || n.o.Until != "" }

// parents are the edges to the node: what it takes, what its conditions look at, and what it only
// waits for.
func (n *node) parents() []edge {
	list := append([]edge(nil), n.takes...)
	for _, c := range n.o.If {
		list = append(list, c.edges...)
	}
	return append(list, n.after...)
}

// exhausted is the node's mode for when it has failed for good.
func (n *node) exhausted() Mode {
	if n.o.Exhausted == "" {
		return Fail
	}
	return n.o.Exhausted
}
