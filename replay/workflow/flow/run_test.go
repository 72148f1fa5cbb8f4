package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// once is for steps that fail once and for all.
var once = &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 1}}

// outcome is what became of a run.
type outcome struct {
	output  string // as JSON
	err     error
	events  []journal.Event
	history string
	nodes   map[string]flow.NodeState
	state   *flow.State
}

// play runs a flow in a test of its own and returns what became of it.
func play[In any](t *testing.T, in In, declare func(f *flow.Flow[In])) *outcome {
	t.Helper()
	return playWith(t, in, nil, declare)
}

// playWith is play with something that is done to the run.
func playWith[In any](t *testing.T, in In, do func(*runtimetest.Env, journal.RunID), declare func(f *flow.Flow[In])) *outcome {
	t.Helper()
	f := flow.New[In]("tested", nil)
	declare(f)
	return playFlow(t, f, in, do, nil)
}

func playFlow[In any](t *testing.T, f *flow.Flow[In], in In, do func(*runtimetest.Env, journal.RunID), more func(*runtimetest.Env)) *outcome {
	t.Helper()
	o := &outcome{nodes: map[string]flow.NodeState{}}
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, f.Name(), f.Build(), nil)
		if more != nil {
			more(e)
		}
		run := runtimetest.Start(e, f.Name(), in, nil)
		if do != nil {
			do(e, run.ID())
		}
		out, err := run.Result()
		o.output, o.err = asJSON(out), err
		h := e.History(run.ID())
		o.events, o.history = h.Events, h.String()
	})
	o.state = f.Shape().State(o.events)
	for _, n := range o.state.Nodes {
		o.nodes[n.Name] = n
	}
	return o
}

func asJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// wants fails the test unless the run completed with an output.
func (o *outcome) wants(t *testing.T, output string) {
	t.Helper()
	if o.err != nil || o.output != output {
		t.Errorf("the run ended with %s and error %v, want %s\n%s", o.output, o.err, output, o.history)
	}
}

// fails fails the test unless the run failed with an error that holds all texts.
func (o *outcome) fails(t *testing.T, texts ...string) {
	t.Helper()
	if o.err == nil {
		t.Fatalf("the run completed with %s\n%s", o.output, o.history)
	}
	for _, text := range texts {
		if !strings.Contains(o.err.Error(), text) {
			t.Errorf("the error is %q, which does not say %q\n%s", o.err, text, o.history)
		}
	}
}

// stands fails the test unless a node is "STATUS" or "STATUS, REASON".
func (o *outcome) stands(t *testing.T, node, want string) {
	t.Helper()
	n := o.nodes[node]
	got := string(n.Status)
	if n.Reason != "" {
		got += ", " + string(n.Reason)
	}
	if got != want {
		t.Errorf("node %s is %q, want %q\n%s", node, got, want, o.history)
	}
}

// steps counts how often a step was asked for.
func (o *outcome) steps(name string) (n int) {
	for i := range o.events {
		for _, c := range o.events[i].Issued {
			if c.Kind == journal.CommandStep && c.Name == name {
				n++
			}
		}
	}
	return n
}

// give is a step that returns a value whatever it is given.
func give[A, T any](v T) func(context.Context, A) (T, error) {
	return func(context.Context, A) (T, error) { return v, nil }
}

// pass is a step that returns what it is given.
func pass[A any](_ context.Context, v A) (A, error) { return v, nil }

var errBroken = errors.New("broken")

// breaks is a step that fails for good.
func breaks[A, T any](_ context.Context, _ A) (v T, err error) {
	return v, workflow.Permanent(fmt.Errorf("it is %w", errBroken))
}

type none = struct{}
