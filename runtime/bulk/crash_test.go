package bulk_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/journaltest/faulty"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// TestEveryCrash: with a crash at every commit, so that each page is repeated in one of the runs of
// this test, the job does and tells the same. Pages have five runs.
func TestEveryCrash(t *testing.T) {
	for _, verb := range []bulk.Verb{bulk.Terminate, bulk.Delete, bulk.Cancel} {
		t.Run(string(verb), func(t *testing.T) {
			runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
				e.Register(bulk.Handle)
				ctx, c := runtime.WithActor(context.Background(), "eva"), e.Client()
				runs := startParcels(e, c, "7", 12)
				for _, run := range runs {
					if verb == bulk.Delete {
						if err := c.Terminate(ctx, run, ""); err != nil {
							e.Fatal(err)
						}
					}
				}
				job, err := bulk.Start(ctx, c, bulk.Job{Verb: verb, Where: `shop = "7"`, Reason: "crash", Rate: 0.5}, nil)
				got := clustertest.MustResult(e, clustertest.MustStart(e, job, err))
				if got.Done != 12 || got.Runs != 12 || got.NotNeeded != 0 || got.Failed != 0 {
					e.Errorf("the job says %+v, want 12 done", got)
				}
				if verb != bulk.Cancel {
					wantOnce(e, c, string(verb), runs, "eva", because(job.ID(), "crash"))
					return
				}
				for _, run := range runs {
					if d, err := c.Describe(ctx, run); err != nil || d.Unread != 1 {
						e.Errorf("run %s has %d messages, %v, want one request to cancel", run, d.Unread, err)
					}
				}
			})
		})
	}
}

// TestLostAnswers: a store that acts and then loses its answer is asked again, and what it has done
// counts as done, once.
func TestLostAnswers(t *testing.T) {
	for _, verb := range []bulk.Verb{bulk.Terminate, bulk.Delete, bulk.Pause, bulk.Resume} {
		lossy(t, verb, func(*runtime.Client, []journal.RunID) {}, func(c *runtime.Client, runs []journal.RunID, job journal.RunID, got bulk.Progress) {
			if got.Done != 20 || got.NotNeeded != 0 || got.Failed != 0 {
				t.Errorf("%s says %+v, want 20 done", verb, got)
			}
			wantOnce(t, c, string(verb), runs, "eva", because(job, "lost"))
		})
	}
}

// TestOthersMeanwhile: what somebody else has done to a run of the page is not the job's, also if
// the page is repeated.
func TestOthersMeanwhile(t *testing.T) {
	meanwhile := func(c *runtime.Client, runs []journal.RunID) {
		if err := c.Terminate(runtime.WithActor(context.Background(), "eva"), runs[0], "I am faster"); err != nil {
			t.Error(err)
		}
	}
	lossy(t, bulk.Terminate, meanwhile, func(c *runtime.Client, runs []journal.RunID, job journal.RunID, got bulk.Progress) {
		if got.Done != 19 || got.NotNeeded != 1 || got.Failed != 0 {
			t.Errorf("the job says %+v, want 19 done", got)
		}
		wantOnce(t, c, "terminate", runs[1:], "eva", because(job, "lost"))
	})
}

// lossy executes a job on 20 runs, newest first, one at a time, on a store that loses an answer in
// seven. meanwhile is called amid the page.
func lossy(t *testing.T, verb bulk.Verb, meanwhile func(*runtime.Client, []journal.RunID), check func(*runtime.Client, []journal.RunID, journal.RunID, bulk.Progress)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(nil)
		defer store.Close()
		c, ctx := runtime.NewClient(journal.New(store, nil), &runtime.ClientOptions{Logger: silent}), runtime.WithActor(context.Background(), "eva")
		runs := startParcels(t, c, "7", 20)
		for _, run := range runs {
			if verb == bulk.Delete {
				if err := c.Terminate(ctx, run, ""); err != nil {
					t.Fatal(err)
				}
			}
		}
		loses := faulty.New(store, &faulty.Options{Decide: func(call faulty.Call) faulty.Fault {
			switch {
			case call.Verb != "admin":
			case call.Nth == 3:
				meanwhile(c, runs)
			case call.Nth%7 == 0:
				return faulty.After
			}
			return faulty.None
		}})
		stop := serve(t, loses)
		job, err := bulk.Start(ctx, c, bulk.Job{Verb: verb, Where: `shop = "7"`, Reason: "lost", Concurrency: 1}, nil)
		got := clustertest.MustResult(t, clustertest.MustStart(t, job, err))
		stop()
		if loses.Faults() == 0 {
			t.Error("no answer was lost")
		}
		check(c, runs, job.ID(), got)
	})
}
