package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// wrongApproval has the name of approved, and another type.
const wrongApproval = workflow.Signal[int](approved)

// handleSaga registers a workflow that holds something until it is approved, and gives it back if
// it is cancelled.
func handleSaga(undone *atomic.Int32, o *runtime.HandleOptions) func(n *runtime.Node) {
	return func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, _ string) (string, error) {
			answer.Handle(ctx, func(string) (string, error) { return "here", nil })
			return workflow.Saga(ctx, func(ctx workflow.Context, undo *workflow.Undo) (string, error) {
				undo.Push("undo", func(context.Context) error { undone.Add(1); return nil }, nil)
				return approved.Receive(ctx)
			})
		}, o)
	}
}

func startWaiter(t *testing.T, n *clustertest.Node) *runtime.Run[string] {
	t.Helper()
	run, err := runtime.Start(clustertest.Context(t), n.Client(), waiter, "", nil)
	return clustertest.MustStart(t, run, err)
}

const answer workflow.Query[string, string] = "answer"

// TestBadSignalIsSetAside: a signal that does not decode keeps nothing that comes after it from the
// run, is in the log and shown by Describe, and its payload stays in the history.
func TestBadSignalIsSetAside(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	var undone atomic.Int32
	n := c.Run(nil, handleSaga(&undone, nil))
	send := func(end func(run journal.RunID) error) *runtime.Run[string] {
		run := startWaiter(t, n)
		if err := errors.Join(runtime.Signal(ctx, n.Client(), run.ID(), wrongApproval, 42, nil), end(run.ID())); err != nil {
			t.Fatal(err)
		}
		return run
	}
	run := send(func(run journal.RunID) error { return runtime.Signal(ctx, n.Client(), run, approved, "yes", nil) })
	if got := clustertest.MustResult(t, run); got != "yes" {
		t.Errorf("got %q", got)
	}
	events, err := n.Client().History(ctx, run.ID())
	if err != nil || !slices.ContainsFunc(events, func(ev journal.Event) bool { return ev.Inbox == 1 && string(ev.Payload.Data) == "42" }) {
		t.Errorf("the payload is not in the history: %v, %v", events, err)
	}
	for _, want := range []string{"a signal does not decode and is set aside; the run goes on without it", run.ID().String(), "message=1", "number into Go value of type string"} {
		if !strings.Contains(c.Log.String(), want) {
			t.Errorf("the log has no %q", want)
		}
	}
	held := startWaiter(t, n)
	if err := runtime.Signal(ctx, n.Client(), held.ID(), wrongApproval, 43, nil); err != nil {
		t.Fatal(err)
	}
	d := clustertest.Described(t, n.Client(), held.ID(), "the signal is shown", func(d *runtime.Description) bool { return len(d.SetAside) > 0 })
	if want := (runtime.SetAsideSignal{Name: "approved", Number: 1}); d.SetAside[0] != want || len(d.SetAside) != 1 || d.Unread != 0 {
		t.Errorf("set aside %v, %d unread", d.SetAside, d.Unread)
	}
	cancelled := send(func(run journal.RunID) error { return n.Client().Cancel(ctx, run, "enough") })
	if _, err := cancelled.Result(ctx); !errors.Is(err, workflow.ErrCancelled) || undone.Load() != 1 {
		t.Errorf("got %v, undone %d times", err, undone.Load())
	}
}

// TestBadSignalBlocks: a workflow may want to have every signal. A run is blocked until code comes
// that decodes it; a cancel request is not behind it all the same, nor are queries after that.
func TestBadSignalBlocks(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	var undone atomic.Int32
	strict := &runtime.HandleOptions{BlockOnBadSignal: true}
	n := c.Run(nil, handleSaga(&undone, strict))
	block := func() *runtime.Run[string] {
		run := startWaiter(t, n)
		if err := runtime.Signal(ctx, n.Client(), run.ID(), wrongApproval, 42, nil); err != nil {
			t.Fatal(err)
		}
		d := clustertest.Described(t, n.Client(), run.ID(), "the run is blocked", func(d *runtime.Description) bool {
			return d.Run.Task != nil && d.Run.Task.State == journal.Blocked
		})
		if problem := d.Run.Task.Problem; !strings.Contains(problem, "signal approved") || len(d.SetAside) != 0 || d.Unread != 1 {
			t.Errorf("problem %q, set aside %v, %d unread", problem, d.SetAside, d.Unread)
		}
		return run
	}
	kept, cancelled := block(), block()
	for i := range 3 { // what lies between does not matter
		if err := runtime.Signal(ctx, n.Client(), cancelled.ID(), number, i, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := n.Client().Cancel(ctx, cancelled.ID(), "enough"); err != nil {
		t.Fatal(err)
	}
	if got, err := runtime.Query(ctx, n.Node, cancelled.ID(), answer, ""); err != nil || got != "here" {
		t.Errorf("a query: %q, %v", got, err)
	}
	if err := n.Client().Resume(ctx, cancelled.ID()); err != nil {
		t.Fatal(err)
	}
	if _, err := cancelled.Result(ctx); !errors.Is(err, workflow.ErrCancelled) || undone.Load() != 1 {
		t.Errorf("got %v, undone %d times", err, undone.Load())
	}
	n.Stop()
	c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, _ string) (string, error) {
			v, err := wrongApproval.Receive(ctx)
			return fmt.Sprint(v), err
		}, strict)
	})
	if got := clustertest.MustResult(t, kept); got != "42" {
		t.Errorf("got %q", got)
	}
}

// TestUnreceivedSignalsAreShown: a signal of a name that nobody receives is seen with the run.
func TestUnreceivedSignalsAreShown(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	n := c.Run(nil, handleSaga(new(atomic.Int32), nil))
	run := startWaiter(t, n)
	for _, name := range []workflow.Signal[string]{"aproved", "aproved", "another"} {
		if err := runtime.Signal(ctx, n.Client(), run.ID(), name, "yes", nil); err != nil {
			t.Fatal(err)
		}
	}
	d := clustertest.Described(t, n.Client(), run.ID(), "the signals are consumed", func(d *runtime.Description) bool { return len(d.Waiting) == 3 && d.Unread == 0 })
	if want := []string{"signal approved", "1 of signal another not received", "2 of signal aproved not received"}; !slices.Equal(d.Waiting, want) {
		t.Errorf("it shows %q, want %q", d.Waiting, want)
	}
}

// TestUnlistedSignalsAreWarnedOf: the client of a node knows which signals a workflow receives, if
// the registration lists them: a signal of another name is warned of, once, and sent.
func TestUnlistedSignalsAreWarnedOf(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	n := c.Run(nil, func(n *runtime.Node) {
		handleSaga(new(atomic.Int32), &runtime.HandleOptions{Signals: []string{"approved"}})(n)
		handleCollect(n)
	})
	run := startWaiter(t, n)
	free, err := runtime.Start(ctx, n.Client(), collect, 1, nil)
	free = clustertest.MustStart(t, free, err)
	const aproved workflow.Signal[string] = "aproved"
	for _, id := range []journal.RunID{run.ID(), run.ID(), free.ID()} { // of the other workflow nothing is known
		if err := runtime.Signal(ctx, n.Client(), id, aproved, "yes", nil); err != nil {
			t.Fatal(err)
		}
	}
	const line = "the workflow does not receive signals of this name, as its registration says; the signal was sent"
	if log := c.Log.String(); strings.Count(log, line) != 1 || !strings.Contains(log, "reprise.signal=aproved reprise.run="+run.ID().String()) {
		t.Errorf("the log has:\n%s", log)
	}
	if err := runtime.Signal(ctx, n.Client(), run.ID(), approved, "yes", nil); err != nil {
		t.Fatal(err)
	}
	if got := clustertest.MustResult(t, run); got != "yes" || strings.Count(c.Log.String(), line) != 1 {
		t.Errorf("got %q", got)
	}
	const another workflow.Signal[string] = "another"
	if _, err := runtime.SignalWithStart(ctx, n.Client(), waiter, "", another, "yes", &runtime.StartOptions{Key: "k"}, nil); err != nil {
		t.Fatal(err)
	}
	if strings.Count(c.Log.String(), line) != 2 {
		t.Error("a signal with a start is not warned of")
	}
	defer func() {
		if p := fmt.Sprint(recover()); !strings.Contains(p, "signal") {
			t.Errorf("an invalid name: %s", p)
		}
	}()
	runtime.Handle(runtime.NewNode(c.Journal, nil), waiter, func(workflow.Context, string) (string, error) { return "", nil },
		&runtime.HandleOptions{Signals: []string{""}})
}

// TestUnlistedSignalsAreWarnedOfElsewhere: a client without the code learns from the live nodes
// which signals they list.
func TestUnlistedSignalsAreWarnedOfElsewhere(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	n := c.Run(nil, func(n *runtime.Node) {
		handleSaga(new(atomic.Int32), &runtime.HandleOptions{Signals: []string{"approved"}})(n)
		handleCollect(n)
	})
	run := startWaiter(t, n)
	free, err := runtime.Start(ctx, n.Client(), collect, 1, nil)
	free = clustertest.MustStart(t, free, err)
	log := &clustertest.Log{}
	client := runtime.NewClient(c.Journal, &runtime.ClientOptions{Logger: slog.New(slog.NewTextHandler(log, nil))})
	send := func(id journal.RunID, name workflow.Signal[string]) {
		t.Helper()
		if err := runtime.Signal(ctx, client, id, name, "yes", nil); err != nil {
			t.Fatal(err)
		}
	}
	const line = "the workflow does not receive signals of this name, as its registration says; the signal was sent"
	for _, id := range []journal.RunID{free.ID(), run.ID(), run.ID()} { // of the first workflow nothing is known
		send(id, "aproved")
	}
	clustertest.Until(t, "the client has warned", func() bool { return strings.Contains(log.String(), line) })
	if text := log.String(); strings.Count(text, line) != 1 || !strings.Contains(text, "reprise.signal=aproved reprise.run="+run.ID().String()) {
		t.Errorf("the log has:\n%s", text)
	}
}
