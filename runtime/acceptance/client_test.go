package acceptance_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// TestDeleteForgetsAClosedRun: a closed run can be deleted, an open one cannot. No row of it stays,
// its key is free, and every call that names it returns ErrNotFound.
func TestDeleteForgetsAClosedRun(t *testing.T) {
	c := clustertest.New(t)
	n := c.Run(nil, handleCollect)
	client, ctx, conn := runtime.NewClient(c.Journal, nil), clustertest.Context(t), c.Connect()
	keyed := &runtime.StartOptions{Key: "once", Labels: map[string]string{"a": "b"}}
	started, err := runtime.Start(ctx, client, collect, 1, keyed)
	run := clustertest.MustStart(t, started, err)
	if err := client.Delete(ctx, run.ID()); !errors.Is(err, journal.ErrOpen) {
		t.Errorf("deleting an open run: %v, want ErrOpen", err)
	}
	if err := runtime.Signal(ctx, client, run.ID(), number, 7, nil); err != nil {
		t.Fatal(err)
	}
	clustertest.MustResult(t, run)
	if err := client.Delete(ctx, run.ID()); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"runs", "events", "inbox", "tasks"} {
		if n := clustertest.Query[int](t, conn, `SELECT count(*) FROM reprise.`+table); n != 0 {
			t.Errorf("%d rows are left in %s", n, table)
		}
	}
	_, describe := client.Describe(ctx, run.ID())
	_, result := runtime.RunOf(client, collect, run.ID()).Result(ctx)
	for what, err := range map[string]error{
		"describe": describe, "result": result, "delete": client.Delete(ctx, run.ID()),
		"signal": runtime.Signal(ctx, client, run.ID(), number, 1, nil), "terminate": client.Terminate(ctx, run.ID(), ""),
	} {
		if !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", what, err)
		}
	}
	again, err := runtime.Start(ctx, n.Client(), collect, 0, keyed)
	if again = clustertest.MustStart(t, again, err); !again.Created() {
		t.Error("the key still leads to the deleted run")
	}
	clustertest.MustResult(t, again)
}

const states workflow.Name[string, string] = "states"

// stating brings a run into the state that its input names.
func stating(release <-chan struct{}) func(ctx workflow.Context, state string) (string, error) {
	return func(ctx workflow.Context, state string) (string, error) {
		switch state {
		case "step":
			return workflow.Step(ctx, "body", func(context.Context) (string, error) { <-release; return state, nil }, nil)
		case "retry":
			return workflow.Step(ctx, "flaky", func(context.Context) (string, error) { return "", errors.New("down") },
				&workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Hour, Max: time.Hour}})
		case "timer":
			return "", workflow.NewNamedTimer(ctx, "cool off", time.Hour).Get(ctx)
		case "signal", "cancelled", "terminated":
			return approved.Receive(ctx)
		case "blocked":
			panic("a bug of the day")
		case "failed":
			return "", errors.New("no luck")
		}
		return state, nil
	}
}

// TestDescribeInEachState: Describe shows for every state what the run waits for, what went wrong,
// or how it ended.
func TestDescribeInEachState(t *testing.T) {
	c := clustertest.New(t)
	release := make(chan struct{})
	n := c.Run(nil, func(n *runtime.Node) { runtime.Handle(n, states, stating(release), nil) })
	t.Cleanup(sync.OnceFunc(func() { close(release) }))
	client, ctx := runtime.NewClient(c.Journal, nil), clustertest.Context(t)
	for state, ok := range map[string]func(d *runtime.Description) bool{
		"step": func(d *runtime.Description) bool { return d.Run.Task.Owner == n.ID() },
		"retry": func(d *runtime.Description) bool {
			return len(d.Steps) == 1 && d.Steps[0].Name == "flaky" && d.Steps[0].Attempts == 1 && d.Steps[0].LastError.Message == "down" &&
				time.Until(d.Steps[0].NextAt) > 40*time.Minute && d.Run.Task.Owner == 0 && slices.Equal(d.Waiting, []string{"step flaky"})
		},
		"timer": func(d *runtime.Description) bool {
			return len(d.Timers) == 1 && d.Timers[0].Name == "cool off" && d.Timers[0].Due.Equal(d.Run.Task.VisibleAt) &&
				len(d.Waiting) == 1 && strings.HasPrefix(d.Waiting[0], "timer ")
		},
		"signal": func(d *runtime.Description) bool {
			return slices.Equal(d.Waiting, []string{"signal approved"}) && d.Run.Task.VisibleAt.IsZero() && d.Unread == 0 && d.Events == 1
		},
		"blocked": func(d *runtime.Description) bool {
			return d.Run.Task.State == journal.Blocked && strings.Contains(d.Run.Task.Problem, "a bug of the day") && d.Run.Task.Owner == 0
		},
		"completed": func(d *runtime.Description) bool {
			return d.Run.Status == journal.Completed && d.Run.Terminal.Kind == journal.RunCompleted && string(d.Run.Terminal.Payload.Data) == `"completed"`
		},
		"failed": func(d *runtime.Description) bool {
			f, err := journal.DecodeFailure(d.Run.Terminal.Payload)
			return d.Run.Status == journal.Failed && err == nil && f.Message == "no luck"
		},
		"cancelled": func(d *runtime.Description) bool {
			return d.Run.Status == journal.Cancelled && d.Run.Terminal.Kind == journal.RunCancelled
		},
		"terminated": func(d *runtime.Description) bool {
			return d.Run.Status == journal.Terminated && d.Run.Terminal.Kind == journal.RunTerminated
		},
	} {
		started, err := runtime.Start(ctx, client, states, state, &runtime.StartOptions{Key: state})
		run := clustertest.MustStart(t, started, err)
		switch state {
		case "cancelled":
			err = client.Cancel(ctx, run.ID(), "changed my mind")
		case "terminated":
			err = client.Terminate(ctx, run.ID(), "enough")
		}
		if err != nil {
			t.Fatal(err)
		}
		ended := slices.Contains([]string{"completed", "failed", "cancelled", "terminated"}, state)
		d := clustertest.Described(t, client, run.ID(), "the run is "+state, func(d *runtime.Description) bool {
			return ended == d.Run.Status.Closed() && ended == (d.Run.Task == nil) && ok(d)
		})
		if d.Run.Key != state || d.Run.Workflow != string(states) || d.Run.ClosedAt.IsZero() == ended || ended && len(d.Steps)+len(d.Timers)+len(d.Waiting) != 0 {
			t.Errorf("%s: %+v", state, d)
		}
	}
}
