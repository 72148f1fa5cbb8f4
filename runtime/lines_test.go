package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/reprise-run/reprise/actor"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// wantLine waits for a line of the cluster's log that has all parts.
func wantLine(t *testing.T, c *clustertest.Cluster, parts ...string) {
	t.Helper()
	clustertest.Until(t, "there is a line with "+strings.Join(parts, ", "), func() bool {
		for line := range strings.Lines(c.Log.String()) {
			all := true
			for _, p := range parts {
				all = all && strings.Contains(line, p)
			}
			if all {
				return true
			}
		}
		return false
	})
}

// TestLinesOfARun: what a node logs and counts of a run that fails once, is loaded by another node,
// and ends, and of one that is blocked.
func TestLinesOfARun(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	reader := sdkmetric.NewManualReader()
	failed := false
	handle := func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) {
			if in == "panics" {
				panic("no such order")
			}
			_, err := workflow.Step(ctx, "reserve", func(context.Context) (int, error) {
				if !failed {
					failed = true
					return 0, errors.New("the shelf is locked")
				}
				return 1, nil
			}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Millisecond}})
			if err != nil {
				return "", err
			}
			return approved.Receive(ctx)
		}, nil)
	}
	a := c.Run(nil, handle)
	wantLine(t, c, "level=INFO", "node joined", "reprise.node_name=")
	run, err := runtime.Start(ctx, a.Client(), waiter, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	clustertest.Parked(t, a.Client(), run.ID())
	wantLine(t, c, "level=INFO", "step failed and will be tried again", run.ID().String(), "reprise.step=reserve", "the shelf is locked")
	a.Stop()
	o := c.Options()
	o.MeterProvider = sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	b := c.Run(o, handle)
	if err := runtime.Signal(ctx, b.Client(), run.ID(), approved, "yes", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Result(ctx); err != nil {
		t.Fatal(err)
	}
	wantLine(t, c, "level=DEBUG", "run closed", run.ID().String(), "completed")
	bad, err := runtime.Start(ctx, b.Client(), waiter, "panics", nil)
	if err != nil {
		t.Fatal(err)
	}
	wantLine(t, c, "level=ERROR", "run is blocked", bad.ID().String(), "workflow code panicked: no such order")
	b.Stop()
	if n := counted(t, reader, "reprise.replay.events"); n < 1 {
		t.Errorf("%d events were replayed", n)
	}
	if n := counted(t, reader, "reprise.run.blocked"); n < 1 {
		t.Errorf("%d runs were blocked", n)
	}
}

// TestLinesOfATerminatedRun: a step of a run that is terminated is interrupted at once, and its
// context says why. A drain says why as well.
func TestLinesOfATerminatedRun(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	began, causes := make(chan struct{}), make(chan error, 2)
	o := c.Options()
	o.Drain = time.Millisecond
	n := c.Run(o, func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) {
			return workflow.Step(ctx, "wait", func(ctx context.Context) (string, error) {
				began <- struct{}{}
				<-ctx.Done()
				causes <- context.Cause(ctx)
				return "", ctx.Err()
			}, nil)
		}, nil)
	})
	run, err := runtime.Start(ctx, n.Client(), waiter, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	<-began
	if err := n.Client().Terminate(ctx, run.ID(), "enough"); err != nil {
		t.Fatal(err)
	}
	if cause := <-causes; !errors.Is(cause, actor.ErrRunClosed) {
		t.Errorf("the step of a terminated run: %v", cause)
	}
	wantLine(t, c, "level=INFO", "a run was terminated or deleted; its steps here are interrupted", run.ID().String())
	if _, err := runtime.Start(ctx, n.Client(), waiter, "", nil); err != nil {
		t.Fatal(err)
	}
	<-began
	n.Stop()
	if cause := <-causes; !errors.Is(cause, actor.ErrShutdown) {
		t.Errorf("the step of a node that drains: %v", cause)
	}
}

// TestLinesOfALostRun: a run that the store does not name as the node's any more is given up, and
// its step's context says why.
func TestLinesOfALostRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := memory.New(nil), new(clustertest.Log)
		n := runtime.NewNode(journal.New(s, nil), &runtime.NodeOptions{Logger: slog.New(slog.NewTextHandler(log, nil))})
		causes := make(chan error, 1)
		runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) {
			return workflow.Step(ctx, "wait", func(ctx context.Context) (string, error) {
				<-ctx.Done()
				causes <- context.Cause(ctx)
				return "", ctx.Err()
			}, nil)
		}, nil)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- n.Run(ctx) }()
		synctest.Wait()
		mark := s.Mark()
		run, err := runtime.Start(ctx, n.Client(), waiter, "", nil)
		clustertest.MustStart(t, run, err)
		time.Sleep(time.Second)
		s.GoBack(mark)
		if cause := <-causes; !errors.Is(cause, actor.ErrRunLost) {
			t.Errorf("the step of a lost run: %v", cause)
		}
		synctest.Wait()
		for _, part := range []string{"level=WARN", "this node has given up a run; its state here is dropped", run.ID().String()} {
			if !strings.Contains(log.String(), part) {
				t.Errorf("no %q in the log:\n%s", part, log.String())
			}
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute) // what outlives a node has ended
	})
}

// TestLinesOfAHangingEnd: a node whose workflow code hangs does not wait for it when it ends, and
// names the run.
func TestLinesOfAHangingEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := new(clustertest.Log)
		n := runtime.NewNode(journal.New(memory.New(nil), nil), &runtime.NodeOptions{Logger: slog.New(slog.NewTextHandler(log, nil))})
		release := make(chan struct{})
		runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) {
			<-release // a mistake: workflow code must not block
			return in, nil
		}, nil)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- n.Run(ctx) }()
		run, err := runtime.Start(ctx, n.Client(), waiter, "", nil)
		clustertest.MustStart(t, run, err)
		time.Sleep(5 * time.Second)
		began := time.Now()
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("the node ended after %s", took)
		}
		for _, part := range []string{
			"workflow code does not await: put into a step what blocks or computes for long; other runs go on", "at=\"runtime_test.TestLinesOfAHangingEnd.",
			"workflow code does not await while its node ends; its runs are left to other nodes", "runs=[" + run.ID().String() + "]",
		} {
			if !strings.Contains(log.String(), part) {
				t.Errorf("no %q in the log:\n%s", part, log.String())
			}
		}
		close(release)
		time.Sleep(time.Minute) // what outlives a node has ended
	})
}

// TestLinesOfPanics: a step that panics is in the log each time, with its line and its stack, and
// is not tried for ever.
func TestLinesOfPanics(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) {
			return workflow.Step(ctx, "price", func(context.Context) (string, error) { panic("no price for " + in) },
				&workflow.StepOptions{Retry: &workflow.RetryPolicy{Max: time.Millisecond}})
		}, nil)
	})
	run, err := runtime.Start(ctx, n.Client(), waiter, "tea", nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = run.Result(ctx)
	if got := clustertest.WantError[*runtime.FailedError](t, err); !strings.Contains(got.Error(), "panic: no price for tea at runtime_test.TestLinesOfPanics") {
		t.Errorf("the run ended with %v", got)
	}
	for _, parts := range [][]string{
		{"a step panicked and will be tried again; repair its code before it fails", "reprise.attempt=1"},
		{"a step panicked and will be tried again; repair its code before it fails", "reprise.attempt=2"},
		{"a step panicked, and has failed for good; repair its code", "reprise.attempt=3"},
	} {
		wantLine(t, c, append(parts, "level=WARN", run.ID().String(), "reprise.step=price",
			"no price for tea at runtime_test.TestLinesOfPanics", "(lines_test.go:", "stack=", "goroutine")...)
	}
}

// TestRunTwice: a node runs once at a time.
func TestRunTwice(t *testing.T) {
	c := clustertest.New(t)
	n := c.Run(nil, handleEcho)
	if err := n.Run(clustertest.Context(t)); !errors.Is(err, runtime.ErrRunning) {
		t.Errorf("got %v, want %v", err, runtime.ErrRunning)
	}
}

// errNoStock is registered.
var errNoStock = errors.New("no stock")

func init() { workflow.RegisterError("test.NoStock", errNoStock) }

// TestCancelledResult: the result of a cancelled run says so, with the reason, and has what else
// the code's error was.
func TestCancelledResult(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, _ string) (string, error) {
			out, err := approved.Receive(ctx)
			if err != nil {
				return "", fmt.Errorf("%w: %w", errNoStock, err)
			}
			return out, nil
		}, nil)
	})
	run, err := runtime.Start(ctx, n.Client(), waiter, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Client().Cancel(ctx, run.ID(), "no stock"); err != nil {
		t.Fatal(err)
	}
	_, err = run.Result(ctx)
	if got := clustertest.WantError[*runtime.CancelledError](t, err); got.Run != run.ID() || !errors.Is(got, workflow.ErrCancelled) || !errors.Is(got, errNoStock) {
		t.Errorf("got %v", got)
	}
}

// TestContinueIsAnError: a workflow's function returns it to continue as new.
func TestContinueIsAnError(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) {
			if in == "again" {
				return in, nil
			}
			err := workflow.ContinueAsNew(ctx, waiter, "again", nil)
			if _, ok := errors.AsType[*replay.ContinueError](err); !ok {
				return "", errors.New("it is something else")
			}
			return "", err
		}, nil)
	})
	run, err := runtime.Start(ctx, n.Client(), waiter, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := run.Result(ctx); err != nil || got != "again" {
		t.Errorf("got %q, %v", got, err)
	}
}

// poorMeters refuse every instrument.
type poorMeters struct{ noop.MeterProvider }

func (poorMeters) Meter(string, ...metric.MeterOption) metric.Meter { return poorMeter{} }

type poorMeter struct{ noop.Meter }

func (poorMeter) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return noop.Int64Counter{}, errors.New("no more instruments")
}

// TestRefusedInstruments: a node whose meters refuse an instrument says so and works.
func TestRefusedInstruments(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	o := c.Options()
	o.MeterProvider = poorMeters{}
	n := c.Run(o, handleEcho)
	wantLine(t, c, "level=WARN", "some metrics are off", "no more instruments")
	run, err := runtime.Start(ctx, n.Client(), greet, "x", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := run.Result(ctx); err != nil || got != "x" {
		t.Errorf("got %q, %v", got, err)
	}
}
