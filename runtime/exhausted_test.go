package runtime_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const fare workflow.Name[string, string] = "fare"

// fares are workflows whose step fails until the till is mended.
type fares struct{ mended atomic.Bool }

func (f *fares) handle(n *runtime.Node) {
	o := &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Millisecond, Max: time.Millisecond, Attempts: 2}, OnExhausted: workflow.PauseRun}
	runtime.Handle(n, fare, func(ctx workflow.Context, to string) (string, error) {
		return workflow.Step(ctx, "charge", func(context.Context) (string, error) {
			if f.mended.Load() {
				return "paid to " + to, nil
			}
			return "", errors.New("the till is shut")
		}, o)
	}, nil)
}

// A step that may not be tried again pauses its run on each store, and everybody who looks hears why.
func TestExhaustedStep(t *testing.T) {
	t.Run("Postgres", func(t *testing.T) {
		c, f := clustertest.New(t), new(fares)
		first := c.RunMortal(f.handle)
		client := runtime.NewClient(c.Journal, nil)
		run := pausesItself(t, client)
		wantLine(t, c, "a step may not be tried again, and its run is paused; mend what it calls, and resume the run",
			"level=WARN", "reprise.step=charge", "reprise.attempt=2", run.ID().String(), "the till is shut")
		first.Die()
		n := c.Run(nil, f.handle)
		f.goOn(t, client, run)
		n.Stop()
	})
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		f, path := new(fares), filepath.Join(t.TempDir(), "reprise.db")
		n, stop := clustertest.SQLiteNode(t, path, &clustertest.Log{}, f.handle)
		run := pausesItself(t, n.Client())
		stop()
		n, _ = clustertest.SQLiteNode(t, path, &clustertest.Log{}, f.handle)
		f.goOn(t, n.Client(), run)
	})
}

func pausesItself(t *testing.T, client *runtime.Client) *runtime.Run[string] {
	ctx := clustertest.Context(t)
	started, err := runtime.Start(ctx, client, fare, "Rome", nil)
	run := clustertest.MustStart(t, started, err)
	wantState(t, client, run.ID(), journal.Paused, false)
	const cause = "step charge is exhausted after 2 attempts: the till is shut"
	r, e := whyOf(t, client, run.ID(), runtime.ReasonPaused)
	if r.Text != "the runtime has paused it: "+cause || r.Since.IsZero() || !strings.Contains(r.Remedy, "a new set of attempts") || e.Reasons[0].Kind != r.Kind {
		t.Errorf("why: %+v", e.Reasons)
	}
	if step, _ := whyOf(t, client, run.ID(), runtime.ReasonStep); !strings.Contains(step.Text, "no further attempt before a resume") || step.Remedy != "" {
		t.Errorf("why: %+v", step)
	}
	d, err := client.Describe(ctx, run.ID())
	if err != nil || len(d.Steps) != 1 || !d.Steps[0].Exhausted || d.Steps[0].Attempts != 2 {
		t.Errorf("described as %+v, %v", d, err)
	}
	list, err := client.Audit(ctx, journal.AuditFilter{Run: run.ID()})
	if err != nil || len(list) != 1 || list[0].Actor != journal.ActorRuntime || list[0].Verb != "pause" || list[0].Reason != cause {
		t.Errorf("audit: %+v, %v", list, err)
	}
	return run
}

// goOn resumes a run in vain, then mends the till and resumes it once more.
func (f *fares) goOn(t *testing.T, client *runtime.Client, run *runtime.Run[string]) {
	ctx := clustertest.Context(t)
	if err := client.Resume(ctx, run.ID()); err != nil {
		t.Fatal(err)
	}
	clustertest.Described(t, client, run.ID(), "it is paused again", func(d *runtime.Description) bool {
		return d.Run.Task.State == journal.Paused && len(d.Steps) == 1 && d.Steps[0].Exhausted && d.Steps[0].Attempts == 4
	})
	f.mended.Store(true)
	if err := client.Resume(ctx, run.ID()); err != nil {
		t.Fatal(err)
	}
	handle := runtime.RunOf(client, fare, run.ID())
	if got, err := handle.Result(ctx); err != nil || got != "paid to Rome" {
		t.Errorf("the result is %q, %v", got, err)
	}
	list, err := client.Audit(ctx, journal.AuditFilter{Run: run.ID()})
	if err != nil || len(list) != 4 {
		t.Errorf("audit: %+v, %v", list, err)
	}
}
