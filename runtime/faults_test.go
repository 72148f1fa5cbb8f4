package runtime_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/faulty"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/runtime"
)

// weather decides by chance which calls of a store fail, and how, and which hints arrive.
type weather struct {
	mu sync.Mutex
	r  *rand.Rand
}

func (w *weather) draw(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.r.IntN(n)
}

func (w *weather) options() *faulty.Options {
	return &faulty.Options{
		Decide: func(c faulty.Call) faulty.Fault {
			if c.Verb == "leave" || w.draw(8) > 0 {
				return faulty.None
			}
			return []faulty.Fault{faulty.Before, faulty.After, faulty.Unknown}[w.draw(3)]
		},
		Hint: func(driver.Hint) []time.Duration {
			return [][]time.Duration{{0}, {0}, {}, {time.Millisecond, time.Second}}[w.draw(4)]
		},
	}
}

// TestJ4TheLanguageThroughFaults: families, generations, signals, updates and queries, over nodes
// that come and go and die. Every eighth call of the store fails, without a trace, or unheard, or
// happens later than that; many hints are lost. Everything happens once.
func TestJ4TheLanguageThroughFaults(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { throughFaults(t, seed) })
		})
	}
}

func throughFaults(t *testing.T, seed uint64) {
	db := memory.New(nil)
	defer db.Close()
	w := &weather{r: rand.New(rand.NewPCG(seed, 5))}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	live, stop := context.WithCancel(context.Background())
	var nodes []*runtime.Node
	var ended sync.WaitGroup
	join := func(ctx context.Context, peer *memory.Store) *runtime.Node {
		n := runtime.NewNode(journal.New(faulty.New(peer, w.options()), nil), &runtime.NodeOptions{
			Lease: 20 * time.Second, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)), PassivateAlways: seed%3 == 0,
			LiveMax: 5 + w.draw(20),
		})
		handleClan(n)
		handleTill(n)
		handleTome(n)
		ended.Go(func() {
			if err := n.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		return n
	}
	for range 2 {
		nodes = append(nodes, join(live, db.Peer()))
	}
	var guests sync.WaitGroup
	guests.Go(func() { // nodes that come, and leave in order or die
		for live.Err() == nil {
			peer := db.Peer()
			visit, leave := context.WithCancel(live)
			join(visit, peer)
			time.Sleep(time.Duration(1+w.draw(3000)) * time.Millisecond)
			if w.draw(2) == 0 {
				peer.Close()
			}
			leave()
		}
	})
	remote := runtime.NewClient(journal.New(faulty.New(db.Peer(), w.options()), nil), nil)
	clients := []*runtime.Client{nodes[0].Client(), nodes[1].Client(), remote}
	var work sync.WaitGroup
	for i, client := range clients {
		for what, fn := range map[string]func(context.Context, *runtime.Client, *runtime.Node, string) error{
			"family": family, "signals": signals, "updates": updates,
		} {
			work.Go(func() {
				if err := fn(ctx, client, nodes[i%2], fmt.Sprint(what, i)); err != nil {
					t.Errorf("%s by client %d: %v", what, i, err)
				}
			})
		}
	}
	work.Wait()
	stop()
	guests.Wait()
	ended.Wait()
	time.Sleep(time.Minute) // timers of hints that are in flight
}

func family(ctx context.Context, c *runtime.Client, _ *runtime.Node, _ string) error {
	run, err := runtime.Start(ctx, c, clan, -7, nil)
	if err != nil {
		return err
	}
	return wants(ctx, run, 35)
}

func wants(ctx context.Context, run *runtime.Run[int], want int) error {
	got, err := run.Result(ctx)
	if err == nil && got != want {
		err = fmt.Errorf("got %d, want %d", got, want)
	}
	return err
}

// signals sends numbered ones over some generations.
func signals(ctx context.Context, c *runtime.Client, _ *runtime.Node, key string) error {
	const count = 25
	o := &runtime.StartOptions{Key: key}
	var run *runtime.Run[sheet]
	for i := 1; i <= count; i++ {
		r, err := runtime.SignalWithStart(ctx, c, tome, sheet{Want: count, Got: make([]int, 1)}, number, i, o, nil)
		if err != nil {
			return err
		}
		run = r
	}
	got, err := run.Result(ctx)
	if err == nil && got.Count != count {
		err = fmt.Errorf("got %+v", got)
	}
	return err
}

// updates makes payments over some generations, asks, and shuts the till.
func updates(ctx context.Context, c *runtime.Client, n *runtime.Node, key string) error {
	const count = 8
	o := &runtime.StartOptions{Key: key}
	var run *runtime.Run[int]
	for i := 1; i <= count; i++ {
		r, h, err := runtime.UpdateWithStart(ctx, c, till, 0, pay, 1, o, nil)
		if err != nil {
			return err
		}
		run = r
		if got, err := h.Result(ctx); err != nil || got != i {
			return fmt.Errorf("payment %d: %d, %v", i, got, err)
		}
	}
	var got int
	err := journal.ErrUnavailable
	for tries := 0; err != nil && tries < 100; tries++ { // a query is not repeated by itself
		got, err = runtime.Query(ctx, n, run.ID(), read, 0)
	}
	if err != nil || got != count {
		return fmt.Errorf("the query says %d, %v", got, err)
	}
	if err := runtime.Signal(ctx, c, run.ID(), shut, 1, nil); err != nil {
		return err
	}
	return wants(ctx, run, count)
}
