package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// sheet is what a tome has seen so far.
type sheet struct {
	Want  int   `json:"want"`  // signals to receive in all
	Got   []int `json:"got"`   // the newest value of each sender
	Count int   `json:"count"` // received so far
}

const tome workflow.Name[sheet, sheet] = "ledger"

// tomes receive numbered signals of several senders, ten in a generation. A value that is not its
// sender's next one fails the run.
func tomes(ctx workflow.Context, s sheet) (sheet, error) {
	for n := 0; s.Count < s.Want; n++ {
		if n == 10 {
			return s, workflow.ContinueAsNew(ctx, tome, s, nil)
		}
		v, err := number.Receive(ctx)
		if err != nil {
			return s, err
		}
		from, value := v%len(s.Got), v/len(s.Got)
		if value != s.Got[from]+1 {
			return s, fmt.Errorf("in generation %d, sender %d: %d after %d", ctx.Info().Generation, from, value, s.Got[from])
		}
		s.Got[from]++
		s.Count++
	}
	return s, nil
}

func handleTome(n *runtime.Node) { runtime.Handle(n, tome, tomes, nil) }

// flood has senders send numbered signals to a tome, each in order, and returns when all are
// acknowledged.
func flood(t *testing.T, client *runtime.Client, run journal.RunID, senders, each int, sent *atomic.Int32) {
	t.Helper()
	ctx := clustertest.Context(t)
	var wg sync.WaitGroup
	for from := range senders {
		wg.Go(func() {
			for i := 1; i <= each; i++ {
				// Between two generations the run is there as well: no signal gets ErrNotFound.
				if err := runtime.Signal(ctx, client, run, number, i*senders+from, nil); err != nil {
					t.Errorf("signal %d of sender %d: %v", i, from, err)
					return
				}
				sent.Add(1)
			}
		})
	}
	wg.Wait()
}

// Numbered signals reach a run that begins a new generation every ten of them, while its nodes are
// restarted and die: each is received once and in the order of its sender, no generation waits for
// the storm to end, and no sender is turned away.
func TestSignalsAcrossGenerationsAndNodes(t *testing.T) {
	c := clustertest.New(t)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	const senders, each = 4, 500
	last := c.RunMortal(handleTome)
	started, err := runtime.Start(ctx, client, tome, sheet{Want: senders * each, Got: make([]int, senders)}, nil)
	run := clustertest.MustStart(t, started, err)
	var sent atomic.Int32
	over := make(chan struct{})
	go func() {
		defer close(over)
		flood(t, client, run.ID(), senders, each, &sent)
	}()
	for i := range 6 {
		clustertest.Until(t, "more was sent", func() bool { return sent.Load() >= int32((i+1)*senders*each/8) || t.Failed() })
		fresh := c.RunMortal(handleTome)
		if i%3 == 2 {
			last.Die()
		}
		last.Stop()
		last = fresh
	}
	<-over
	got := clustertest.MustResult(t, run)
	for from, n := range got.Got {
		if n != each {
			t.Errorf("%d signals of sender %d, want %d", n, from, each)
		}
	}
	if d, err := client.Describe(ctx, run.ID()); err != nil || d.Run.Generation != senders*each/10 || d.Unread != 0 {
		t.Errorf("generation %d, %d unread, %v", d.Run.Generation, d.Unread, err)
	}
}

// The commit that ends a generation fails, or its answer is lost. What ran ahead in memory is
// thrown away; nothing is received twice.
func TestGenerationWhoseCommitFails(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	store := &clustertest.Intercepted{Store: c.Store(c.DSN, nil)}
	n := c.RunOn(journal.New(store, nil), nil, handleTome)
	var failed atomic.Int32
	store.BeforeCommit(func(_ context.Context, commits []driver.Commit) error {
		for i := range commits {
			if commits[i].Continue != nil && failed.Add(1)%2 == 1 {
				return errors.Join(errors.New("the connection broke"), journal.ErrUnavailable)
			}
		}
		return nil
	})
	started, err := runtime.Start(ctx, n.Client(), tome, sheet{Want: 100, Got: make([]int, 2)}, nil)
	run := clustertest.MustStart(t, started, err)
	flood(t, n.Client(), run.ID(), 2, 50, new(atomic.Int32))
	if got := clustertest.MustResult(t, run); got.Count != 100 || failed.Load() < 10 {
		t.Errorf("%+v after %d commits", got, failed.Load())
	}
}

// Signals that nobody read come first in the next generation, in order, whatever their number and
// however often they are carried over.
func TestUnreadSignalsComeFirst(t *testing.T) {
	const lazy workflow.Name[int, []int] = "lazy" // reads nothing for some generations
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, lazy, func(ctx workflow.Context, left int) ([]int, error) {
			if left > 0 {
				if err := workflow.Await(ctx, func() bool { return number.Pending(ctx) >= 10*(4-left) }); err != nil {
					return nil, err
				}
				return nil, workflow.ContinueAsNew(ctx, lazy, left-1, nil)
			}
			var got []int
			for range 40 {
				v, err := number.Receive(ctx)
				if err != nil {
					return nil, err
				}
				got = append(got, v)
			}
			return got, nil
		}, nil)
	})
	started, err := runtime.Start(ctx, n.Client(), lazy, 3, nil)
	run := clustertest.MustStart(t, started, err)
	for i := range 40 {
		// A key deduplicates across generations.
		for range 2 {
			if err := runtime.Signal(ctx, n.Client(), run.ID(), number, i, &runtime.SignalOptions{Key: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, v := range clustertest.MustResult(t, run) {
		if v != i {
			t.Fatalf("signal %d came at position %d", v, i)
		}
	}
	d, err := n.Client().Describe(ctx, run.ID())
	if err != nil || d.Run.Generation != 4 || d.Unread != 0 {
		t.Errorf("generation %d, %d unread, %v", d.Run.Generation, d.Unread, err)
	}
}

// Messages that were carried over and are too large for one load come in several, in order, and
// none is passed over because the generation before had got newer ones.
func TestLargeCarriedSignals(t *testing.T) {
	const slow workflow.Name[int, []int] = "slow" // takes its signals in its second generation
	var large workflow.Signal[string] = "large"
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Node.PassivateAlways = true
		runtimetest.Handle(e, slow, func(ctx workflow.Context, generation int) (got []int, err error) {
			if generation == 1 {
				if err := workflow.Await(ctx, func() bool { return large.Pending(ctx) == 4 }); err != nil {
					return nil, err
				}
				return nil, workflow.ContinueAsNew(ctx, slow, 2, nil)
			}
			for len(got) < 4 {
				v, err := large.Receive(ctx)
				if err != nil {
					return nil, err
				}
				got = append(got, int(v[0]-'a'))
			}
			return got, nil
		}, nil)
		r := runtimetest.Start(e, slow, 1, nil)
		for i := range 4 {
			runtimetest.Signal(e, r.ID(), large, strings.Repeat(string(rune('a'+i)), 200<<10), nil)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if got, err := r.Run.Result(ctx); err != nil || !slices.Equal(got, []int{0, 1, 2, 3}) {
			t.Errorf("the carried signals came as %v, %v", got, err)
			_ = e.Client().Terminate(context.Background(), r.ID(), "the test is over")
		}
	})
}

// The result of a run is that of its last generation, for whoever waits since the first. A
// generation may be of another version, which another node serves.
func TestGenerationOfAnotherVersion(t *testing.T) {
	c := clustertest.New(t)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, greet, func(ctx workflow.Context, in string) (string, error) {
			if err := step(ctx, "old"); err != nil {
				return "", err
			}
			return "", workflow.ContinueAsNew(ctx, greet, in+" 1", &workflow.ContinueOptions{Version: 2})
		}, nil)
	})
	c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, greet, func(ctx workflow.Context, in string) (string, error) {
			if ctx.Info().Version != 2 || ctx.Info().Key != "k" {
				return "", fmt.Errorf("%+v", ctx.Info())
			}
			return in + " 2", step(ctx, "new")
		}, &runtime.HandleOptions{Version: 2})
	})
	started, err := runtime.Start(ctx, client, greet, "x", &runtime.StartOptions{Key: "k"})
	run := clustertest.MustStart(t, started, err)
	if got := clustertest.MustResult(t, run); got != "x 1 2" {
		t.Errorf("got %q", got)
	}
	again, err := runtime.Start(ctx, client, greet, "x", &runtime.StartOptions{Key: "k"})
	if clustertest.MustStart(t, again, err).ID() != run.ID() {
		t.Error("the key leads elsewhere")
	}
}
