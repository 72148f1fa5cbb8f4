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
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const (
	till    workflow.Name[int, int]      = "till"
	pay     workflow.Update[int, int]    = "pay"
	slowPay workflow.Update[int, int]    = "slow pay"
	heldPay workflow.Update[int, int]    = "held pay" // is never answered: only the run ends
	next    workflow.Update[string, int] = "next"
	shut    workflow.Signal[int]         = "shut"
)

// tills take payments, each with a step, until they are shut. Every third payment begins a new
// generation, in the same turn as it is answered, and cuts off those that are on their way.
func tills(ctx workflow.Context, sum int) (int, error) {
	count := 0
	read.Handle(ctx, func(int) (int, error) { return sum, nil })
	handle := func(ctx workflow.Context, v int) (int, error) {
		if err := step(ctx, "book"); err != nil {
			return 0, err
		}
		sum += v
		count++
		return sum, nil
	}
	check := &workflow.UpdateOptions[int]{Validate: func(v int) error {
		if v <= 0 {
			return fmt.Errorf("%d is not positive", v)
		}
		return nil
	}}
	pay.Handle(ctx, handle, check)
	slowPay.Handle(ctx, func(ctx workflow.Context, v int) (int, error) {
		if err := workflow.Sleep(ctx, 300*time.Millisecond); err != nil {
			return 0, err
		}
		return handle(ctx, v)
	}, check)
	heldPay.Handle(ctx, func(ctx workflow.Context, v int) (int, error) {
		return v, workflow.Await(ctx, func() bool { return false })
	}, check)
	if err := workflow.Await(ctx, func() bool { return shut.Pending(ctx) > 0 || count >= 3 }); err != nil {
		return sum, err
	}
	if shut.Pending(ctx) > 0 {
		return sum, nil
	}
	return 0, workflow.ContinueAsNew(ctx, till, sum, nil)
}

func handleTill(n *runtime.Node) { runtime.Handle(n, till, tills, nil) }

// Updates from everywhere are answered, each once, over two nodes and many generations. Those that
// the run has not accepted when it continues as new are answered by the next generation, those
// answered in that very turn have their answer, and those whose handlers are at work are aborted
// for good: they take no effect later, whoever asks again with their key.
func TestUpdatesOverGenerationsAndNodes(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	a, b := c.Run(nil, handleTill), c.Run(nil, handleTill)
	clients := []*runtime.Client{a.Client(), b.Client(), runtime.NewClient(c.Journal, nil)}
	started, err := runtime.Start(ctx, clients[2], till, 0, nil)
	run := clustertest.MustStart(t, started, err)
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[int]bool{}
	var aborted atomic.Int32
	for i := range 12 {
		wg.Go(func() {
			for k, try := 0, 0; k < 5; try++ {
				o := &runtime.UpdateOptions{Key: fmt.Sprint(i, "/", k, "/", try)}
				got, err := runtime.CallUpdate(ctx, clients[(i+k)%3], run.ID(), pay, 1, o)
				again, err2 := runtime.CallUpdate(ctx, clients[i%3], run.ID(), pay, 1, o)
				if errors.Is(err, runtime.ErrAborted) && errors.Is(err2, runtime.ErrAborted) {
					aborted.Add(1)
					continue
				}
				k++
				if err != nil || err2 != nil || got != again {
					t.Errorf("got %d, %v and %d, %v", got, err, again, err2)
					return
				}
				mu.Lock()
				if seen[got] {
					t.Errorf("two updates made it %d", got)
				}
				seen[got] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if got := ask(t, a.Node, run.ID(), read, 0); got != 60 {
		t.Errorf("the sum is %d", got)
	}
	if aborted.Load() == 0 {
		t.Error("no update was on its way at the end of a generation")
	}
	if d, err := clients[2].Describe(ctx, run.ID()); err != nil || d.Run.Generation < 10 || len(d.Updates) != 0 || d.Unread != 0 {
		t.Errorf("generation %d, %+v, %v", d.Run.Generation, d, err)
	}
	if err := runtime.Signal(ctx, clients[2], run.ID(), shut, 1, nil); err != nil {
		t.Fatal(err)
	}
	if got := clustertest.MustResult(t, run); got != 60 {
		t.Errorf("got %d", got)
	}
}

// A definite answer in every case: an update of a run that ends, in each way, without an answer.
func TestUpdateOfARunThatEnds(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	n := c.Run(nil, handleTill)
	remote := runtime.NewClient(c.Open(nil), &runtime.ClientOptions{Poll: time.Hour}) // hints alone
	for _, client := range []*runtime.Client{n.Client(), remote} {
		for how, want := range map[string]string{"shut": "has completed", "cancel": "was cancelled", "terminate": "was terminated: enough"} {
			started, err := runtime.Start(ctx, client, till, 0, nil)
			run := clustertest.MustStart(t, started, err)
			h, err := runtime.SendUpdate(ctx, client, run.ID(), heldPay, 1, &runtime.UpdateOptions{Key: "k"})
			if err != nil {
				t.Fatal(err)
			}
			clustertest.Described(t, client, run.ID(), "the update is accepted", func(d *runtime.Description) bool { return len(d.Updates) == 1 && d.Updates[0].Name == "held pay" })
			switch how {
			case "shut":
				err = runtime.Signal(ctx, client, run.ID(), shut, 1, nil)
			case "cancel":
				err = client.Cancel(ctx, run.ID(), "enough")
			case "terminate":
				err = client.Terminate(ctx, run.ID(), "enough")
			}
			if err != nil {
				t.Fatal(err)
			}
			_, err = h.Result(ctx)
			if how == "cancel" && errors.As(err, new(*runtime.UpdateError)) {
				continue // its handler had the last word
			}
			if !errors.Is(err, journal.ErrClosed) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v", how, err)
			}
			_, err = runtime.CallUpdate(ctx, client, run.ID(), pay, 1, nil)
			if !errors.Is(err, journal.ErrClosed) {
				t.Errorf("%s: a later one got %v", how, err)
			}
			if err := client.Delete(ctx, run.ID()); err != nil {
				t.Fatal(err)
			}
			if _, err = h.Result(ctx); !errors.Is(err, journal.ErrNotFound) {
				t.Errorf("%s: of a deleted run: %v", how, err)
			}
		}
	}
}

// An update that is refused leaves no trace, and its key is free. One of a run that cannot go on
// says so, and is answered when the code is mended.
func TestUpdateThatIsRefusedOrHasToWait(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	var mended atomic.Bool
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, till, func(ctx workflow.Context, sum int) (int, error) {
			next.Handle(ctx, func(workflow.Context, string) (int, error) {
				if !mended.Load() {
					panic("not yet")
				}
				return 7, nil
			}, nil)
			return tills(ctx, sum)
		}, nil)
	})
	started, err := runtime.Start(ctx, n.Client(), till, 0, nil)
	run := clustertest.MustStart(t, started, err)
	key := &runtime.UpdateOptions{Key: "k"}
	_, err = runtime.CallUpdate(ctx, n.Client(), run.ID(), pay, -5, key)
	if e := clustertest.WantError[*runtime.UpdateError](t, err); !errors.Is(err, runtime.ErrRejected) || !strings.Contains(e.Error(), "-5 is not positive") {
		t.Errorf("got %v", err)
	}
	if _, err = runtime.CallUpdate(ctx, n.Client(), run.ID(), bump, 1, nil); !errors.Is(err, runtime.ErrRejected) || !strings.Contains(err.Error(), "pay") {
		t.Errorf("got %v", err)
	}
	if got := clustertest.Count(clustertest.Kinds(t, n.Client(), run.ID()), journal.UpdateReceived); got != 0 {
		t.Errorf("%d refused updates are in the history", got)
	}
	if got, err := runtime.CallUpdate(ctx, n.Client(), run.ID(), pay, 5, key); err != nil || got != 5 {
		t.Errorf("got %d, %v", got, err)
	}
	waits := &runtime.UpdateOptions{Key: "waits"}
	_, err = runtime.CallUpdate(ctx, n.Client(), run.ID(), next, "x", waits)
	if !errors.Is(err, runtime.ErrBlocked) || !strings.Contains(err.Error(), "not yet") {
		t.Errorf("got %v", err)
	}
	mended.Store(true)
	if err := n.Client().Resume(ctx, run.ID()); err != nil {
		t.Fatal(err)
	}
	clustertest.Until(t, "the update is answered", func() bool {
		got, err := runtime.CallUpdate(ctx, n.Client(), run.ID(), next, "x", waits)
		return err == nil && got == 7
	})
}

// A caller who goes away does not stop the update; with its key it gets the answer later, even if
// the run has left memory meanwhile.
func TestUpdateGoesOnWithoutItsCaller(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	a := c.Run(nil, handleTill)
	started, err := runtime.Start(ctx, a.Client(), till, 0, nil)
	run := clustertest.MustStart(t, started, err)
	key := &runtime.UpdateOptions{Key: "k"}
	short, cancel := context.WithCancel(ctx)
	defer cancel()
	called := make(chan error, 1)
	go func() {
		_, err := runtime.CallUpdate(short, a.Client(), run.ID(), slowPay, 3, key)
		called <- err
	}()
	clustertest.Described(t, a.Client(), run.ID(), "the update is accepted", func(d *runtime.Description) bool { return len(d.Updates) == 1 })
	cancel()
	if err := <-called; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	a.Stop()
	b := c.Run(nil, handleTill)
	if got, err := runtime.CallUpdate(ctx, b.Client(), run.ID(), slowPay, 3, key); err != nil || got != 3 {
		t.Errorf("got %d, %v", got, err)
	}
}

// Updates and signals of one sender take effect in the order in which they were sent, also in the
// first turn.
func TestUpdatesAndSignalsKeepTheirOrder(t *testing.T) {
	c := clustertest.New(t)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	const journal workflow.Name[int, []string] = "journal"
	started, err := runtime.Start(ctx, client, journal, 6, nil)
	run := clustertest.MustStart(t, started, err)
	var last *runtime.UpdateHandle[int]
	for i := range 6 {
		if i%2 == 0 {
			if err := runtime.Signal(ctx, client, run.ID(), approved, fmt.Sprint("signal ", i), nil); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if last, err = runtime.SendUpdate(ctx, client, run.ID(), next, fmt.Sprint("update ", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, journal, func(ctx workflow.Context, n int) ([]string, error) {
			var lines []string
			next.Handle(ctx, func(_ workflow.Context, s string) (int, error) {
				lines = append(lines, s)
				return len(lines), nil
			}, nil)
			workflow.Go(ctx, func(ctx workflow.Context) {
				for {
					s, err := approved.Receive(ctx)
					if err != nil {
						return
					}
					lines = append(lines, s)
				}
			})
			err := workflow.Await(ctx, func() bool { return len(lines) == n })
			return lines, err
		}, nil)
	})
	want := "signal 0, update 1, signal 2, update 3, signal 4, update 5"
	if got := strings.Join(clustertest.MustResult(t, run), ", "); got != want {
		t.Errorf("got %s", got)
	}
	if got, err := last.Result(ctx); err != nil || got != 6 {
		t.Errorf("got %d, %v", got, err)
	}
}

// An update with start makes one run, whoever calls, and each caller gets its own answer.
func TestUpdateWithStart(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	n := c.Run(nil, handleTill)
	clients := []*runtime.Client{n.Client(), runtime.NewClient(c.Journal, nil)}
	var wg sync.WaitGroup
	var made, sum atomic.Int32
	for i := range 10 {
		wg.Go(func() {
			run, h, err := runtime.UpdateWithStart(ctx, clients[i%2], till, 100, pay, 1, &runtime.StartOptions{Key: "till"}, nil)
			if err != nil {
				t.Error(err)
				return
			}
			if run.Created() {
				made.Add(1)
			}
			got, err := h.Result(ctx)
			for errors.Is(err, runtime.ErrAborted) { // by the third payment of a generation
				got, err = runtime.CallUpdate(ctx, clients[i%2], run.ID(), pay, 1, nil)
			}
			if err != nil {
				t.Error(err)
			} else {
				sum.Add(int32(got) - 100)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 || sum.Load() != 55 {
		t.Errorf("%d runs were made, the answers add up to %d", made.Load(), sum.Load())
	}
	if _, _, err := runtime.UpdateWithStart(ctx, clients[0], till, 1, pay, 1, nil, nil); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("without a key: %v", err)
	}
}

// A signal with start reaches the one run that has the key; of a closed one, the reuse policy
// decides.
func TestSignalWithStart(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	n := c.Run(nil, handleCollect)
	clients := []*runtime.Client{n.Client(), runtime.NewClient(c.Journal, nil)}
	const senders = 20
	key := &runtime.StartOptions{Key: "box"}
	runs := make([]*runtime.Run[[]int], senders)
	var wg sync.WaitGroup
	for i := range senders {
		wg.Go(func() {
			run, err := runtime.SignalWithStart(ctx, clients[i%2], collect, senders, number, i, key, &runtime.SignalOptions{Key: fmt.Sprint(i)})
			if err != nil {
				t.Error(err)
				return
			}
			runs[i] = run
		})
	}
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	got := slices.Sorted(slices.Values(clustertest.MustResult(t, runs[0])))
	for i := range senders {
		if runs[i].ID() != runs[0].ID() || got[i] != i {
			t.Fatalf("run %s has %v", runs[i].ID(), got)
		}
	}
	if _, err := runtime.SignalWithStart(ctx, clients[0], collect, 1, number, 7, key, nil); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("to a closed run: %v", err)
	}
	again, err := runtime.SignalWithStart(ctx, clients[0], collect, 1, number, 7, &runtime.StartOptions{Key: "box", Reuse: journal.ReuseAllow}, nil)
	run := clustertest.MustStart(t, again, err)
	if got := clustertest.MustResult(t, run); !run.Created() || len(got) != 1 || got[0] != 7 {
		t.Errorf("a new run got %v", got)
	}
}
