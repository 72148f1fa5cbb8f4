package bulk_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/journaltest/faulty"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// weighed is a workflow in which every second run has a step, and all wait then.
const weighed workflow.Name[int, string] = "weighed"

func handleWeighed(n *runtime.Node) {
	bulk.Handle(n)
	runtime.Handle(n, weighed, func(ctx workflow.Context, i int) (string, error) {
		if i%2 == 0 {
			if _, err := workflow.Step(ctx, "weigh", func(context.Context) (int, error) { return i, nil }, nil); err != nil {
				return "", err
			}
		}
		return scanned.Receive(ctx)
	}, nil)
}

// startWeighed starts n runs, and returns those that have no step, and then those that have, each
// newest first. All wait when it returns.
func startWeighed(t testing.TB, c *runtime.Client, n int) (without, with []journal.RunID) {
	t.Helper()
	for i := range n {
		run, err := runtime.Start(context.Background(), c, weighed, i, nil)
		id := clustertest.MustStart(t, run, err).ID()
		if i%2 == 0 {
			with = append(with, id)
		} else {
			without = append(without, id)
		}
	}
	slices.Reverse(without)
	slices.Reverse(with)
	return without, with
}

// editAll gives the step of all runs a result: those without it fail.
var editAll = bulk.Job{Verb: bulk.Edit, Step: "weigh", Payload: []byte("7"), Where: `workflow = "weighed"`, Unproven: true, Reason: "the scales"}

// outcomesOf reads all outcomes of a job, by small pages.
func outcomesOf(t testing.TB, c *runtime.Client, job journal.RunID, failures bool, limit int) (list []bulk.Outcome) {
	t.Helper()
	for f := (bulk.OutcomeFilter{Failures: failures, Limit: limit}); ; {
		page, err := bulk.Outcomes(context.Background(), c, job, &f)
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Outcomes) > limit {
			t.Errorf("a page has %d outcomes, want %d at most", len(page.Outcomes), limit)
		}
		list = append(list, page.Outcomes...)
		if f.Cursor = page.Next; f.Cursor == "" {
			return list
		}
	}
}

func runsOf(list []bulk.Outcome) (ids []journal.RunID) {
	for _, o := range list {
		ids = append(ids, o.Run)
	}
	return ids
}

// TestOutcomes: on each store, what came of each run of a job is read by page, over all of its
// generations, and another job acts on those that have failed, and on no other.
func TestOutcomes(t *testing.T) {
	t.Run("Memory", func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			e.Node.HistoryHint = 4 // a few pages a generation
			e.Register(handleWeighed)
			tellsOutcomes(e, e.Client(), 1) // pages of ten
		})
	})
	t.Run("ShortPages", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			store := memory.New(nil)
			defer store.Close()
			n := runtime.NewNode(journal.New(faulty.OnePerPage{Store: store}, nil), &runtime.NodeOptions{Logger: silent})
			handleWeighed(n)
			ctx, stop := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() { ended <- n.Run(ctx) }()
			tellsOutcomes(t, n.Client(), 0)
			stop()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		n, _ := clustertest.SQLiteNode(t, filepath.Join(t.TempDir(), "reprise.db"), &clustertest.Log{}, handleWeighed)
		tellsOutcomes(t, n.Client(), 0)
	})
	t.Run("Postgres", func(t *testing.T) {
		c := clustertest.New(t)
		c.Run(nil, handleWeighed)
		tellsOutcomes(t, runtime.NewClient(c.Journal, nil), 0)
	})
}

func tellsOutcomes(t testing.TB, c *runtime.Client, rate float64) {
	const n = 62 // more failures than a job tells in its progress
	ctx := runtime.WithActor(context.Background(), "eva")
	without, with := startWeighed(t, c, n)
	for _, run := range with {
		clustertest.Until(t, "the step has ended", func() bool {
			events, err := c.History(ctx, run)
			return err == nil && slices.ContainsFunc(events, func(ev journal.Event) bool { return ev.Name == "weigh" })
		})
	}
	first := editAll
	first.Rate = rate
	started, err := bulk.Start(ctx, c, first, nil)
	job := clustertest.MustStart(t, started, err)
	if got := clustertest.MustResult(t, job); got.Done != n/2 || got.Failed != n/2 || len(got.Failures) != 20 {
		t.Fatalf("the job says %d done, %d failed and tells %d, want %d, %[4]d and 20", got.Done, got.Failed, len(got.Failures), n/2)
	}
	row := find(t, c, fmt.Sprintf("id = %q", job.ID()))[0]
	if rate > 0 && row.Generation < 3 {
		t.Errorf("the job has %d generations, want several", row.Generation)
	}
	all := outcomesOf(t, c, job.ID(), false, 7)
	for i, o := range all {
		failed := i%2 == 0 // newest first
		if (o.What == bulk.Failed) != failed || (o.What == bulk.Done) == failed || (o.Error != "") != failed || o.At.Before(row.CreatedAt) {
			t.Errorf("outcome %d is %+v", i, o)
		}
	}
	if d := cmp.Diff(without, runsOf(outcomesOf(t, c, job.ID(), true, 7))); d != "" || len(all) != n {
		t.Errorf("of %d outcomes those that failed are (-want +got):\n%s", len(all), d)
	}
	again := bulk.Job{Verb: bulk.Pause, FailuresOf: job.ID(), Reason: "look at them", Rate: rate}
	if err := c.Terminate(ctx, without[3], "no parcel"); err != nil { // which a pause is not for
		t.Fatal(err)
	}
	want := n/2 - 1
	if runs, capped, err := bulk.Count(ctx, c, again); err != nil || runs != want || capped {
		t.Errorf("counted %d, %v, %v, want %d", runs, capped, err, want)
	}
	second, err := bulk.Start(ctx, c, again, nil)
	got := clustertest.MustResult(t, clustertest.MustStart(t, second, err))
	if d := cmp.Diff(bulk.Progress{Verb: bulk.Pause, Runs: want, Done: want}, got); d != "" {
		t.Errorf("the job of failures (-want +got):\n%s", d)
	}
	wantOnce(t, c, "pause", slices.Delete(slices.Clone(without), 3, 4), "eva", because(second.ID(), "look at them"))
	wantFound(t, c, `workflow = "weighed" and status = paused`, want)
}

// TestOutcomesOfAJobThatGoesOn: a job that was aborted and is retried tells each run once.
func TestOutcomesOfAJobThatGoesOn(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Node.HistoryHint = 4
		e.Register(handleWeighed)
		ctx, c := context.Background(), e.Client()
		_, _ = startWeighed(e, c, 40)
		synctest.Wait()
		slow := editAll
		slow.Rate = 0.5
		started, err := bulk.Start(ctx, c, slow, nil)
		job := clustertest.MustStart(e, started, err)
		time.Sleep(33 * time.Second)
		if err := c.Cancel(ctx, job.ID(), "wait"); err != nil {
			e.Fatal(err)
		}
		_, err = job.Result(ctx)
		if !errors.As(err, new(*runtime.CancelledError)) {
			e.Fatalf("the job ended with %v", err)
		}
		before := len(outcomesOf(e, c, job.ID(), false, 3))
		if before == 0 || before == 40 {
			e.Errorf("the aborted job tells %d outcomes, want some", before)
		}
		if _, err := c.Retry(ctx, job.ID(), nil); err != nil {
			e.Fatal(err)
		}
		clustertest.MustResult(e, job)
		list := outcomesOf(e, c, job.ID(), false, 3)
		ids := map[journal.RunID]bool{}
		for _, o := range list {
			ids[o.Run] = true
		}
		if len(list) != 40 || len(ids) != 40 {
			e.Errorf("it tells %d outcomes of %d runs, want 40 of 40", len(list), len(ids))
		}
	})
}

// TestFailuresAtEveryCrash: a job that acts on the failures of another one acts on each once, with a
// crash at every commit.
func TestFailuresAtEveryCrash(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		e.Register(handleWeighed)
		ctx, c := runtime.WithActor(context.Background(), "eva"), e.Client()
		without, _ := startWeighed(e, c, 24)
		synctest.Wait()
		started, err := bulk.Start(ctx, c, editAll, nil)
		job := clustertest.MustStart(e, started, err)
		clustertest.MustResult(e, job)
		second, err := bulk.Start(ctx, c, bulk.Job{Verb: bulk.Terminate, FailuresOf: job.ID(), Reason: "crash", Rate: 0.5}, nil)
		got := clustertest.MustResult(e, clustertest.MustStart(e, second, err))
		if got.Done != len(without) || got.Runs != len(without) || got.Failed+got.NotNeeded != 0 {
			e.Errorf("the job says %+v, want %d done", got, len(without))
		}
		wantOnce(e, c, "terminate", without, "eva", because(second.ID(), "crash"))
	})
}

// TestFailuresOfRefused: a job whose failures are not known, or not yet, is refused with why, and
// nothing is stored; so is a page that is none.
func TestFailuresOfRefused(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Register(handleWeighed)
		ctx, c := context.Background(), e.Client()
		without, _ := startWeighed(e, c, 2)
		slow := editAll
		slow.Rate = 0.001
		open, err := bulk.Start(ctx, c, slow, nil)
		clustertest.MustStart(e, open, err)
		for source, want := range map[journal.RunID]error{open.ID(): journal.ErrOpen, without[0]: journal.ErrInvalid, journal.NewRunID(): journal.ErrNotFound} {
			job := bulk.Job{Verb: bulk.Pause, FailuresOf: source}
			if _, err := bulk.Start(ctx, c, job, nil); !errors.Is(err, want) {
				e.Errorf("started: %v, want %v", err, want)
			}
			if _, _, err := bulk.Count(ctx, c, job); !errors.Is(err, want) {
				e.Errorf("counted: %v, want %v", err, want)
			}
		}
		wantFound(e, c, `workflow = "reprise.bulk"`, 1)
		for _, f := range []bulk.OutcomeFilter{{Cursor: "x"}, {Cursor: "0.1"}, {Cursor: "1.-1"}, {Limit: -1}} {
			if _, err := bulk.Outcomes(ctx, c, open.ID(), &f); !errors.Is(err, journal.ErrInvalid) {
				e.Errorf("a page of %+v: %v, want that it is refused", f, err)
			}
		}
	})
}
