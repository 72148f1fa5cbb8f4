package runtime_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
)

// A query tells what is stored, also when the store has gone back to before what the last query
// saw: events that another history has taken the place of, and messages that nobody had consumed.
func TestQueryAfterTheStoreWentBack(t *testing.T) {
	for name, queue := range map[string]string{"events": "", "messages": "another"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := memory.New(nil)
				n := runtime.NewNode(journal.New(s, nil), nil)
				runtime.Handle(n, meter, metered(new(atomic.Int32)), &runtime.HandleOptions{Queue: queue})
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- n.Run(ctx) }()
				client := runtime.NewClient(journal.New(s.Peer(), nil), nil)
				run, err := runtime.Start(ctx, client, meter, 0, nil)
				if err != nil {
					t.Fatal(err)
				}
				send := func(v int) {
					t.Helper()
					if err := runtime.Signal(ctx, client, run.ID(), number, v, nil); err != nil {
						t.Fatal(err)
					}
					time.Sleep(10 * time.Second) // the bubble's: a node that serves the queue has consumed it
				}
				want := func(sum int) {
					t.Helper()
					if got := ask(t, n, run.ID(), read, 0); got != sum {
						t.Errorf("got %d, want %d", got, sum)
					}
				}
				send(10)
				mark := s.Mark()
				send(5)
				want(15)
				s.GoBack(mark)
				want(10)
				send(5)
				send(5)
				want(20)
				s.GoBack(mark)
				send(1)
				send(2)
				send(3)
				want(16)
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				time.Sleep(time.Minute) // what outlives a node has ended
			})
		})
	}
}
