package bulk_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// TestVerbs: on each store, each verb does to the runs of its filter what it says, and to no other;
// a dry run says how many before; the audit says who and why.
func TestVerbs(t *testing.T) {
	both := func(n *runtime.Node) { handleParcels(n); bulk.Handle(n) }
	t.Run("Memory", func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			e.Register(both)
			verbs(e, e.Client())
		})
	})
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		n, _ := clustertest.SQLiteNode(t, filepath.Join(t.TempDir(), "reprise.db"), &clustertest.Log{}, both)
		verbs(t, n.Client())
	})
	t.Run("Postgres", func(t *testing.T) {
		c := clustertest.New(t)
		c.Run(nil, both)
		verbs(t, runtime.NewClient(c.Journal, nil))
	})
}

func verbs(t testing.TB, c *runtime.Client) {
	const n = 7
	ctx := runtime.WithActor(context.Background(), "eva")
	runs, others := startParcels(t, c, "7", n), startParcels(t, c, "8", 3)
	do := func(verb bulk.Verb, where string) journal.RunID {
		t.Helper()
		job := bulk.Job{Verb: verb, Where: where, Reason: "it has closed"}
		if verb == bulk.Signal {
			job.Signal, job.Payload = string(scanned), json.RawMessage(`"by bulk"`)
		}
		if verb == bulk.SetLabels {
			job.Labels, job.RemoveLabels = map[string]string{"ticket": "OPS-17"}, []string{"aisle"}
		}
		if verb == bulk.SetPriority {
			job.Priority = 1
		}
		if verb == bulk.Reset || verb == bulk.Fork {
			job.To = runtime.AfterEvent(1)
		}
		counted, capped, err := bulk.Count(ctx, c, job)
		if err != nil || counted != n || capped {
			t.Errorf("%s: counted %d, %v, %v, want %d", verb, counted, capped, err, n)
		}
		started, err := bulk.Start(ctx, c, job, nil)
		got := clustertest.MustResult(t, clustertest.MustStart(t, started, err))
		want := bulk.Progress{Verb: verb, Runs: n, Done: n}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", verb, d)
		}
		if told, err := bulk.ProgressOf(ctx, c, started.ID()); err != nil || !cmp.Equal(told, want) {
			t.Errorf("%s told %+v, %v, want its result", verb, told, err)
		}
		return started.ID()
	}
	const open = `shop = "7" and status = open`
	paused := do(bulk.Pause, open)
	wantFound(t, c, `status = "paused"`, n)
	wantOnce(t, c, "pause", runs, "eva", because(paused, "it has closed"))
	resumed := do(bulk.Resume, `shop = "7"`)
	wantFound(t, c, `status = "paused"`, 0)
	wantOnce(t, c, "resume", runs, "eva", because(resumed, "it has closed"))
	hastened := do(bulk.SetPriority, `shop = "7"`)
	wantFound(t, c, `shop = "7" and priority = 1`, n)
	wantOnce(t, c, "set-priority", runs, "eva", because(hastened, "it has closed"))
	do(bulk.Signal, `shop = "7"`)
	for _, run := range runs {
		if got := clustertest.MustResult(t, runtime.RunOf(c, parcel, run)); got != "by bulk" {
			t.Errorf("run %s got the signal %q", run, got)
		}
	}
	labelled := do(bulk.SetLabels, `shop = "7" and aisle = "7"`) // also closed ones
	wantFound(t, c, `ticket = "OPS-17" and aisle is not set`, n)
	wantOnce(t, c, "set-labels", runs, "eva", because(labelled, "it has closed"))
	deleted := do(bulk.Delete, `shop = "7"`)
	wantFound(t, c, `shop = "7"`, 0)
	wantOnce(t, c, "delete", runs, "eva", because(deleted, "it has closed"))

	runs = startParcels(t, c, "7", n)
	cancelled := do(bulk.Cancel, open)
	for _, run := range runs {
		_, err := runtime.RunOf(c, parcel, run).Result(ctx)
		if got := clustertest.WantError[*runtime.CancelledError](t, err); !strings.Contains(got.Failure.Message, because(cancelled, "it has closed")) {
			t.Errorf("run %s was cancelled because of %q", run, got.Failure.Message)
		}
	}
	runs = startParcels(t, c, "7", n)
	terminated := do(bulk.Terminate, `shop = "7"`) // the cancelled ones are closed
	wantOnce(t, c, "terminate", runs, "eva", because(terminated, "it has closed"))
	retried := do(bulk.Retry, `shop = "7" and status = "terminated"`)
	wantOnce(t, c, "retry", runs, "eva", because(retried, "it has closed"))
	wantFound(t, c, `shop = "7" and status = open`, n)
	// A retried run is open again before a node has executed the turn that the reset below goes back to.
	clustertest.Until(t, "the retried runs have their first event", func() bool {
		return !slices.ContainsFunc(runs, func(run journal.RunID) bool {
			h, err := c.History(ctx, run)
			return err != nil || len(h) == 0
		})
	})
	reset := do(bulk.Reset, open)
	wantOnce(t, c, "reset", runs, "eva", because(reset, "it has closed"))
	forked := do(bulk.Fork, open) // the forks have the labels of the runs
	wantFound(t, c, open, 2*n)
	wantOnce(t, c, "fork", append(forksOf(t, c, runs), runs...), "eva", because(forked, "it has closed"))
	for _, run := range forksOf(t, c, runs) {
		if err := c.Terminate(ctx, run, "it is a fork"); err != nil {
			t.Error(err)
		}
	}
	do(bulk.Signal, open)
	for _, run := range runs {
		if got := clustertest.MustResult(t, runtime.RunOf(c, parcel, run)); got != "by bulk" {
			t.Errorf("run %s, retried and reset, got the signal %q", run, got)
		}
	}
	wantFound(t, c, `shop = "8" and status = open`, len(others))
}

// forksOf returns the runs of shop 7 that are forks of others.
func forksOf(t testing.TB, c *runtime.Client, runs []journal.RunID) (forks []journal.RunID) {
	t.Helper()
	page, err := c.List(context.Background(), journal.ListFilter{Where: `shop = "7" and status = open`, Limit: journal.ListMax})
	if err != nil {
		t.Fatal(err)
	}
	for i := range page.Runs {
		if r := page.Runs[i].Rewound; r != nil && slices.Contains(runs, r.Run) {
			forks = append(forks, page.Runs[i].ID)
		}
	}
	if len(forks) != len(runs) {
		t.Errorf("%d forks of %d runs", len(forks), len(runs))
	}
	return forks
}

// TestEdits: a step that is tried again and again in many runs is given its result, and is not
// executed any more. A run without such a step stays as it is, and is a failure.
func TestEdits(t *testing.T) {
	const charged workflow.Name[bool, string] = "charged"
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Register(func(n *runtime.Node) {
			bulk.Handle(n)
			runtime.Handle(n, charged, func(ctx workflow.Context, charges bool) (string, error) {
				if !charges {
					return scanned.Receive(ctx)
				}
				return workflow.Step(ctx, "charge", func(context.Context) (string, error) { return "", errors.New("the bank is away") }, nil)
			}, nil)
		})
		ctx, c := runtime.WithActor(context.Background(), "eva"), e.Client()
		var runs []journal.RunID
		for i := range 4 {
			run, err := runtime.Start(ctx, c, charged, i > 0, nil)
			runs = append(runs, clustertest.MustStart(e, run, err).ID())
		}
		synctest.Wait()
		job := bulk.Job{Verb: bulk.Edit, Where: `workflow = "charged"`, Step: "charge", Payload: json.RawMessage(`"at the desk"`), Reason: "by hand"}
		started, err := bulk.Start(ctx, c, job, nil)
		got := clustertest.MustResult(e, clustertest.MustStart(e, started, err))
		if got.Done != 3 || got.Failed != 1 || len(got.Failures) != 1 || got.Failures[0].Run != runs[0] || !strings.Contains(got.Failures[0].Error, `no step "charge"`) {
			e.Errorf("it has done %+v", got)
		}
		for _, run := range runs[1:] {
			if out := clustertest.MustResult(e, runtime.RunOf(c, charged, run)); out != "at the desk" {
				e.Errorf("result %q", out)
			}
		}
		wantOnce(e, c, "edit", runs[1:], "eva", because(started.ID(), "by hand"))
	})
}

// TestAll: a job over all runs leaves those of the runtime's own workflows alone: jobs, itself too,
// and whatever else has such a name.
func TestAll(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Register(bulk.Handle)
		c, ctx := e.Client(), context.Background()
		startParcels(e, c, "7", 3)
		kept, err := runtime.Start(ctx, c, workflow.Name[string, string]("reprise.flow.order"), "", nil)
		clustertest.MustStart(e, kept, err)
		slow, err := bulk.Start(ctx, c, bulk.Job{Verb: bulk.Pause, All: true, Rate: 0.01}, nil)
		clustertest.MustStart(e, slow, err)
		run, err := bulk.Start(ctx, c, bulk.Job{Verb: bulk.Terminate, All: true}, nil)
		if got := clustertest.MustResult(e, clustertest.MustStart(e, run, err)); got.Done != 3 || got.Runs != 3 {
			e.Errorf("%+v, want 3 of 3 runs", got)
		}
		wantFound(e, c, `workflow = "reprise.flow.order" and status = open`, 1)
		clustertest.MustResult(e, slow)
	})
}

// TestLaterRuns: a job does not act on runs that are started behind it, also if it begins late.
func TestLaterRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(nil)
		defer store.Close()
		c := runtime.NewClient(journal.New(store, nil), &runtime.ClientOptions{Logger: silent})
		startParcels(t, c, "7", 20)
		run, err := bulk.Start(context.Background(), c, bulk.Job{Verb: bulk.Terminate, All: true}, nil)
		clustertest.MustStart(t, run, err)
		time.Sleep(time.Second)
		startParcels(t, c, "7", 5)
		stop := serve(t, store)
		if got := clustertest.MustResult(t, run); got.Done != 20 || got.Runs != 20 {
			t.Errorf("%+v, want the 20 runs that were there", got)
		}
		stop()
		wantFound(t, c, `workflow = "parcel" and status = open`, 5)
	})
}

// TestFailures: a run that refuses is counted and named, the first twenty of them, in texts of
// bounded size; one that has ended meanwhile is no failure.
func TestFailures(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		var gone journal.RunID
		wrong := errors.New(strings.Repeat("\x00wrong", 100))
		e.Node.HistoryHint = 4 // a few pages a generation
		e.Node.Interceptors = []runtime.Interceptor{{Client: func(ctx context.Context, call *runtime.Call, next func(context.Context) error) error {
			switch {
			case call.Kind != runtime.TerminateCall:
			case call.Run == gone:
				return journal.ErrNotFound
			default:
				return wrong
			}
			return next(ctx)
		}}}
		e.Register(bulk.Handle)
		c := e.Client()
		gone = startParcels(e, c, "7", 33)[11]
		run, err := bulk.Start(context.Background(), c, bulk.Job{Verb: bulk.Terminate, All: true, Rate: 0.5}, nil)
		got := clustertest.MustResult(e, clustertest.MustStart(e, run, err))
		if got.Failed != 32 || got.NotNeeded != 1 || got.Done != 0 || len(got.Failures) != 20 {
			e.Errorf("%d failures of which %d are told, %d not needed, %d done", got.Failed, len(got.Failures), got.NotNeeded, got.Done)
		}
		for _, f := range got.Failures {
			if f.Run.IsZero() || !strings.Contains(f.Error, "wrong") || strings.Contains(f.Error, "\x00") || len(f.Error) > 210 {
				e.Errorf("failure %+v", f)
			}
		}
		kinds := map[bulk.What]int{}
		for _, o := range outcomesOf(e, c, run.ID(), false, 10) {
			kinds[o.What]++
			if o.Run == gone && o.What != bulk.NotNeeded || len(o.Error) > 210 {
				e.Errorf("outcome %+v", o)
			}
		}
		if kinds[bulk.Failed] != 32 || kinds[bulk.NotNeeded] != 1 || len(kinds) != 2 {
			e.Errorf("the outcomes are %v, want 32 failed and one not needed", kinds)
		}
		if n := len(e.Generations(run.ID())); n < 3 {
			e.Errorf("the job has %d generations, want one for a few pages", n)
		}
		if told, err := bulk.ProgressOf(context.Background(), c, run.ID()); err != nil || told.Failed != 32 {
			e.Errorf("told %+v, %v", told, err)
		}
	})
}
