package bulk_test

import (
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// process executes jobs until it is killed.
var process = clustertest.Process{
	Env: "REPRISE_TEST_BULK_CHILD", Options: runtime.NodeOptions{Lease: 1500 * time.Millisecond}, Handle: bulk.Handle,
}

// TestKilled: all nodes are killed amid a page, twice. Each run is acted on once nevertheless: one
// that an operator has resumed behind the job is not paused again, and none gets a second signal.
func TestKilled(t *testing.T) {
	c := clustertest.New(t)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, &runtime.ClientOptions{Actor: "eva", Logger: c.Options().Logger})
	const n, kills = 300, 2
	runs := startParcels(t, client, "7", n) // which no node serves: nothing but the jobs changes them
	pause, err := bulk.Start(ctx, client, bulk.Job{Verb: bulk.Pause, Where: `shop = "7"`, Reason: "killed", Rate: 100}, nil)
	clustertest.MustStart(t, pause, err)
	signal, err := bulk.Start(ctx, client, bulk.Job{Verb: bulk.Signal, Signal: "scanned", All: true, Rate: 100}, nil)
	clustertest.MustStart(t, signal, err)
	resumed := map[journal.RunID]bool{}
	for i := range kills {
		first, second := process.Start(c), process.Start(c)
		clustertest.Until(t, "the jobs are amid the page", func() bool { return len(auditOf(t, client, "pause")) >= (i+1)*n/(kills+1) })
		first()
		second()
		if done := len(auditOf(t, client, "pause")); done == n {
			t.Error("the page was over before the nodes were killed")
		}
		for _, run := range find(t, client, `status = "paused"`) {
			resumed[run.ID] = true
			if err := client.Resume(runtime.WithActor(ctx, "otto"), run.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
	process.Start(c)
	for _, job := range []*runtime.Run[bulk.Progress]{pause, signal} {
		if got := clustertest.MustResult(t, job); got.Done != n || got.Runs != n || got.NotNeeded != 0 || got.Failed != 0 {
			t.Errorf("the job says %+v, want %d done", got, n)
		}
	}
	wantOnce(t, client, "pause", runs, "eva", because(pause.ID(), "killed"))
	if len(resumed) < n/(kills+1) {
		t.Errorf("%d runs were resumed behind the job", len(resumed))
	}
	wantFound(t, client, `status = "paused"`, n-len(resumed))
	for _, run := range runs {
		if d, err := client.Describe(ctx, run); err != nil || d.Unread != 1 {
			t.Errorf("run %s has %d messages, %v, want one", run, d.Unread, err)
		}
	}
}
