package bulk_test

import (
	"testing"

	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// TestHeldRun: a run that somebody's transaction holds fails alone. The job goes on with the
// others, and ends.
func TestHeldRun(t *testing.T) {
	c := clustertest.New(t)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, &runtime.ClientOptions{Logger: silent})
	runs := startParcels(t, client, "7", 5) // which no node serves
	tx, err := c.Connect().Begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(ctx) }()
	if _, err := tx.Exec(ctx, `SELECT FROM reprise.runs r JOIN reprise.tasks t ON t.run_id = r.id WHERE r.id = $1 FOR UPDATE`, runs[2]); err != nil {
		t.Fatal(err)
	}
	c.Run(nil, bulk.Handle)
	var jobs []*runtime.Run[bulk.Progress]
	for _, job := range []bulk.Job{
		{Verb: bulk.SetPriority, All: true, Priority: 1}, {Verb: bulk.Pause, All: true}, {Verb: bulk.Cancel, All: true},
		{Verb: bulk.SetLabels, All: true, Labels: map[string]string{"ticket": "OPS-17"}},
	} {
		run, err := bulk.Start(ctx, client, job, nil)
		jobs = append(jobs, clustertest.MustStart(t, run, err))
	}
	for _, job := range jobs {
		got := clustertest.MustResult(t, job)
		if got.Done != 4 || got.Failed != 1 || len(got.Failures) != 1 || got.Failures[0].Run != runs[2] {
			t.Errorf("%s says %+v, want four done and a failure of run %s", got.Verb, got, runs[2])
		}
	}
}
