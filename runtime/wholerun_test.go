package runtime_test

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const (
	tenancy  workflow.Name[int, map[string]string]     = "tenancy"
	mend     workflow.Name[workflow.FailedRun, string] = "mend"
	overtime workflow.Name[string, string]             = "overtime"
	mended   workflow.Signal[string]                   = "mended"
)

// tenancies returns the headers that a step of the last run in a chain of children has, which began
// its second generation before.
func tenancies(ctx workflow.Context, depth int) (map[string]string, error) {
	if depth > 0 {
		return workflow.Call(ctx, tenancy, depth-1, &workflow.ChildOptions{Headers: map[string]string{"by": "a parent"}})
	}
	if ctx.Info().Generation == 1 {
		return nil, workflow.ContinueAsNew(ctx, tenancy, 0, nil)
	}
	return workflow.Step(ctx, "look", func(ctx context.Context) (map[string]string, error) {
		info, _ := workflow.StepInfo(ctx)
		return info.Headers, nil
	}, nil)
}

// overtimes waits for ever, and cleans up when it is told to end.
func overtimes(ctx workflow.Context, how string) (string, error) {
	var err error
	if how == "in a step" {
		_, err = workflow.Step(ctx, "long", func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, context.Cause(ctx)
		}, nil)
	} else {
		_, err = number.Receive(ctx)
	}
	if failed := step(workflow.Shield(ctx), "clean"); failed != nil {
		return "", failed
	}
	return "", err
}

// handleWholeRun registers them, and a workflow that tells whom its run failed for.
func handleWholeRun(n *runtime.Node) {
	runtime.Handle(n, tenancy, tenancies, nil)
	runtime.Handle(n, overtime, overtimes, nil)
	runtime.Handle(n, mend, func(ctx workflow.Context, f workflow.FailedRun) (string, error) {
		return f.Run.String() + " " + f.Key + " " + f.Failure.Type + " " + ctx.Info().Headers["tenant"], nil
	}, nil)
}

// wholeRun checks what a start says of the whole run, on a node with handleWholeRun. restart ends
// the node and returns another one.
func wholeRun(t *testing.T, n *runtime.Node, restart func() *runtime.Node) {
	t.Helper()
	ctx := clustertest.Context(t)
	headers := map[string]string{"tenant": "acme", "baggage": "user=eve,plan=gold"}
	started, err := runtime.Start(ctx, n.Client(), tenancy, 2, &runtime.StartOptions{Headers: headers})
	want := maps.Clone(headers)
	want["by"] = "a parent"
	if diff := cmp.Diff(want, clustertest.MustResult(t, clustertest.MustStart(t, started, err))); diff != "" {
		t.Errorf("headers of a grandchild's step (-want +got):\n%s", diff)
	}
	for _, how := range []string{"in a step", "for a signal"} {
		o := &runtime.StartOptions{Key: how, Timeout: 700 * time.Millisecond, OnFailure: string(mend), Headers: headers}
		run, err := runtime.Start(ctx, n.Client(), overtime, how, o)
		clustertest.MustStart(t, run, err)
		if how != "in a step" { // it is parked, and its time is up when its node is gone
			clustertest.Parked(t, n.Client(), run.ID())
			n = restart()
		}
		run = runtime.RunOf(n.Client(), overtime, run.ID())
		_, err = run.Result(ctx)
		if !errors.Is(err, workflow.ErrTimeout) || !strings.Contains(err.Error(), "the run's time of 700ms is up") {
			t.Errorf("%s: %v", how, err)
		}
		d, err := n.Client().Describe(ctx, run.ID())
		if err != nil || d.Run.Status != journal.Failed || d.Run.ClosedAt.Sub(d.Run.StartAt) < 700*time.Millisecond {
			t.Errorf("%s: %s after %s, %v", how, d.Run.Status, d.Run.ClosedAt.Sub(d.Run.StartAt), err)
		}
		if kinds := clustertest.Kinds(t, n.Client(), run.ID()); clustertest.Count(kinds, journal.CancelRequested) != 1 ||
			kinds[len(kinds)-2] != journal.StepCompleted {
			t.Errorf("%s: it has not cleaned up: %v", how, kinds)
		}
		list, err := n.Client().List(ctx, journal.ListFilter{Parent: run.ID()})
		if err != nil || len(list.Runs) != 1 {
			t.Fatalf("%s: started on failure: %+v, %v", how, list, err)
		}
		got := clustertest.MustResult(t, runtime.RunOf(n.Client(), mend, list.Runs[0].ID))
		if want := run.ID().String() + " " + how + " reprise.Timeout acme"; got != want {
			t.Errorf("%s: started on failure with %q, want %q", how, got, want)
		}
	}
}

// TestWholeRun: headers reach steps and children through generations; a run whose time is up cleans
// up and fails, also when its node is gone meanwhile; a failed run starts what its start names.
func TestWholeRun(t *testing.T) {
	c := clustertest.New(t)
	n := c.Run(nil, handleWholeRun)
	wholeRun(t, n.Node, func() *runtime.Node {
		n.Stop()
		return c.Run(nil, handleWholeRun).Node
	})
}

func TestWholeRunOnSQLite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "reprise.db")
	n, stop := clustertest.SQLiteNode(t, path, &clustertest.Log{}, handleWholeRun)
	wholeRun(t, n, func() *runtime.Node {
		stop()
		n, stop = clustertest.SQLiteNode(t, path, &clustertest.Log{}, handleWholeRun)
		return n
	})
}

// TestHandleTimeout: it counts for runs whose start gave them no time, also for those that were
// open before the node had it.
func TestHandleTimeout(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	n := c.Run(nil, handleWholeRun)
	own, err := runtime.Start(ctx, n.Client(), overtime, "", &runtime.StartOptions{Timeout: time.Hour})
	clustertest.MustStart(t, own, err)
	run, err := runtime.Start(ctx, n.Client(), overtime, "", nil)
	clustertest.MustStart(t, run, err)
	for _, r := range []*runtime.Run[string]{own, run} {
		clustertest.Parked(t, n.Client(), r.ID())
	}
	n.Stop()
	n = c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, overtime, overtimes, &runtime.HandleOptions{Timeout: time.Millisecond})
	})
	// A parked run is looked at when something comes for it; a node that is new to it has read its history then.
	if err := runtime.Signal(ctx, n.Client(), run.ID(), mended, "", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := runtime.RunOf(n.Client(), overtime, run.ID()).Result(ctx); !errors.Is(err, workflow.ErrTimeout) {
		t.Errorf("got %v", err)
	}
	if err := runtime.Signal(ctx, n.Client(), own.ID(), mended, "", nil); err != nil {
		t.Fatal(err)
	}
	clustertest.Described(t, n.Client(), own.ID(), "the other signal is received", func(d *runtime.Description) bool {
		return clustertest.Count(clustertest.Kinds(t, n.Client(), own.ID()), journal.SignalReceived) == 1
	})
	if d := clustertest.Parked(t, n.Client(), own.ID()); d.Run.Status != journal.Open {
		t.Errorf("a run with a time of its own is %s", d.Run.Status)
	}
}

// TestStartRefusesWhatNoRunCanHave: before anything is stored, with the limit.
func TestStartRefusesWhatNoRunCanHave(t *testing.T) {
	c := clustertest.New(t)
	client := runtime.NewClient(c.Open(nil), nil)
	many := map[string]string{}
	for i := range journal.HeadersMax + 1 {
		many[string(rune('a'+i))] = ""
	}
	for want, o := range map[string]runtime.StartOptions{
		"timeout -1s":  {Timeout: -time.Second},
		"header":       {Headers: map[string]string{"a": "\n"}},
		"headers: 65 ": {Headers: many},
		"16384":        {Headers: map[string]string{"a": strings.Repeat("x", journal.HeadersBytesMax)}},
		"on failure":   {OnFailure: strings.Repeat("x", journal.NameBytesMax+1)},
	} {
		_, err := runtime.Start(clustertest.Context(t), client, overtime, "", &o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
		var limit *journal.LimitError
		if !errors.Is(err, journal.ErrInvalid) && !errors.As(err, &limit) {
			t.Errorf("%v is neither ErrInvalid nor a LimitError", err)
		}
	}
}
