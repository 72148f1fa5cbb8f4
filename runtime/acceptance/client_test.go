package acceptance_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// A closed run can be deleted, an open one cannot. Nothing of it stays, its key is free, and nobody waits for it in vain.
func TestDeleteForgetsAClosedRun(t *testing.T) {
	c := clustertest.New(t)
	n := c.Run(nil, handleCollect)
	client, ctx, conn := runtime.NewClient(c.Journal, nil), clustertest.Context(t), c.Connect()
	keyed := &runtime.StartOptions{Key: "once", Labels: map[string]string{"a": "b"}}
	started, err := runtime.Start(ctx, client, collect, 1, keyed)
	run := clustertest.MustStart(t, started, err)
	if err := client.Delete(ctx, run.ID()); !errors.Is(err, journal.ErrOpen) {
		t.Errorf("deleting an open run: %v, want ErrOpen", err)
	}
	if err := runtime.Signal(ctx, client, run.ID(), number, 7, nil); err != nil {
		t.Fatal(err)
	}
	clustertest.MustResult(t, run)
	if err := client.Delete(ctx, run.ID()); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"runs", "events", "inbox", "tasks"} {
		if n := clustertest.Query[int](t, conn, `SELECT count(*) FROM reprise.`+table); n != 0 {
			t.Errorf("%d rows are left in %s", n, table)
		}
	}
	_, describe := client.Describe(ctx, run.ID())
	_, result := runtime.RunOf(client, collect, run.ID()).Result(ctx)
	for what, err := range map[string]error{
		"describe": describe, "result": result, "delete": client.Delete(ctx, run.ID()),
		"signal": runtime.Signal(ctx, client, run.ID(), number, 1, nil), "terminate": client.Terminate(ctx, run.ID(), ""),
	} {
		if !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("%s: %v, want ErrNotFound", what, err)
		}
	}
	again, err := runtime.Start(ctx, n.Client(), collect, 0, keyed)
	if again = clustertest.MustStart(t, again, err); !again.Created() {
		t.Error("the key still leads to the deleted run")
	}
	clustertest.MustResult(t, again)
}

// Runs are listed by label, status, state, time, key and workflow, newest first, page by page.
func TestListSelectsRuns(t *testing.T) {
	c := clustertest.New(t)
	n := c.Run(nil, func(n *runtime.Node) { handleCollect(n); handleEcho(n) })
	client, ctx := runtime.NewClient(c.Journal, nil), clustertest.Context(t)
	var ids []journal.RunID // in the order of their starts
	for i := range 12 {
		o := &runtime.StartOptions{Key: fmt.Sprintf("k%d/%d", i%2, i), Labels: map[string]string{"color": []string{"red", "green", "blue"}[i%3], "n": fmt.Sprint(i)}}
		if i < 6 {
			started, err := runtime.Start(ctx, n.Client(), greet, "x", o)
			run := clustertest.MustStart(t, started, err)
			clustertest.MustResult(t, run)
			ids = append(ids, run.ID())
			continue
		}
		started, err := runtime.Start(ctx, n.Client(), collect, 1, o)
		run := clustertest.MustStart(t, started, err)
		clustertest.Parked(t, client, run.ID())
		ids = append(ids, run.ID())
	}
	if err := client.Terminate(ctx, ids[11], "enough"); err != nil {
		t.Fatal(err)
	}
	middle, err := client.Describe(ctx, ids[6])
	if err != nil {
		t.Fatal(err)
	}
	status := func(s journal.Status) *journal.Status { return &s }
	blocked, ready := journal.Blocked, journal.Ready
	for name, tc := range map[string]struct {
		filter journal.ListFilter
		want   []int
	}{
		"all":          {journal.ListFilter{}, []int{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
		"label":        {journal.ListFilter{Labels: map[string]string{"color": "green"}}, []int{10, 7, 4, 1}},
		"two labels":   {journal.ListFilter{Labels: map[string]string{"color": "green", "n": "7"}}, []int{7}},
		"no label":     {journal.ListFilter{Labels: map[string]string{"color": "gree"}}, nil},
		"open":         {journal.ListFilter{Status: status(journal.Open)}, []int{10, 9, 8, 7, 6}},
		"completed":    {journal.ListFilter{Status: status(journal.Completed)}, []int{5, 4, 3, 2, 1, 0}},
		"terminated":   {journal.ListFilter{Status: status(journal.Terminated)}, []int{11}},
		"failed":       {journal.ListFilter{Status: status(journal.Failed)}, nil},
		"ready":        {journal.ListFilter{State: &ready}, []int{10, 9, 8, 7, 6}},
		"blocked":      {journal.ListFilter{State: &blocked}, nil},
		"since":        {journal.ListFilter{Since: middle.Run.CreatedAt}, []int{11, 10, 9, 8, 7, 6}},
		"until":        {journal.ListFilter{Until: middle.Run.CreatedAt}, []int{5, 4, 3, 2, 1, 0}},
		"key":          {journal.ListFilter{Key: "k1/3"}, []int{3}},
		"key prefix":   {journal.ListFilter{KeyPrefix: "k1/"}, []int{11, 9, 7, 5, 3, 1}},
		"workflow":     {journal.ListFilter{Workflow: string(greet)}, []int{5, 4, 3, 2, 1, 0}},
		"status+label": {journal.ListFilter{Status: status(journal.Open), Labels: map[string]string{"color": "red"}}, []int{9, 6}},
	} {
		for _, limit := range []int{0, 2} {
			var got []int
			f := tc.filter
			for f.Limit = limit; ; {
				page, err := client.List(ctx, f)
				if err != nil {
					t.Fatal(err)
				}
				for i := range page.Runs {
					got = append(got, slices.Index(ids, page.Runs[i].ID))
				}
				if f.Cursor = page.Next; f.Cursor == "" {
					break
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("%s, %d a page: runs %v, want %v", name, limit, got, tc.want)
			}
		}
	}
}

const states workflow.Name[string, string] = "states"

// stating brings a run into the state that its input names.
func stating(release <-chan struct{}) func(ctx workflow.Context, state string) (string, error) {
	return func(ctx workflow.Context, state string) (string, error) {
		switch state {
		case "step":
			return workflow.Step(ctx, "body", func(context.Context) (string, error) { <-release; return state, nil }, nil)
		case "retry":
			return workflow.Step(ctx, "flaky", func(context.Context) (string, error) { return "", errors.New("down") },
				&workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Hour, Max: time.Hour}})
		case "timer":
			return "", workflow.NewNamedTimer(ctx, "cool off", time.Hour).Get(ctx)
		case "signal", "cancelled", "terminated":
			return approved.Receive(ctx)
		case "blocked":
			panic("a bug of the day")
		case "failed":
			return "", errors.New("no luck")
		}
		return state, nil
	}
}

// A run is described in every state: what it waits for, what went wrong, and how it ended.
func TestDescribeInEachState(t *testing.T) {
	c := clustertest.New(t)
	release := make(chan struct{})
	n := c.Run(nil, func(n *runtime.Node) { runtime.Handle(n, states, stating(release), nil) })
	t.Cleanup(sync.OnceFunc(func() { close(release) }))
	client, ctx := runtime.NewClient(c.Journal, nil), clustertest.Context(t)
	for state, ok := range map[string]func(d *runtime.Description) bool{
		"step": func(d *runtime.Description) bool { return d.Run.Task.Owner == n.ID() },
		"retry": func(d *runtime.Description) bool {
			return len(d.Steps) == 1 && d.Steps[0].Name == "flaky" && d.Steps[0].Attempts == 1 && d.Steps[0].LastError.Message == "down" &&
				time.Until(d.Steps[0].NextAt) > 40*time.Minute && d.Run.Task.Owner == 0 && slices.Equal(d.Waiting, []string{"step flaky"})
		},
		"timer": func(d *runtime.Description) bool {
			return len(d.Timers) == 1 && d.Timers[0].Name == "cool off" && d.Timers[0].Due.Equal(d.Run.Task.VisibleAt) &&
				len(d.Waiting) == 1 && strings.HasPrefix(d.Waiting[0], "timer ")
		},
		"signal": func(d *runtime.Description) bool {
			return slices.Equal(d.Waiting, []string{"signal approved"}) && d.Run.Task.VisibleAt.IsZero() && d.Unread == 0 && d.Events == 1
		},
		"blocked": func(d *runtime.Description) bool {
			return d.Run.Task.State == journal.Blocked && strings.Contains(d.Run.Task.Problem, "a bug of the day") && d.Run.Task.Owner == 0
		},
		"completed": func(d *runtime.Description) bool {
			return d.Run.Status == journal.Completed && d.Run.Terminal.Kind == journal.RunCompleted && string(d.Run.Terminal.Payload.Data) == `"completed"`
		},
		"failed": func(d *runtime.Description) bool {
			f, err := journal.DecodeFailure(d.Run.Terminal.Payload)
			return d.Run.Status == journal.Failed && err == nil && f.Message == "no luck"
		},
		"cancelled": func(d *runtime.Description) bool {
			return d.Run.Status == journal.Cancelled && d.Run.Terminal.Kind == journal.RunCancelled
		},
		"terminated": func(d *runtime.Description) bool {
			return d.Run.Status == journal.Terminated && d.Run.Terminal.Kind == journal.RunTerminated
		},
	} {
		started, err := runtime.Start(ctx, client, states, state, &runtime.StartOptions{Key: state})
		run := clustertest.MustStart(t, started, err)
		switch state {
		case "cancelled":
			err = client.Cancel(ctx, run.ID(), "changed my mind")
		case "terminated":
			err = client.Terminate(ctx, run.ID(), "enough")
		}
		if err != nil {
			t.Fatal(err)
		}
		ended := slices.Contains([]string{"completed", "failed", "cancelled", "terminated"}, state)
		d := clustertest.Described(t, client, run.ID(), "the run is "+state, func(d *runtime.Description) bool {
			return ended == d.Run.Status.Closed() && ended == (d.Run.Task == nil) && ok(d)
		})
		if d.Run.Key != state || d.Run.Workflow != string(states) || d.Run.ClosedAt.IsZero() == ended || ended && len(d.Steps)+len(d.Timers)+len(d.Waiting) != 0 {
			t.Errorf("%s: %+v", state, d)
		}
	}
}

const trip workflow.Name[string, string] = "trip"

// journeys is a saga over the table account. Its second step takes effect although it is asked to stop.
func journeys(inStep chan<- struct{}, refund error) func(workflow.Context, string) (string, error) {
	write := func(entry string) func(context.Context, pgx.Tx) error {
		return func(ctx context.Context, tx pgx.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO account VALUES ($1)`, entry)
			return err
		}
	}
	once := &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 2, Initial: time.Millisecond}}
	return func(ctx workflow.Context, in string) (string, error) {
		return workflow.Saga(ctx, func(ctx workflow.Context, undo *workflow.Undo) (string, error) {
			_, err := workflow.StepTx(ctx, "reserve", func(ctx context.Context, tx pgx.Tx) (int, error) { return 0, write("reserved")(ctx, tx) }, nil)
			if err != nil {
				return "", err
			}
			workflow.PushTx(undo, "release", write("released"), nil)
			workflow.PushTx(undo, "refund", func(ctx context.Context, tx pgx.Tx) error {
				return errors.Join(write("refunded")(ctx, tx), refund)
			}, once)
			_, err = workflow.StepTx(ctx, "charge", func(ctx context.Context, tx pgx.Tx) (int, error) {
				inStep <- struct{}{}
				<-ctx.Done()
				return 0, write("charged")(context.WithoutCancel(ctx), tx)
			}, nil)
			if err != nil {
				return "", err
			}
			return approved.Receive(ctx)
		})
	}
}

// A saga whose run is cancelled in the middle of a step: what took effect is undone in reverse order, exactly once, and the run
// is cancelled. A compensation that fails for good does not stop the others, and is told in the run's failure.
func TestSagaIsUndoneWhenCancelledDuringAStep(t *testing.T) {
	for name, tc := range map[string]struct {
		refund error
		want   string
	}{
		"undone":     {nil, "reserved charged refunded released"},
		"undo fails": {errors.New("the bank is closed"), "reserved charged released"},
	} {
		t.Run(name, func(t *testing.T) {
			c := clustertest.New(t)
			conn := c.Account()
			if _, err := conn.Exec(clustertest.Context(t), `ALTER TABLE account ADD at bigint GENERATED ALWAYS AS IDENTITY`); err != nil {
				t.Fatal(err)
			}
			inStep := make(chan struct{}, 10)
			register := func(n *runtime.Node) { runtime.Handle(n, trip, journeys(inStep, tc.refund), nil) }
			c.Run(nil, register)
			c.Run(nil, register)
			client, ctx := runtime.NewClient(c.Journal, nil), clustertest.Context(t)
			started, err := runtime.Start(ctx, client, trip, "", nil)
			run := clustertest.MustStart(t, started, err)
			<-inStep
			if err := client.Cancel(ctx, run.ID(), "changed my mind"); err != nil {
				t.Fatal(err)
			}
			_, err = run.Result(ctx)
			e := clustertest.WantError[*runtime.CancelledError](t, err)
			if got := clustertest.Query[string](t, conn, `SELECT string_agg(entry, ' ' ORDER BY at) FROM account`); got != tc.want {
				t.Errorf("entries: %s; want %s", got, tc.want)
			}
			if tc.refund == nil {
				return
			}
			f := e.Failure
			if f.Type != journal.FailureUndo || !strings.Contains(f.Message, "could not undo: step refund: the bank is closed") || len(f.Details) != 1 {
				t.Errorf("failure %+v", f)
			}
		})
	}
}
