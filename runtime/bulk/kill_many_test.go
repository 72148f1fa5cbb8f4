package bulk_test

import (
	"context"
	"flag"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// many may be raised: 100,000 take some minutes, and bear more kills.
var many = flag.Int("runs", 200, "runs that TestResetsThroughKills resets")

// TestResetsThroughKills: all nodes are killed again and again while a job resets runs. Each run has
// gone back once in the end: it is in its second generation, and the audit has one row for it.
//
// With a job whose runs are the failures of another one it is the same.
func TestResetsThroughKills(t *testing.T) {
	t.Run("Filter", func(t *testing.T) { resetsThroughKills(t, false) })
	t.Run("Failures", func(t *testing.T) { resetsThroughKills(t, true) })
}

func resetsThroughKills(t *testing.T, failures bool) {
	c := clustertest.New(t)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, &runtime.ClientOptions{Actor: "eva", Logger: c.Options().Logger})
	n, kills := *many, 1
	if n > 1000 {
		kills, ctx = 4, context.WithoutCancel(t.Context())
	}
	runs := make([]journal.RunID, n) // which no node serves: nothing but the job changes them
	var starters errgroup.Group
	starters.SetLimit(64)
	for i := range n {
		starters.Go(func() error {
			run, err := runtime.Start(ctx, client, parcel, i, &runtime.StartOptions{Labels: map[string]string{"shop": "7"}})
			if err == nil {
				runs[i] = run.ID()
			}
			return err
		})
	}
	if err := starters.Wait(); err != nil {
		t.Fatal(err)
	}
	anew := bulk.Job{Verb: bulk.Reset, To: runtime.GenerationStart, Where: `shop = "7"`, Reason: "killed"}
	if failures {
		first, err := bulk.Start(ctx, client, bulk.Job{Verb: bulk.Reset, To: runtime.BeforeStep("none"), Unproven: true, Where: anew.Where}, nil)
		stop := process.Start(c)
		if got := clustertest.MustResult(t, clustertest.MustStart(t, first, err)); got.Failed != n {
			t.Fatalf("the job before says %+v, want %d failed", got, n)
		}
		stop()
		anew.Where, anew.FailuresOf = "", first.ID()
	}
	began := time.Now()
	job, err := bulk.Start(ctx, client, anew, nil)
	clustertest.MustStart(t, job, err)
	resets := func() int64 { // numbers of entries grow by one at least
		newest, err := client.Audit(ctx, journal.AuditFilter{Limit: 1})
		if err != nil || len(newest) == 0 {
			return 0
		}
		return newest[0].Number
	}
	for i := range kills {
		first, second := process.Start(c), process.Start(c)
		clustertest.Until(t, "the job goes on", func() bool { return resets() >= int64((i+1)*n/(kills+1)) })
		first()
		second()
	}
	process.Start(c)
	if got, err := job.Result(ctx); err != nil || got.Done != n || got.Runs != n || got.NotNeeded != 0 || got.Failed != 0 {
		t.Errorf("the job says %+v, %v, want %d done", got, err, n)
	}
	t.Logf("%d runs were reset in %s, through %d kills of all nodes", n, time.Since(began).Round(time.Millisecond), kills)
	wantOnce(t, client, "reset", runs, "eva", because(job.ID(), "killed"))
	again := 0
	for _, run := range find(t, client, `shop = "7"`) {
		if run.Generation == 2 && run.Status == journal.Open {
			again++
		}
	}
	if again != n {
		t.Errorf("%d of %d runs are in their second generation", again, n)
	}
}
