package acceptance_test

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
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// tally receives signals and executes a step after every forty.
func tally(ctx workflow.Context, n int) ([]int, error) {
	var got []int
	for len(got) < n {
		v, err := number.Receive(ctx)
		if err != nil {
			return nil, err
		}
		if got = append(got, v); len(got)%40 == 0 {
			if err := step(ctx, fmt.Sprintf("after %d", len(got))); err != nil {
				return nil, err
			}
		}
	}
	return got, nil
}

func handleTally(n *runtime.Node) { runtime.Handle(n, collect, tally, nil) }

// TestSignalsOfManySendersThroughRestarts: four senders send numbered signals to one run while its
// nodes are restarted and one dies. Each signal is received once, and in the order of its sender.
func TestSignalsOfManySendersThroughRestarts(t *testing.T) {
	c := clustertest.New(t)
	client, ctx := runtime.NewClient(c.Journal, nil), clustertest.Context(t)
	const senders, each = 4, 500
	started, err := runtime.Start(ctx, client, collect, senders*each, nil)
	run := clustertest.MustStart(t, started, err)
	var sent atomic.Int32
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				if err := runtime.Signal(ctx, client, run.ID(), number, s*each+i, &runtime.SignalOptions{Key: fmt.Sprintf("%d/%d", s, i)}); err != nil {
					t.Error(err)
					return
				}
				sent.Add(1)
			}
		})
	}
	nodes := []*clustertest.Node{c.RunMortal(handleTally).Node, c.Run(nil, handleTally)}
	for i := range 4 {
		clustertest.Until(t, "more was sent", func() bool { return sent.Load() >= int32((i+1)*senders*each/6) || t.Failed() })
		next := c.RunMortal(handleTally)
		nodes[i%2].Stop()
		nodes[i%2] = next.Node
		if i == 3 {
			next.Die()
			nodes[i%2] = c.Run(nil, handleTally)
		}
	}
	wg.Wait()
	got := clustertest.MustResult(t, run)
	last := map[int]int{}
	for _, v := range got {
		s, i := v/each, v%each
		if i != last[s] {
			t.Fatalf("signal %d of sender %d came when %d was expected", i, s, last[s])
		}
		last[s]++
	}
}

// TestFailedCommitsDiscardTheActor: commits fail while a run works. Its actor, with all state in
// memory, is discarded: after that the run has received each signal once, as its history says.
func TestFailedCommitsDiscardTheActor(t *testing.T) {
	c := clustertest.New(t)
	store := &clustertest.Intercepted{Store: c.Store(c.DSN, nil)}
	c.RunOn(journal.New(store, nil), nil, handleTally)
	const signals = 200
	client, ctx := runtime.NewClient(c.Journal, nil), clustertest.Context(t)
	started, err := runtime.Start(ctx, client, collect, signals, nil)
	run := clustertest.MustStart(t, started, err)
	var failed atomic.Int32
	for i := range signals {
		if i == 60 || i == 120 { // the next commit that brings a message fails, for a reason that no retry of the call mends
			store.BeforeCommit(func(_ context.Context, commits []driver.Commit) error {
				for _, commit := range commits {
					if slices.ContainsFunc(commit.Events, func(e journal.Event) bool { return e.Inbox != 0 }) {
						store.BeforeCommit(nil)
						failed.Add(1)
						return errors.New("could not extend file")
					}
				}
				return nil
			})
		}
		if err := runtime.Signal(ctx, client, run.ID(), number, i, nil); err != nil {
			t.Fatal(err)
		}
		if i == 60 || i == 120 {
			clustertest.Described(t, client, run.ID(), "the run is blocked", func(d *runtime.Description) bool {
				return d.Run.Task.State == journal.Blocked && strings.Contains(d.Run.Task.Problem, "could not extend file")
			})
			if err := client.Resume(ctx, run.ID()); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := clustertest.MustResult(t, run)
	for i := range got {
		if got[i] != i {
			t.Fatalf("signal %d came at position %d", got[i], i)
		}
	}
	if n := clustertest.Count(clustertest.Kinds(t, client, run.ID()), journal.SignalReceived); n != signals {
		t.Errorf("%d signals in the history, want %d", n, signals)
	}
	if failed.Load() != 2 {
		t.Errorf("%d commits failed, want 2", failed.Load())
	}
}

// TestSignalStormDoesNotPreventTheEnd: a run completes although four senders never stop sending.
// The signals that it did not receive are shown as unread.
func TestSignalStormDoesNotPreventTheEnd(t *testing.T) {
	c := clustertest.New(t)
	n := c.Run(nil, handleTally)
	ctx := clustertest.Context(t)
	started, err := runtime.Start(ctx, n.Client(), collect, 100, nil)
	run := clustertest.MustStart(t, started, err)
	var accepted atomic.Int32
	var wg sync.WaitGroup
	for sender := range 4 {
		client := runtime.NewClient(c.Journal, nil)
		wg.Go(func() {
			for i := 0; ; i++ {
				err := runtime.Signal(ctx, client, run.ID(), number, sender*1_000_000+i, nil)
				if errors.Is(err, journal.ErrClosed) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
				accepted.Add(1)
			}
		})
	}
	if got := clustertest.MustResult(t, run); len(got) != 100 {
		t.Errorf("received %d signals, want 100", len(got))
	}
	wg.Wait()
	d, err := n.Client().Describe(ctx, run.ID())
	if err != nil {
		t.Fatal(err)
	}
	consumed := clustertest.Count(clustertest.Kinds(t, n.Client(), run.ID()), journal.SignalReceived)
	// A load shows at most 1000 messages.
	if d.Run.Status != journal.Completed || d.Unread != min(int(accepted.Load())-consumed, 1000) {
		t.Errorf("%s: %d accepted, %d consumed, %d unread", d.Run.Status, accepted.Load(), consumed, d.Unread)
	}
}

// TestMessageReadByADeadNodeIsReadAgain: a node reads a message and dies before it commits. The
// next owner reads the message again, and the commit of the first, when it arrives late, is
// refused.
func TestMessageReadByADeadNodeIsReadAgain(t *testing.T) {
	c := clustertest.New(t)
	client, ctx := runtime.NewClient(c.Journal, nil), clustertest.Context(t)
	link := pgtest.Proxy(t, c.DSN)
	store := &clustertest.Intercepted{Store: c.Store(link.DSN(), nil)}
	reading, zombie := make(chan struct{}), make(chan struct{})
	wakeZombie := sync.OnceFunc(func() { close(zombie) })
	o := c.Options()
	o.Lease, o.Drain = 1500*time.Millisecond, 50*time.Millisecond
	c.RunOn(journal.New(store, nil), o, handleCollect)
	t.Cleanup(wakeZombie)
	started, err := runtime.Start(ctx, client, collect, 2, nil)
	run := clustertest.MustStart(t, started, err)
	clustertest.Parked(t, client, run.ID())
	store.BeforeCommit(func(_ context.Context, commits []driver.Commit) error {
		store.BeforeCommit(nil)
		close(reading)
		<-zombie
		return nil
	})
	if err := runtime.Signal(ctx, client, run.ID(), number, 1, nil); err != nil {
		t.Fatal(err)
	}
	<-reading
	link.Refuse(true)
	link.Cut()
	c.Run(nil, handleCollect)
	clustertest.Described(t, client, run.ID(), "the next owner has the message", func(d *runtime.Description) bool { return d.Events == 2 && d.Unread == 0 })
	link.Refuse(false)
	wakeZombie()
	if err := runtime.Signal(ctx, client, run.ID(), number, 2, nil); err != nil {
		t.Fatal(err)
	}
	if got := clustertest.MustResult(t, run); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("got %v", got)
	}
}
