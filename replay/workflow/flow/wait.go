package flow

import (
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Wait declares a node that receives a signal: its result is the signal's payload. Several nodes
// that wait for one signal receive one each, in the order in which they began. Options.Timeout says
// how long it waits, and Options.Exhausted what happens then.
func Wait[In, T any](f *Flow[In], name string, signal workflow.Signal[T], o *Options) *Node[T] {
	n := declare[T](f.graph, name, KindSignal, o)
	n.calls = string(signal)
	n.exec = func(ctx workflow.Context, _ *values) (any, error) { return signal.Receive(ctx) }
	n.trial = func(ctx workflow.Context) error {
		_, err := signal.Receive(ctx)
		return err
	}
	return n
}

// Sleep declares a node that completes a time after it has begun. Its result is the time at which
// it does.
func Sleep[In any](f *Flow[In], name string, d time.Duration, o *Options) *Node[time.Time] {
	n := declare[time.Time](f.graph, name, KindTime, o)
	if d < 0 {
		n.note("it sleeps for " + d.String() + ": the time must be positive")
	}
	n.exec = func(ctx workflow.Context, _ *values) (any, error) { return sleep(ctx, name, d) }
	return n
}

// Until declares a node that completes at a time, or at once if that has passed. Its result is the
// time at which it does.
func Until[In any](f *Flow[In], name string, at Source[time.Time], o *Options) *Node[time.Time] {
	n := declare[time.Time](f.graph, name, KindTime, o, edgesOf(at, false)...)
	n.exec = func(ctx workflow.Context, v *values) (any, error) {
		t, _, err := valueOf(at, v)
		if err != nil {
			return nil, err
		}
		return sleep(ctx, name, t.Sub(ctx.Now()))
	}
	return n
}

func sleep(ctx workflow.Context, name string, d time.Duration) (any, error) {
	err := workflow.NewNamedTimer(ctx, name, d).Get(ctx)
	return ctx.Now(), err
}
