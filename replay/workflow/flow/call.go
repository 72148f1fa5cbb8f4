package flow

import (
	"github.com/reprise-run/reprise/replay/workflow"
)

// Call declares a node that runs another workflow as a child and has its output. Options.Child are
// the options of the child.
func Call[In, A, T any](f *Flow[In], name string, from Source[A], child workflow.Name[A, T], o *Options) *Node[T] {
	n := declare[T](f.graph, name, KindCall, o, edgesOf(from, false)...)
	calls(n.node, from, child)
	return n
}

// Nest declares a node that runs another flow as a child: its output is the node's result, and its
// nodes are drawn inside of the node. A node of the nested flow finds its result in it by
// [Node.In].
func Nest[In, A any](f *Flow[In], name string, from Source[A], nested *Flow[A], o *Options) *Node[Results] {
	n := declare[Results](f.graph, name, KindFlow, o, edgesOf(from, false)...)
	if nested == nil {
		n.note("the flow that it nests is nil")
		return n
	}
	n.nested = nested.graph
	calls(n.node, from, nested.Name())
	return n
}

// calls makes a node execute a child.
func calls[A, T any](n *node, from Source[A], child workflow.Name[A, T]) {
	n.calls = string(child)
	n.exec = func(ctx workflow.Context, v *values) (any, error) {
		in, _, err := valueOf(from, v)
		if err != nil {
			return nil, err
		}
		return workflow.Call(ctx, child, in, n.o.Child)
	}
	n.trial = func(ctx workflow.Context) error {
		var in A
		_, err := workflow.Call(ctx, child, in, n.o.Child)
		return err
	}
}
