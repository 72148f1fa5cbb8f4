package runtime_test

import (
	"context"
	"errors"
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
	"github.com/reprise-run/reprise/replay/workflow"
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
		Held: func(faulty.Call, int, journal.RunID) bool { return w.draw(16) == 0 },
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

// quiet is for journals whose store fails all the time.
func quiet() *journal.Options { return &journal.Options{Logger: slog.New(slog.DiscardHandler)} }

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
		n := runtime.NewNode(journal.New(faulty.New(peer, w.options()), quiet()), &runtime.NodeOptions{
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
	remote := runtime.NewClient(journal.New(faulty.New(db.Peer(), w.options()), quiet()), nil)
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

// TestACallerHearsWhyTheStoreIsAway: a caller who gives up gets the error of its context, and
// behind it what the store has said, whichever call it is.
func TestACallerHearsWhyTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := memory.New(nil)
		defer db.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		run, err := runtime.Start(ctx, runtime.NewClient(journal.New(db.Peer(), nil), nil), greet, "there", nil)
		if err != nil {
			t.Fatal(err)
		}
		away := faulty.New(db.Peer(), &faulty.Options{Decide: func(faulty.Call) faulty.Fault { return faulty.Before }})
		client := runtime.NewClient(journal.New(away, quiet()), nil)
		for name, call := range map[string]func(ctx context.Context) error{
			"start": func(ctx context.Context) error { _, err := runtime.Start(ctx, client, greet, "more", nil); return err },
			"signal": func(ctx context.Context) error {
				return runtime.Signal(ctx, client, run.ID(), workflow.Signal[int]("s"), 1, nil)
			},
			"result": func(ctx context.Context) error {
				_, err := runtime.RunOf(client, greet, run.ID()).Result(ctx)
				return err
			},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			err := call(ctx)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, journal.ErrUnavailable) {
				t.Errorf("%s: %v, want %v and %v", name, err, context.DeadlineExceeded, journal.ErrUnavailable)
			}
		}
	})
}
