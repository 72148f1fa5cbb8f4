package runtime_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const (
	meter   workflow.Name[int, int]   = "meter"
	read    workflow.Query[int, int]  = "read"
	broken  workflow.Query[int, int]  = "broken"
	writes  workflow.Query[int, int]  = "writes"
	bump    workflow.Update[int, int] = "bump"
	refuse  workflow.Update[int, int] = "refuse"
	endless workflow.Query[int, int]  = "endless"
)

// metered adds up signals until one is 0. It counts how often its code begins: once for each
// replay.
func metered(begun *atomic.Int32) func(workflow.Context, int) (int, error) {
	return func(ctx workflow.Context, sum int) (int, error) {
		begun.Add(1)
		read.Handle(ctx, func(int) (int, error) { return sum, nil })
		broken.Handle(ctx, func(int) (int, error) { panic("oops") })
		writes.Handle(ctx, func(int) (int, error) { return 0, step(ctx, "forbidden") })
		bump.Handle(ctx, func(_ workflow.Context, v int) (int, error) { sum += v; return sum, nil }, nil)
		refuse.Handle(ctx, func(workflow.Context, int) (int, error) { sum += 1000; return sum, nil },
			&workflow.UpdateOptions[int]{Validate: func(int) error { return errors.New("never") }})
		for {
			v, err := number.Receive(ctx)
			if err != nil || v == 0 {
				return sum, err
			}
			sum += v
		}
	}
}

func handleMeter(begun *atomic.Int32) func(n *runtime.Node) {
	return func(n *runtime.Node) { runtime.Handle(n, meter, metered(begun), nil) }
}

// spare is a node with the code that does not run.
func spare(c *clustertest.Cluster, register func(n *runtime.Node)) *runtime.Node {
	n := runtime.NewNode(c.Open(nil), c.Options())
	register(n)
	return n
}

func ask[Arg, Res any](t testing.TB, n *runtime.Node, run journal.RunID, q workflow.Query[Arg, Res], arg Arg) Res {
	t.Helper()
	res, err := runtime.Query(clustertest.Context(t), n, run, q, arg)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// A query is answered before a node has the run, while it is parked, with messages that nobody has
// taken, and after its end. It leaves no trace.
func TestQueryAtEveryTimeOfARun(t *testing.T) {
	c := clustertest.New(t)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	var begun atomic.Int32
	spare := spare(c, handleMeter(&begun))
	started, err := runtime.Start(ctx, client, meter, 1, nil)
	run := clustertest.MustStart(t, started, err)
	if got := ask(t, spare, run.ID(), read, 0); got != 1 {
		t.Errorf("before any node: %d", got)
	}
	send := func(v int) {
		t.Helper()
		if err := runtime.Signal(ctx, client, run.ID(), number, v, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		send(10)
		if got := ask(t, spare, run.ID(), read, 0); got != 11+10*i {
			t.Errorf("after %d signals that nobody took: %d", i+1, got)
		}
	}
	for _, u := range []workflow.Update[int, int]{refuse, bump} {
		if _, err := runtime.SendUpdate(ctx, client, run.ID(), u, 100, nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := ask(t, spare, run.ID(), read, 0); got != 131 {
		t.Errorf("after an update that will be refused and one that will not: %d", got)
	}
	if d, err := client.Describe(ctx, run.ID()); err != nil || d.Events != 0 || d.Unread != 5 || d.Run.Task.Turn != 0 || d.Run.Task.Fence != 0 {
		t.Errorf("queries left a trace: %+v, %v", d, err)
	}
	n := c.Run(nil, handleMeter(&begun))
	clustertest.Parked(t, client, run.ID())
	if got := ask(t, n.Node, run.ID(), read, 0); got != 131 {
		t.Errorf("while parked: %d", got)
	}
	turn := clustertest.Parked(t, client, run.ID()).Run.Task.Turn
	for range 5 {
		ask(t, n.Node, run.ID(), read, 0)
		ask(t, spare, run.ID(), read, 0)
	}
	if d := clustertest.Parked(t, client, run.ID()); d.Run.Task.Turn != turn {
		t.Errorf("queries made %d turns", d.Run.Task.Turn-turn)
	}
	send(0)
	if got := clustertest.MustResult(t, run); got != 131 {
		t.Errorf("got %d", got)
	}
	if got := ask(t, n.Node, run.ID(), read, 0) + ask(t, spare, run.ID(), read, 0); got != 262 {
		t.Errorf("after the end: %d", got)
	}
}

// Acknowledged means visible: a query that follows a signal sees it, whoever has the run and
// whatever it is doing.
func TestQuerySeesEverythingAcknowledged(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	var begun atomic.Int32
	nodes := []*clustertest.Node{c.Run(nil, handleMeter(&begun)), c.Run(nil, handleMeter(&begun))}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			run, err := runtime.Start(ctx, nodes[0].Client(), meter, 0, nil)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 50 {
				if err := runtime.Signal(ctx, nodes[i%2].Client(), run.ID(), number, 1, nil); err != nil {
					t.Error(err)
					return
				}
				if got, err := runtime.Query(ctx, nodes[(i/2)%2].Node, run.ID(), read, 0); err != nil || got != i+1 {
					t.Errorf("after %d signals: %d, %v", i+1, got, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// A handler that panics, writes or waits is an error of the query, and the run continues.
func TestQueryThatMisbehaves(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	var begun atomic.Int32
	n := c.Run(nil, handleMeter(&begun))
	started, err := runtime.Start(ctx, n.Client(), meter, 5, nil)
	run := clustertest.MustStart(t, started, err)
	for range 2 {
		if _, err := runtime.Query(ctx, n.Node, run.ID(), broken, 0); err == nil || !strings.Contains(err.Error(), "oops") {
			t.Errorf("got %v", err)
		}
		if _, err := runtime.Query(ctx, n.Node, run.ID(), writes, 0); !errors.Is(err, workflow.ErrReadOnly) {
			t.Errorf("got %v", err)
		}
		if got := ask(t, n.Node, run.ID(), read, 0); got != 5 {
			t.Errorf("got %d", got)
		}
	}
	_, err = runtime.Query(ctx, n.Node, run.ID(), endless, 0)
	if !errors.Is(err, replay.ErrNoHandler) || !strings.Contains(err.Error(), "broken, read, writes") {
		t.Errorf("got %v", err)
	}
	stranger := spare(c, func(n *runtime.Node) { runtime.Handle(n, meter, metered(&begun), &runtime.HandleOptions{Version: 2}) })
	_, err = runtime.Query(ctx, stranger, run.ID(), read, 0)
	if !errors.Is(err, runtime.ErrNotRegistered) || !strings.Contains(err.Error(), `"meter" version 1`) {
		t.Errorf("got %v", err)
	}
	if _, err = runtime.Query(ctx, n.Node, journal.NewRunID(), read, 0); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	other := spare(c, func(n *runtime.Node) {
		runtime.Handle(n, meter, func(ctx workflow.Context, _ int) (int, error) { return 0, step(ctx, "new") }, nil)
	})
	if err := runtime.Signal(ctx, n.Client(), run.ID(), number, 1, nil); err != nil {
		t.Fatal(err)
	}
	clustertest.Described(t, n.Client(), run.ID(), "the signal is consumed", func(d *runtime.Description) bool { return d.Events == 2 })
	_, err = runtime.Query(ctx, other, run.ID(), read, 0)
	if diverged := clustertest.WantError[*replay.DivergenceError](t, err); diverged.Seq != 1 || !strings.Contains(err.Error(), "does not fit") {
		t.Errorf("got %v", err)
	}
	lost := spare(c, func(n *runtime.Node) {
		runtime.Handle(n, meter, func(ctx workflow.Context, _ int) (int, error) {
			read.Handle(ctx, func(int) (int, error) { return 0, nil })
			return number.Receive(ctx) // once only, and the run is open
		}, nil)
	})
	_, err = runtime.Query(ctx, lost, run.ID(), read, 0)
	if diverged := clustertest.WantError[*replay.DivergenceError](t, err); diverged.Seq != 2 || diverged.Got != "RunCompleted" {
		t.Errorf("code that returns where the run waits: %v", err)
	}
	if err := n.Client().Terminate(ctx, run.ID(), "enough"); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, n.Node, run.ID(), read, 0); got != 6 {
		t.Errorf("of a terminated run: %d", got)
	}
}

// A hundred queries of a long, cold run cost one replay, at once and one after the other.
func TestManyQueriesCostOneReplay(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	var begun, elsewhere atomic.Int32
	n := c.Run(nil, handleMeter(&begun))
	started, err := runtime.Start(ctx, n.Client(), meter, 0, nil)
	run := clustertest.MustStart(t, started, err)
	const signals = 12_000
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			for range signals / 20 {
				if err := runtime.Signal(ctx, n.Client(), run.ID(), number, 1, nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	clustertest.Described(t, n.Client(), run.ID(), "all are consumed", func(d *runtime.Description) bool { return d.Events == signals+1 })
	reader := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, meter, metered(&elsewhere), &runtime.HandleOptions{Queue: "another"})
	})
	for range 100 {
		wg.Go(func() {
			if got, err := runtime.Query(ctx, reader.Node, run.ID(), read, 0); err != nil || got != signals {
				t.Errorf("got %d, %v", got, err)
			}
		})
	}
	wg.Wait()
	if got := elsewhere.Load(); got != 1 {
		t.Errorf("100 queries at once cost %d replays", got)
	}
	for i := range 10 { // what comes meanwhile is replayed after the rest
		if err := runtime.Signal(ctx, n.Client(), run.ID(), number, 1, nil); err != nil {
			t.Fatal(err)
		}
		clustertest.Described(t, n.Client(), run.ID(), "the signal is consumed", func(d *runtime.Description) bool { return d.Unread == 0 })
		if got := ask(t, reader.Node, run.ID(), read, 0); got != signals+i+1 {
			t.Errorf("got %d", got)
		}
	}
	if got := elsewhere.Load(); got != 1 {
		t.Errorf("110 queries cost %d replays", got)
	}
}

// A query ends with its context, though workflow code does not; the next one waits for its turn.
func TestQueryEndsWithItsContext(t *testing.T) {
	c := clustertest.New(t)
	gate := make(chan struct{})
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, meter, func(ctx workflow.Context, _ int) (int, error) {
			endless.Handle(ctx, func(int) (int, error) { <-gate; return 1, nil })
			return number.Receive(ctx)
		}, nil)
	})
	started, err := runtime.Start(clustertest.Context(t), n.Client(), meter, 0, nil)
	run := clustertest.MustStart(t, started, err)
	for range 2 {
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		if _, err := runtime.Query(ctx, n.Node, run.ID(), endless, 0); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		cancel()
	}
	close(gate)
	if got := ask(t, n.Node, run.ID(), endless, 0); got != 1 {
		t.Errorf("got %d", got)
	}
}
