package bulk_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// BenchmarkBulkCancel cancels runs that wait for a signal, on Postgres. One node executes the job
// and the runs, which end by it. requests/s is how fast the job was, closed/s when the last run had
// ended.
func BenchmarkBulkCancel(b *testing.B) {
	const n = 5000
	ctx, stop := context.WithCancel(context.Background())
	store, err := postgres.Open(ctx, pgtest.New(b), nil)
	if err != nil {
		b.Fatal(err)
	}
	node := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: silent})
	handleParcels(node)
	bulk.Handle(node)
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	defer func() {
		stop()
		<-ended
		store.Close()
	}()
	c := node.Client()
	var told, closed time.Duration
	rounds := 0
	for b.Loop() {
		b.StopTimer()
		for range n / 500 {
			startMany(b, c, 500)
		}
		clustertest.Until(b, "all runs wait", func() bool {
			runs, _, err := c.Count(ctx, journal.ListFilter{Where: `status = open and waiting = "signal scanned"`}, 0)
			return err == nil && runs == n
		})
		rounds++
		b.StartTimer()
		began := time.Now()
		job, err := bulk.Start(ctx, c, bulk.Job{Verb: bulk.Cancel, Where: `workflow = "parcel"`}, nil)
		if got := clustertest.MustResult(b, clustertest.MustStart(b, job, err)); got.Done != n {
			b.Fatalf("%+v, want %d done", got, n)
		}
		told += time.Since(began)
		clustertest.Until(b, "all runs have ended", func() bool { return len(find(b, c, `status = open`)) == 0 })
		closed += time.Since(began)
	}
	b.ReportMetric(float64(rounds*n)/told.Seconds(), "requests/s")
	b.ReportMetric(float64(rounds*n)/closed.Seconds(), "closed/s")
}

// startMany starts runs at the same time, as one transaction.
func startMany(b *testing.B, c *runtime.Client, n int) {
	b.Helper()
	var all sync.WaitGroup
	for range n {
		all.Go(func() { startParcels(b, c, "7", 1) })
	}
	all.Wait()
}
