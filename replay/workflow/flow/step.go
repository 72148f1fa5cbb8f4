package flow

import (
	"context"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Step declares a step: fn is given the value of a source and may block and have effects, as that
// of workflow.Step, whose name is the node's. o may be nil.
func Step[In, A, T any](
	f *Flow[In], name string, from Source[A], fn func(context.Context, A) (T, error), o *Options,
) *Node[T] {
	n := declare[T](f.graph, name, KindStep, o, edgesOf(from, false)...)
	if fn == nil {
		n.note("its function is nil")
		return n
	}
	n.exec = func(ctx workflow.Context, v *values) (any, error) {
		in, _, err := valueOf(from, v)
		if err != nil {
			return nil, err
		}
		return workflow.Step(ctx, name, func(ctx context.Context) (T, error) { return fn(ctx, in) }, n.o.Step)
	}
	return n
}

// StepTx declares a step that works in a transaction of the store's database, as workflow.StepTx
// does: its effect happens exactly once.
func StepTx[In, A, Tx, T any](
	f *Flow[In], name string, from Source[A], fn func(context.Context, Tx, A) (T, error), o *Options,
) *Node[T] {
	n := declare[T](f.graph, name, KindStep, o, edgesOf(from, false)...)
	if fn == nil {
		n.note("its function is nil")
		return n
	}
	n.exec = func(ctx workflow.Context, v *values) (any, error) {
		in, _, err := valueOf(from, v)
		if err != nil {
			return nil, err
		}
		return workflow.StepTx(ctx, name, func(ctx context.Context, tx Tx) (T, error) { return fn(ctx, tx, in) }, n.o.Step)
	}
	return n
}

// Code declares a node of workflow code, with all verbs that there are: a loop, a select, children
// for the items of a list. fn is held to what package workflow says of such code.
func Code[In, A, T any](
	f *Flow[In], name string, from Source[A], fn func(workflow.Context, A) (T, error), o *Options,
) *Node[T] {
	n := declare[T](f.graph, name, KindCode, o, edgesOf(from, false)...)
	if fn == nil {
		n.note("its function is nil")
		return n
	}
	n.exec = func(ctx workflow.Context, v *values) (any, error) {
		in, _, err := valueOf(from, v)
		if err != nil {
			return nil, err
		}
		return fn(ctx, in)
	}
	return n
}
