package runtime_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// stuckCode is a workflow whose query endless does not return before the gate opens, and whose
// query read does.
type stuckCode struct{ entered, gate chan struct{} }

func newStuckCode() *stuckCode { return &stuckCode{make(chan struct{}, 10), make(chan struct{})} }

func (s *stuckCode) handle(n *runtime.Node) {
	runtime.Handle(n, meter, func(ctx workflow.Context, _ int) (int, error) {
		endless.Handle(ctx, func(int) (int, error) { s.entered <- struct{}{}; <-s.gate; return 1, nil })
		read.Handle(ctx, func(int) (int, error) { return 2, nil })
		return number.Receive(ctx)
	}, nil)
}

func startStuck(t *testing.T, n *runtime.Node) journal.RunID {
	t.Helper()
	started, err := runtime.Start(clustertest.Context(t), n.Client(), meter, 0, nil)
	return clustertest.MustStart(t, started, err).ID()
}

// wantStuck asks what is not answered, until the handler is at it.
func (s *stuckCode) wantStuck(t *testing.T, n *runtime.Node, run journal.RunID) error {
	t.Helper()
	ctx, cancel := context.WithCancel(clustertest.Context(t))
	defer cancel()
	answers := make(chan error, 1)
	go func() {
		_, err := runtime.Query(ctx, n, run, endless, 0)
		answers <- err
	}()
	select {
	case <-s.entered:
		cancel()
	case err := <-answers:
		t.Fatalf("the handler was not called: %v", err)
	}
	err := <-answers
	if !errors.Is(err, runtime.ErrStuck) || !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	return err
}

// A handler that does not return fails its own question, with an error that names it, and the next
// question is answered at once. It is reported once, with its stack, and the node ends without it.
func TestQueryThatDoesNotReturnFailsAlone(t *testing.T) {
	c := clustertest.New(t)
	o := c.Options()
	o.StuckAfter = 100 * time.Millisecond
	code := newStuckCode()
	defer close(code.gate)
	n := c.Run(o, code.handle)
	run, other := startStuck(t, n.Node), startStuck(t, n.Node)
	err := code.wantStuck(t, n.Node, run)
	for _, want := range []string{run.String(), `the handler of query "endless"`, "has not returned for"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not say %q: %v", want, err)
		}
	}
	for _, id := range []journal.RunID{run, other} {
		if got := ask(t, n.Node, id, read, 0); got != 2 {
			t.Errorf("the next question is answered with %d", got)
		}
	}
	report := "workflow code of a query does not return"
	clustertest.Until(t, "it is reported", func() bool { return strings.Contains(c.Log.String(), report) })
	if log := c.Log.String(); strings.Count(log, report) != 1 || !strings.Contains(log, "query_stuck_test.go") || !strings.Contains(log, run.String()) {
		t.Errorf("logged %s", log)
	}
	n.Stop()
}

// Who waits behind a handler that does not return goes on with a fresh replica when it is
// reported, though the first caller still waits.
func TestQueryBehindOneThatDoesNotReturn(t *testing.T) {
	c := clustertest.New(t)
	o := c.Options()
	o.StuckAfter = 200 * time.Millisecond
	code := newStuckCode()
	n := c.Run(o, code.handle)
	run := startStuck(t, n.Node)
	first := make(chan error, 1)
	go func() {
		_, err := runtime.Query(context.Background(), n.Node, run, endless, 0)
		first <- err
	}()
	<-code.entered
	if got := ask(t, n.Node, run, read, 0); got != 2 { // it waits for the first one until the report
		t.Errorf("got %d", got)
	}
	clustertest.Until(t, "it is reported", func() bool { return strings.Contains(c.Log.String(), "of a query does not return") })
	close(code.gate)
	if err := <-first; err != nil {
		t.Errorf("the answer was on its way, but the caller got %v", err)
	}
}

// Calls of one handler that do not return are bounded: more are refused at once. Other questions
// are not, and all are answered again when the calls have returned.
func TestQueriesThatDoNotReturnAreBounded(t *testing.T) {
	c := clustertest.New(t)
	code := newStuckCode()
	n := c.Run(nil, code.handle)
	run, other := startStuck(t, n.Node), startStuck(t, n.Node)
	for range 4 {
		code.wantStuck(t, n.Node, run)
	}
	_, err := runtime.Query(clustertest.Context(t), n.Node, run, endless, 0)
	if !errors.Is(err, runtime.ErrStuck) || !strings.Contains(err.Error(), `4 calls for this run`) {
		t.Errorf("the fifth: %v", err)
	}
	if got := ask(t, n.Node, run, read, 0); got != 2 {
		t.Errorf("another question is answered with %d", got)
	}
	code.wantStuck(t, n.Node, other)
	for range 27 / 3 { // 32 of all runs then, with those above
		another := startStuck(t, n.Node)
		for range 3 {
			code.wantStuck(t, n.Node, another)
		}
	}
	_, err = runtime.Query(clustertest.Context(t), n.Node, other, endless, 0)
	if !errors.Is(err, runtime.ErrStuck) || !strings.Contains(err.Error(), `1 calls for this run and 32 of all runs of workflow "meter"`) {
		t.Errorf("the thirty-third: %v", err)
	}
	close(code.gate)
	clustertest.Until(t, "the question is answered again", func() bool {
		got, err := runtime.Query(clustertest.Context(t), n.Node, run, endless, 0)
		return err == nil && got == 1
	})
}

// The next question does not wait for the watchdog, and one without a deadline is not waited for
// without end.
func TestQueryThatDoesNotReturnHasALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := runtime.NewNode(journal.New(memory.New(nil), nil), nil)
		code := newStuckCode()
		code.handle(n)
		started, err := runtime.Start(context.Background(), n.Client(), meter, 0, nil)
		run := clustertest.MustStart(t, started, err)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if _, err := runtime.Query(ctx, n, run.ID(), endless, 0); !errors.Is(err, runtime.ErrStuck) {
			t.Errorf("got %v", err)
		}
		began := time.Now()
		if got := ask(t, n, run.ID(), read, 0); got != 2 || time.Since(began) > 100*time.Millisecond {
			t.Errorf("the next question has to wait: %d after %s", got, time.Since(began))
		}
		_, err = runtime.Query(context.Background(), n, run.ID(), endless, 0)
		if took := time.Since(began); !errors.Is(err, runtime.ErrStuck) || took < 10*time.Second || took > time.Minute {
			t.Errorf("after %s: %v", took, err)
		}
		close(code.gate)
	})
}

// The replay that a question needs may not return either, and neither may what the workflow has
// deferred, when the replica is closed. Nobody waits for the latter.
func TestReplayForAQueryThatDoesNotReturn(t *testing.T) {
	c := clustertest.New(t)
	gate := make(chan struct{})
	defer close(gate)
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, meter, func(ctx workflow.Context, _ int) (int, error) { return number.Receive(ctx) }, nil)
	})
	run := startStuck(t, n.Node)
	o := c.Options()
	o.StuckAfter = 20 * time.Millisecond
	replays := runtime.NewNode(c.Open(nil), o)
	ctx, cancel := context.WithCancel(clustertest.Context(t))
	defer cancel()
	runtime.Handle(replays, meter, func(workflow.Context, int) (int, error) { cancel(); <-gate; return 0, nil }, nil)
	_, err := runtime.Query(ctx, replays, run, read, 0)
	if !errors.Is(err, runtime.ErrStuck) || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "the replay of its history") {
		t.Errorf("got %v", err)
	}

	defers := spare(c, func(n *runtime.Node) {
		runtime.Handle(n, meter, func(ctx workflow.Context, _ int) (int, error) {
			defer func() { <-gate }()
			read.Handle(ctx, func(int) (int, error) { return 2, nil })
			return number.Receive(ctx)
		}, nil)
	})
	for range 2 {
		if got := ask(t, defers, run, read, 0); got != 2 {
			t.Errorf("got %d", got)
		}
	}
}
