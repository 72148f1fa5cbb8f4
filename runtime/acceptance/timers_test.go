package acceptance_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const fuse workflow.Name[time.Duration, string] = "fuse"

// fusing arms a timer that a signal stops. It returns what happened, if the timer and its stop
// agree.
func fusing(ctx workflow.Context, d time.Duration) (string, error) {
	timer, stopped := workflow.NewNamedTimer(ctx, "fuse", d), false
	var wg workflow.WaitGroup
	wg.Go(ctx, func(ctx workflow.Context) {
		if _, err := approved.Receive(ctx); err == nil {
			stopped = timer.Stop()
		}
	})
	err := timer.Get(ctx)
	if e := wg.Wait(ctx); e != nil {
		return "", e
	}
	switch {
	case err == nil && !stopped:
		return "fired", nil
	case errors.Is(err, workflow.ErrCancelled) && stopped:
		return "stopped", nil
	}
	return "", fmt.Errorf("the timer says %v, its stop %t", err, stopped)
}

func handleFuse(n *runtime.Node) { runtime.Handle(n, fuse, fusing, nil) }

// TestTimerAndItsStopInOneTurn: a node loads a run whose timer is due and whose inbox has the
// signal that stops the timer. What came first counts.
func TestTimerAndItsStopInOneTurn(t *testing.T) {
	for _, tc := range []struct {
		name string
		d    time.Duration
		want string
		kind []journal.Kind
	}{
		{"signal first", 3 * time.Second, "stopped", []journal.Kind{journal.RunStarted, journal.SignalReceived, journal.RunCompleted}},
		{"timer first", 50 * time.Millisecond, "fired", []journal.Kind{journal.RunStarted, journal.TimerFired, journal.SignalReceived, journal.RunCompleted}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := clustertest.New(t)
			client := runtime.NewClient(c.Journal, nil)
			ctx := clustertest.Context(t)
			// The first node must be gone before the timer is due, in one of the cases.
			started, err := runtime.Start(ctx, client, fuse, tc.d, nil)
			run := clustertest.MustStart(t, started, err)
			a := c.Run(nil, handleFuse)
			d := clustertest.Described(t, client, run.ID(), "the timer is armed", func(d *runtime.Description) bool { return d.Events > 0 })
			a.Stop()
			due := d.Run.StartAt.Add(tc.d)
			if tc.want == "fired" {
				c.Passed(client, due)
			}
			if err := runtime.Signal(ctx, client, run.ID(), approved, "stop", nil); err != nil {
				t.Fatal(err)
			}
			if tc.want == "stopped" {
				if !driver.Of(c.Journal).Now().Before(due) {
					t.Fatal("the machine is too slow for this test: the timer was due before the signal")
				}
				c.Passed(client, due)
			}
			c.Run(nil, handleFuse)
			if got := clustertest.MustResult(t, run); got != tc.want {
				t.Errorf("the timer %s, want %s", got, tc.want)
			}
			if got := clustertest.Kinds(t, client, run.ID()); !slices.Equal(got, tc.kind) {
				t.Errorf("history %v, want %v", got, tc.kind)
			}
		})
	}
}

// TestTimersRaceWithTheirStops: on two nodes, timers race with the signals that stop them. Each
// timer has one outcome, and the run sees the right one.
func TestTimersRaceWithTheirStops(t *testing.T) {
	c := clustertest.New(t)
	nodes := []*clustertest.Node{c.Run(nil, handleFuse), c.Run(nil, handleFuse)}
	client := runtime.NewClient(c.Journal, nil)
	ctx := clustertest.Context(t)
	var mu sync.Mutex
	ends := map[string]int{}
	var wg sync.WaitGroup
	for i := range 60 {
		started, err := runtime.Start(ctx, nodes[i%2].Client(), fuse, 100*time.Millisecond, nil)
		run := clustertest.MustStart(t, started, err)
		wg.Go(func() {
			due := driver.Of(c.Journal).Now().Add(100*time.Millisecond + time.Duration(rand.IntN(40)-35)*time.Millisecond)
			clustertest.Until(t, "it is about time", func() bool { return !driver.Of(c.Journal).Now().Before(due) })
			if err := runtime.Signal(ctx, client, run.ID(), approved, "stop", nil); err != nil {
				t.Error(err)
				return
			}
			got, err := run.Result(ctx)
			if err != nil {
				t.Error(err)
				return
			}
			events, err := client.History(ctx, run.ID())
			if err != nil {
				t.Error(err)
				return
			}
			fired := slices.ContainsFunc(events, func(e journal.Event) bool { return e.Kind == journal.TimerFired })
			if fired != (got == "fired") {
				t.Errorf("run %s says that the timer %s; TimerFired in its history: %t", run.ID(), got, fired)
			}
			mu.Lock()
			defer mu.Unlock()
			ends[got]++
		})
	}
	wg.Wait()
	t.Logf("ends: %v", ends)
}

// TestCancelledTimerNeverFiresOnAnotherNode: a run stops a timer, and its node dies. The timer does
// not fire on the next node.
func TestCancelledTimerNeverFiresOnAnotherNode(t *testing.T) {
	c := clustertest.New(t)
	client := runtime.NewClient(c.Journal, nil)
	ctx := clustertest.Context(t)
	register := func(n *runtime.Node) {
		runtime.Handle(n, fuse, func(ctx workflow.Context, d time.Duration) (string, error) {
			timer := workflow.NewTimer(ctx, d)
			if _, err := approved.Receive(ctx); err != nil {
				return "", err
			}
			timer.Stop()
			if _, err := approved.Receive(ctx); err != nil {
				return "", err
			}
			return fmt.Sprint(timer.Fired()), nil
		}, nil)
	}
	a := c.RunMortal(register)
	started, err := runtime.Start(ctx, client, fuse, 500*time.Millisecond, nil)
	run := clustertest.MustStart(t, started, err)
	d := clustertest.Parked(t, client, run.ID())
	if len(d.Timers) != 1 {
		t.Fatalf("armed timers: %v", d.Timers)
	}
	if err := runtime.Signal(ctx, client, run.ID(), approved, "stop", nil); err != nil {
		t.Fatal(err)
	}
	clustertest.Described(t, client, run.ID(), "the timer is stopped", func(d *runtime.Description) bool { return len(d.Timers) == 0 })
	a.Die()
	c.Run(nil, register)
	c.Passed(client, d.Timers[0].Due)
	if err := runtime.Signal(ctx, client, run.ID(), approved, "end", nil); err != nil {
		t.Fatal(err)
	}
	if got := clustertest.MustResult(t, run); got != "false" {
		t.Error("the timer fired")
	}
	if n := clustertest.Count(clustertest.Kinds(t, client, run.ID()), journal.TimerFired); n != 0 {
		t.Errorf("%d TimerFired events", n)
	}
}

// TestCancelledTimerLeavesNoWakeUp: the task of a run wakes for the timers that are armed, not for
// one that was stopped, and a run that ended has no task.
func TestCancelledTimerLeavesNoWakeUp(t *testing.T) {
	c := clustertest.New(t)
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, fuse, func(ctx workflow.Context, d time.Duration) (string, error) {
			timer := workflow.NewTimer(ctx, d)
			workflow.NewTimer(ctx, 2*d) // still armed when the run ends
			if _, err := approved.Receive(ctx); err != nil {
				return "", err
			}
			timer.Stop()
			_, err := approved.Receive(ctx)
			return "", err
		}, nil)
	})
	client, conn, ctx := n.Client(), c.Connect(), clustertest.Context(t)
	started, err := runtime.Start(ctx, client, fuse, time.Hour, nil)
	run := clustertest.MustStart(t, started, err)
	visible := func() time.Duration {
		d := clustertest.Parked(t, client, run.ID())
		return d.Run.Task.VisibleAt.Sub(d.Run.StartAt)
	}
	if got := visible(); got < time.Hour || got > time.Hour+time.Minute {
		t.Errorf("wakes up after %s, want an hour", got)
	}
	if err := runtime.Signal(ctx, client, run.ID(), approved, "stop", nil); err != nil {
		t.Fatal(err)
	}
	clustertest.Until(t, "the wake-up is the second timer's", func() bool { return visible() >= 2*time.Hour })
	if err := runtime.Signal(ctx, client, run.ID(), approved, "end", nil); err != nil {
		t.Fatal(err)
	}
	clustertest.MustResult(t, run)
	if n := clustertest.Query[int](t, conn, `SELECT count(*) FROM reprise.tasks`); n != 0 {
		t.Errorf("%d tasks are left", n)
	}
}

// TestRunCompletesWhileAStepRuns: a run completes while a step of it still runs. The context of the
// step is cancelled, its output is ignored, and its slot is free for other steps.
func TestRunCompletesWhileAStepRuns(t *testing.T) {
	c := clustertest.New(t)
	o := c.Options()
	o.StepsMax = 1
	cause := make(chan error, 1)
	n := c.Run(o, func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) {
			slow := workflow.StepAsync(ctx, "slow", func(ctx context.Context) (string, error) {
				<-ctx.Done()
				cause <- context.Cause(ctx)
				return "late", nil
			}, nil)
			_, err := workflow.Select(ctx, workflow.OnFuture(slow, nil), workflow.OnSignal(approved, nil))
			return "not waited for", err
		}, nil)
		runtime.Handle(n, count3, threeSteps, nil)
	})
	ctx := clustertest.Context(t)
	started, err := runtime.Start(ctx, n.Client(), waiter, "", nil)
	run := clustertest.MustStart(t, started, err)
	if err := runtime.Signal(ctx, n.Client(), run.ID(), approved, "go", nil); err != nil {
		t.Fatal(err)
	}
	if got := clustertest.MustResult(t, run); got != "not waited for" {
		t.Errorf("got %q", got)
	}
	if err := <-cause; err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the step's context ended with %v", err)
	}
	other, err := runtime.Start(ctx, n.Client(), count3, 3, nil)
	clustertest.MustResult(t, clustertest.MustStart(t, other, err))
	want := []journal.Kind{journal.RunStarted, journal.SignalReceived, journal.RunCompleted}
	if got := clustertest.Kinds(t, n.Client(), run.ID()); !slices.Equal(got, want) {
		t.Errorf("history %v, want %v", got, want)
	}
}
