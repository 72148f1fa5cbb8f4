package runtime_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/actor"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const (
	belt    workflow.Name[int, int]   = "belt"
	beltAdd workflow.Update[int, int] = "add"
)

// belts are workflows of two steps, one after the other, whose bodies tell when they begin and wait
// until they may end.
type belts struct {
	began chan string // names of steps
	open  chan error
	mu    sync.Mutex
	cause error // for which a context of a step ended
}

func newBelts() *belts { return &belts{began: make(chan string, 100), open: make(chan error, 100)} }

func (b *belts) handle(n *runtime.Node) {
	step := func(ctx workflow.Context, name string) error {
		_, err := workflow.Step(ctx, name, func(ctx context.Context) (int, error) {
			b.began <- name
			select {
			case err := <-b.open:
				return 0, err
			case <-ctx.Done():
				b.mu.Lock()
				defer b.mu.Unlock()
				b.cause = context.Cause(ctx)
				return 0, ctx.Err()
			}
		}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Millisecond}})
		return err
	}
	runtime.Handle(n, belt, func(ctx workflow.Context, sum int) (int, error) {
		beltAdd.Handle(ctx, func(_ workflow.Context, n int) (int, error) { sum += n; return sum, nil }, nil)
		if err := step(ctx, "first"); err != nil {
			return 0, err
		}
		if err := step(ctx, "second"); err != nil {
			return 0, err
		}
		return sum, nil
	}, nil)
}

// wantState waits until the task of a run is in a state, with an owner or without.
func wantState(t *testing.T, c *runtime.Client, run journal.RunID, want journal.TaskState, owned bool) {
	t.Helper()
	clustertest.Described(t, c, run, "it is "+want.String(), func(d *runtime.Description) bool {
		return d.Run.Task != nil && d.Run.Task.State == want && owned == (d.Run.Task.Owner != 0)
	})
}

// J11, J12: no step of a paused run starts, on each store; the step that is executed ends and is
// stored; updates wait; the audit and Why say who paused the run. A resume lets all of it go on.
func TestPause(t *testing.T) {
	t.Run("Postgres", func(t *testing.T) {
		c, b := clustertest.New(t), newBelts()
		n := c.Run(nil, b.handle)
		pausesARun(t, n.Node, runtime.NewClient(c.Journal, &runtime.ClientOptions{Actor: "otto"}), b)
		n.Stop()
	})
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		b := newBelts()
		n, _ := clustertest.SQLiteNode(t, filepath.Join(t.TempDir(), "reprise.db"), &clustertest.Log{}, b.handle)
		pausesARun(t, n, n.Client(), b)
	})
}

func pausesARun(t *testing.T, n *runtime.Node, client *runtime.Client, b *belts) {
	ctx := runtime.WithReason(clustertest.Context(t), "for the test")
	eva := runtime.WithActor(ctx, "eva")
	started, err := runtime.Start(ctx, client, belt, 1, nil)
	run := clustertest.MustStart(t, started, err)
	if name := <-b.began; name != "first" {
		t.Errorf("step %s has begun", name)
	}
	if err := client.Pause(eva, run.ID(), &runtime.PauseOptions{Reason: "the price is wrong"}); err != nil {
		t.Fatal(err)
	}
	wantState(t, client, run.ID(), journal.Paused, true)
	r, e := whyOf(t, client, run.ID(), runtime.ReasonPaused)
	if want := "eva has paused it: the price is wrong; steps that were executed then may finish"; r.Text != want || r.Since.IsZero() ||
		r.Remedy != "let it go on: reprise run resume "+run.ID().String() || e.Reasons[0].Kind != runtime.ReasonPaused {
		t.Errorf("why: %+v", e.Reasons)
	}
	b.open <- errors.New("once more")
	wantState(t, client, run.ID(), journal.Paused, false)
	if err := client.Pause(ctx, run.ID(), nil); err != nil { // it is paused
		t.Error(err)
	}
	update, err := runtime.SendUpdate(ctx, client, run.ID(), beltAdd, 5, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Cancel(ctx, run.ID(), "later"); err != nil {
		t.Fatal(err)
	}
	other, err := runtime.Start(ctx, client, belt, 2, nil) // which shows that the node is awake
	clustertest.MustStart(t, other, err)
	if name := <-b.began; name != "first" {
		t.Errorf("step %s has begun", name)
	}
	b.open <- nil
	if name := <-b.began; name != "second" {
		t.Errorf("step %s has begun, of the run that is not paused", name)
	}
	b.open <- nil
	clustertest.MustResult(t, other)
	if d := clustertest.Described(t, client, run.ID(), "messages wait", func(d *runtime.Description) bool { return d.Unread == 2 }); d.Events != 1 ||
		len(d.Steps) != 1 || d.Steps[0].Attempts != 1 {
		t.Errorf("the paused run has %d events, steps %+v", d.Events, d.Steps)
	}
	if err := client.Resume(eva, run.ID()); err != nil {
		t.Fatal(err)
	}
	if sum, err := update.Result(ctx); err != nil || sum != 6 {
		t.Errorf("the update says %d, %v", sum, err)
	}
	if _, err := run.Result(ctx); !errors.Is(err, workflow.ErrCancelled) {
		t.Errorf("the result is %v", err)
	}
	if err := client.Pause(ctx, run.ID(), nil); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("a pause of a closed run: %v", err)
	}
	if err := client.Delete(ctx, run.ID()); err != nil {
		t.Error(err)
	}
	list, err := client.Audit(ctx, journal.AuditFilter{Run: run.ID()})
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, e := range list {
		actor := e.Actor
		if actor != "eva" && actor != "otto" && strings.Contains(actor, "@") {
			actor = "otto" // the default of a node's client
		}
		said = append(said, actor+" "+e.Verb+" "+e.Workflow+" "+e.Reason)
	}
	if diff := cmp.Diff([]string{"otto delete belt for the test", "eva resume belt for the test", "eva pause belt the price is wrong"}, said); diff != "" {
		t.Errorf("audit: %s", diff)
	}
	_ = n
}

// J11: an operator who does not want to wait has the steps interrupted; the attempt does not count.
func TestPauseCancelsSteps(t *testing.T) {
	c, b := clustertest.New(t), newBelts()
	n := c.Run(nil, b.handle)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	started, err := runtime.Start(ctx, client, belt, 1, nil)
	run := clustertest.MustStart(t, started, err)
	<-b.began
	for _, cancel := range []bool{false, true} {
		if err := client.Pause(ctx, run.ID(), &runtime.PauseOptions{CancelSteps: cancel}); err != nil {
			t.Fatal(err)
		}
		wantState(t, client, run.ID(), journal.Paused, !cancel)
	}
	b.mu.Lock()
	if !errors.Is(b.cause, actor.ErrPaused) {
		t.Errorf("the step was interrupted for %v", b.cause)
	}
	b.mu.Unlock()
	if d := clustertest.Described(t, client, run.ID(), "", func(*runtime.Description) bool { return true }); len(d.Run.Task.Attempts) != 0 {
		t.Errorf("attempts: %+v", d.Run.Task.Attempts)
	}
	if err := client.Terminate(ctx, run.ID(), "enough"); err != nil {
		t.Error(err)
	}
	n.Stop()
}

// A run without a node is paused at once, and stays so when a node comes. Terminate ends it.
func TestPauseWithoutANode(t *testing.T) {
	c, b := clustertest.New(t), newBelts()
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	var runs []*runtime.Run[int]
	for i := range 2 {
		started, err := runtime.Start(ctx, client, belt, i, nil)
		runs = append(runs, clustertest.MustStart(t, started, err))
		if err := client.Pause(ctx, runs[i].ID(), &runtime.PauseOptions{CancelSteps: true}); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Pause(ctx, journal.NewRunID(), nil); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("no run: %v", err)
	}
	state := journal.Paused
	if page, err := client.List(ctx, journal.ListFilter{State: &state}); err != nil || len(page.Runs) != 2 {
		t.Errorf("%d runs are paused, %v", len(page.Runs), err)
	}
	n := c.Run(nil, b.handle)
	if err := client.Terminate(ctx, runs[0].ID(), "enough"); err != nil {
		t.Error(err)
	}
	short, cancel := context.WithTimeout(ctx, 1200*time.Millisecond)
	defer cancel()
	if _, err := runs[1].Result(short); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "is paused; Client.Why says by whom") {
		t.Errorf("the result of a paused run: %v", err)
	}
	wantState(t, client, runs[1].ID(), journal.Paused, false)
	if len(b.began) > 0 {
		t.Errorf("step %s of a paused run has begun", <-b.began)
	}
	if err := client.Resume(ctx, runs[1].ID()); err != nil {
		t.Fatal(err)
	}
	b.open <- nil
	b.open <- nil
	clustertest.MustResult(t, runs[1])
	n.Stop()
}

// runOfADeadNode starts a run and lets its node die in the first step, unnoticed so far.
func runOfADeadNode(t *testing.T, c *clustertest.Cluster, client *runtime.Client) *runtime.Run[int] {
	t.Helper()
	b := newBelts()
	mortal := c.RunMortal(b.handle)
	started, err := runtime.Start(clustertest.Context(t), client, belt, 1, nil)
	run := clustertest.MustStart(t, started, err)
	<-b.began
	mortal.Die()
	return run
}

// J11: a pause that its node cannot answer stays asked for: the caller hears who has not answered,
// and when the node dies the run is paused. The step that was lost with it begins when the run is
// resumed.
func TestPauseOutlivesTheNode(t *testing.T) {
	c, b := clustertest.New(t), newBelts()
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	run := runOfADeadNode(t, c, client)
	patient, lose := context.WithCancelCause(ctx)
	answer := make(chan error, 1)
	go func() { answer <- client.Pause(patient, run.ID(), nil) }()
	wantState(t, client, run.ID(), journal.Pausing, true)
	lose(context.DeadlineExceeded)
	err := <-answer
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "the run's node has not answered yet") {
		t.Fatalf("a pause of a run whose node is gone: %v", err)
	}
	if r, _ := whyOf(t, client, run.ID(), runtime.ReasonPaused); !strings.HasSuffix(r.Text, "has paused it; its node has not answered yet") {
		t.Errorf("why: %+v", r)
	}
	n := c.Run(nil, b.handle)
	if err := client.Pause(ctx, run.ID(), nil); err != nil { // waits for the death to be noticed
		t.Fatal(err)
	}
	wantState(t, client, run.ID(), journal.Paused, false)
	if len(b.began) > 0 {
		t.Errorf("step %s of a paused run has begun", <-b.began)
	}
	if err := client.Resume(ctx, run.ID()); err != nil {
		t.Fatal(err)
	}
	b.open <- nil
	b.open <- nil
	clustertest.MustResult(t, run)
	n.Stop()
}

// A caller whose pause somebody takes back, or whose run ends first, hears so.
func TestPauseIsOvertaken(t *testing.T) {
	c := clustertest.New(t)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	conn := c.Connect()
	for want, overtake := range map[string]func(journal.RunID) error{
		"somebody has resumed it": func(run journal.RunID) error { return client.Resume(ctx, run) },
		"run is closed":           func(run journal.RunID) error { return client.Terminate(ctx, run, "") },
	} {
		started, err := runtime.Start(ctx, client, belt, 1, nil)
		run := clustertest.MustStart(t, started, err)
		if _, err := conn.Exec(ctx, `UPDATE reprise.tasks SET owner = 77, fence = 1 << 20 WHERE run_id = $1`, run.ID()); err != nil {
			t.Fatal(err)
		}
		paused := make(chan error, 1)
		go func() { paused <- client.Pause(ctx, run.ID(), nil) }()
		wantState(t, client, run.ID(), journal.Pausing, true)
		if err := overtake(run.ID()); err != nil {
			t.Fatal(err)
		}
		if err := <-paused; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the pause says %v, want %s", err, want)
		}
		_ = client.Terminate(ctx, run.ID(), "")
	}
	if err := client.Pause(runtime.WithActor(ctx, "two\nlines"), journal.NewRunID(), nil); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("an actor of two lines: %v", err)
	}
}
