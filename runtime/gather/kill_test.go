package gather_test

import (
	"sync"
	"testing"
	"time"

	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/gather"
)

// process executes collectors until it is killed.
var process = clustertest.Process{
	Env: "REPRISE_TEST_GATHER_CHILD", Options: runtime.NodeOptions{Lease: 1500 * time.Millisecond, HistoryHint: 40}, Handle: handleBoth,
}

// TestKilled: all nodes are killed amid the batches, twice, while inputs come. Each input that was
// acknowledged is in one batch, those of a sender in order, and no batch is there twice.
func TestKilled(t *testing.T) {
	c := clustertest.New(t)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, &runtime.ClientOptions{Logger: c.Options().Logger})
	mails := gather.Batch("mails", sum, gather.Rules{Size: 10, Wait: time.Hour})
	const n, kills = senders * each, 2
	var sending sync.WaitGroup
	more := make(chan struct{}, n) // a sender takes one for each input: nodes die while inputs come
	for s := range senders {
		sending.Go(func() {
			for i := range each {
				<-more
				if err := gather.Put(ctx, client, mails, "", s*each+i, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	started := func() int { return len(batches(t, client, "mails", "")) }
	for i := range kills + 1 {
		first, second := process.Start(c), process.Start(c)
		before := started()
		for range n / (kills + 1) {
			more <- struct{}{}
		}
		if i == kills {
			break
		}
		clustertest.Until(t, "a batch has been started", func() bool { return started() > before })
		first()
		second()
	}
	close(more)
	sending.Wait()
	clustertest.Until(t, "all batches have been started", func() bool { return started() >= n/10 })
	wantWhole(t, results(t, client, "mails", ""), n, n/10)
}
