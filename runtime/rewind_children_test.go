package runtime_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const (
	elder   workflow.Name[string, string] = "elder"
	middle  workflow.Name[string, string] = "middle"
	youth   workflow.Name[string, string] = "youth"
	youthGo workflow.Signal[string]       = "go"
)

// lineage is a run that calls a run that calls another one, which executes a step. The elder has a
// step of its own beside its child if it is asked to.
type lineage struct {
	broken atomic.Bool   // the step fails for good
	there  chan struct{} // closed when all three are there; the step waits for it
	held   chan struct{} // if not nil, what undoes waits for it
	beside bool          // the elder executes a step while its child is open
	waits  bool          // the youth waits for a signal before its step
	undoes bool          // the youth executes another step when it is cancelled
	policy workflow.ClosePolicy
}

func (f *lineage) step(ctx workflow.Context) (string, error) {
	return workflow.Step(ctx, "work", func(ctx context.Context) (string, error) {
		select {
		case <-f.there:
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
		if f.broken.Load() {
			return "", workflow.Permanent(errors.New("broken"))
		}
		return "done", nil
	}, nil)
}

func (f *lineage) handle(n *runtime.Node) {
	runtime.Handle(n, youth, func(ctx workflow.Context, _ string) (string, error) {
		if f.waits {
			if _, err := youthGo.Receive(ctx); err != nil {
				if f.undoes {
					clean := workflow.Shield(ctx)
					_, _ = workflow.Step(clean, "undo", func(ctx context.Context) (string, error) {
						if f.held != nil {
							<-f.held
						}
						return "undone", nil
					}, nil)
				}
				return "", err
			}
		}
		if f.beside {
			return "ready", nil
		}
		return f.step(ctx)
	}, nil)
	runtime.Handle(n, middle, func(ctx workflow.Context, in string) (string, error) {
		return workflow.Call(ctx, youth, in, nil)
	}, nil)
	runtime.Handle(n, elder, func(ctx workflow.Context, in string) (string, error) {
		kid := workflow.CallAsync(ctx, middle, in, &workflow.ChildOptions{OnParentClose: f.policy})
		if f.beside {
			if _, err := f.step(ctx); err != nil {
				return "", err
			}
		}
		return kid.Get(ctx)
	}, nil)
}

// begin starts the elder and returns the three runs when the youth waits, or the elder has ended.
func (f *lineage) begin(t *testing.T, client *runtime.Client) (run *runtime.Run[string], kids [2]journal.RunID) {
	t.Helper()
	ctx := clustertest.Context(t)
	started, err := runtime.Start(ctx, client, elder, "in", nil)
	run = clustertest.MustStart(t, started, err)
	of := run.ID()
	for i := range kids {
		clustertest.Until(t, "the child is there", func() bool {
			page, err := client.List(ctx, journal.ListFilter{Parent: of})
			if err != nil || len(page.Runs) != 1 {
				return false
			}
			kids[i] = page.Runs[0].ID
			return true
		})
		of = kids[i]
	}
	if f.waits {
		clustertest.Parked(t, client, kids[1])
	}
	close(f.there)
	return run, kids
}

func statusOf(t *testing.T, client *runtime.Client, run journal.RunID) journal.Status {
	t.Helper()
	d, err := client.Describe(clustertest.Context(t), run)
	if err != nil {
		t.Fatal(err)
	}
	return d.Run.Status
}

// A run that has failed by a child goes on where it failed: in the step of its child's child. A dry
// run says so, and changes nothing.
func TestRetryOfAFamily(t *testing.T) {
	for _, verb := range []string{"retry", "reset"} {
		t.Run(verb, func(t *testing.T) {
			f, c := &lineage{there: make(chan struct{})}, clustertest.New(t)
			f.broken.Store(true)
			client, ctx := c.Run(nil, f.handle).Client(), clustertest.Context(t)
			run, kids := f.begin(t, client)
			if _, err := run.Result(ctx); err == nil {
				t.Fatal("the run has not failed")
			}
			again := func(dry bool) (*runtime.Rewinding, error) {
				if verb == "retry" {
					return client.Retry(ctx, run.ID(), &runtime.RetryOptions{DryRun: dry, Reason: "mended"})
				}
				return client.Reset(ctx, run.ID(), runtime.BeforeFailure, &runtime.ResetOptions{DryRun: dry, Reason: "mended", Unproven: true})
			}
			out, err := again(true)
			if err != nil || len(out.Children) != 1 || out.Children[0].Run != kids[0] || len(out.Children[0].Children) != 1 || out.Children[0].Children[0].Run != kids[1] {
				t.Fatalf("a dry run finds %+v, %v", out, err)
			}
			for _, id := range append(kids[:], run.ID()) {
				if s := statusOf(t, client, id); s != journal.Failed {
					t.Errorf("after a dry run %s is %s", id, s)
				}
			}
			f.broken.Store(false)
			if _, err := again(false); err != nil {
				t.Fatal(err)
			}
			if got, err := run.Result(ctx); err != nil || got != "done" {
				t.Errorf("the run ends with %q, %v", got, err)
			}
			for _, id := range kids {
				list, err := client.Audit(ctx, journal.AuditFilter{Run: id})
				if err != nil || len(list) != 1 || list[0].Verb != "retry" || list[0].Reason != "mended" {
					t.Errorf("the audit of child %s: %+v, %v", id, list, err)
				}
			}
		})
	}
}

// Children that the end of a run has cancelled or terminated, or is about to, go on with it. So
// does a child that was retried by itself.
func TestRetryTakesChildrenAlong(t *testing.T) {
	for name, how := range map[string]struct {
		policy workflow.ClosePolicy
		before func(t *testing.T, client *runtime.Client, kids [2]journal.RunID)
	}{
		"cancelled": {workflow.CloseCancel, func(t *testing.T, client *runtime.Client, kids [2]journal.RunID) {
			clustertest.Until(t, "the child has ended", func() bool { return statusOf(t, client, kids[0]) == journal.Cancelled })
		}},
		"to be cancelled": {workflow.CloseCancel, nil},
		"terminated":      {workflow.CloseTerminate, nil},
		"left alone":      {workflow.CloseAbandon, nil},
		"retried": {workflow.CloseCancel, func(t *testing.T, client *runtime.Client, kids [2]journal.RunID) {
			clustertest.Until(t, "the child has ended", func() bool { return statusOf(t, client, kids[0]) == journal.Cancelled })
			if _, err := client.Retry(clustertest.Context(t), kids[0], nil); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f, c := &lineage{there: make(chan struct{}), beside: true, waits: true, policy: how.policy}, clustertest.New(t)
			f.broken.Store(true)
			client, ctx := c.Run(nil, f.handle).Client(), clustertest.Context(t)
			run, kids := f.begin(t, client)
			if _, err := run.Result(ctx); err == nil {
				t.Fatal("the run has not failed")
			}
			f.broken.Store(false)
			if how.before != nil {
				how.before(t, client, kids)
			}
			if _, err := client.Retry(ctx, run.ID(), nil); err != nil {
				t.Fatal(err)
			}
			if err := runtime.Signal(ctx, client, kids[1], youthGo, "now", nil); err != nil {
				t.Fatal(err)
			}
			if got, err := run.Result(ctx); err != nil || got != "ready" {
				t.Errorf("the run ends with %q, %v", got, err)
			}
		})
	}
}

// A child that has undone what it did is not taken along without a word.
func TestRetryLeavesChildrenAlone(t *testing.T) {
	f, c := &lineage{there: make(chan struct{}), beside: true, waits: true, undoes: true}, clustertest.New(t)
	f.broken.Store(true)
	client, ctx := c.Run(nil, f.handle).Client(), clustertest.Context(t)
	run, kids := f.begin(t, client)
	if _, err := run.Result(ctx); err == nil {
		t.Fatal("the run has not failed")
	}
	clustertest.Until(t, "the child has ended", func() bool { return statusOf(t, client, kids[0]) == journal.Cancelled })
	clustertest.Until(t, "its child has ended", func() bool { return statusOf(t, client, kids[1]) == journal.Cancelled })
	f.broken.Store(false)
	_, err := client.Retry(ctx, run.ID(), nil)
	if _, ok := errors.AsType[*runtime.PointError](err); !ok || !strings.Contains(err.Error(), "its child "+kids[0].String()+" is to go on with it") ||
		!strings.Contains(err.Error(), "step undo has completed since") {
		t.Errorf("a retry over what was undone: %v", err)
	}
	for _, id := range append(kids[:], run.ID()) {
		if s := statusOf(t, client, id); !s.Closed() {
			t.Errorf("after a retry that was refused %s is %s", id, s)
		}
	}
	if _, err := client.Retry(ctx, run.ID(), &runtime.RetryOptions{Again: true}); err != nil {
		t.Fatal(err)
	}
	if err := runtime.Signal(ctx, client, kids[1], youthGo, "now", nil); err != nil {
		t.Fatal(err)
	}
	if got, err := run.Result(ctx); err != nil || got != "ready" {
		t.Errorf("the run ends with %q, %v", got, err)
	}
}

// A child that somebody has terminated while it heeded its parent's end stays so.
func TestRetryLeavesWhatSomebodyEnded(t *testing.T) {
	f, c := &lineage{there: make(chan struct{}), held: make(chan struct{}), beside: true, waits: true, undoes: true}, clustertest.New(t)
	f.broken.Store(true)
	client, ctx := c.Run(nil, f.handle).Client(), clustertest.Context(t)
	defer close(f.held)
	run, kids := f.begin(t, client)
	if _, err := run.Result(ctx); err == nil {
		t.Fatal("the run has not failed")
	}
	f.broken.Store(false)
	if err := client.Terminate(ctx, kids[0], "not needed"); err != nil {
		t.Fatal(err)
	}
	if out, err := client.Retry(ctx, run.ID(), nil); err != nil || len(out.Children) > 0 {
		t.Errorf("a retry takes %+v along, %v", out, err)
	}
	if _, err := run.Result(ctx); err == nil {
		t.Error("the run has not failed by the child that was terminated")
	}
}

// A child that ends while its parent goes on is heard of: by the retry, or by the parent (J13). The
// child's commit is held open, so that neither sees the other by chance.
func TestAChildEndsWhileItsParentIsRetried(t *testing.T) {
	f, c := &lineage{there: make(chan struct{}), beside: true, waits: true, policy: workflow.CloseAbandon}, clustertest.New(t)
	f.broken.Store(true)
	client, ctx := c.Run(nil, f.handle).Client(), clustertest.Context(t)
	run, kids := f.begin(t, client)
	if _, err := run.Result(ctx); err == nil {
		t.Fatal("the run has not failed")
	}
	f.broken.Store(false)
	clustertest.Parked(t, client, kids[1])
	holder, other := c.Connect(), c.Connect()
	for _, sql := range []string{
		`CREATE FUNCTION reprise.hold() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(14); RETURN NULL; END'`,
		`CREATE CONSTRAINT TRIGGER hold AFTER UPDATE ON reprise.runs DEFERRABLE INITIALLY DEFERRED
		 FOR EACH ROW WHEN (NEW.workflow = 'middle' AND NEW.status <> 0) EXECUTE FUNCTION reprise.hold()`,
		`SELECT pg_advisory_lock(14)`,
	} {
		if _, err := holder.Exec(ctx, sql); err != nil {
			t.Fatal(sql, err)
		}
	}
	t.Cleanup(func() {
		if _, err := c.Connect().Exec(context.Background(), `DROP TRIGGER hold ON reprise.runs; DROP FUNCTION reprise.hold()`); err != nil {
			t.Error(err)
		}
	})
	if err := runtime.Signal(ctx, client, kids[1], youthGo, "now", nil); err != nil {
		t.Fatal(err)
	}
	waiting := func(kind string) int64 {
		return clustertest.Query[int64](t, other, `SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid)
			WHERE NOT l.granted AND a.datname = current_database() AND l.locktype = '`+kind+`'`)
	}
	clustertest.Until(t, "the child's commit is held", func() bool { return waiting("advisory") > 0 })
	retried := make(chan error, 1)
	go func() { _, err := client.Retry(ctx, run.ID(), nil); retried <- err }()
	clustertest.Until(t, "the retry has ended, or waits for the child", func() bool { return len(retried) > 0 || waiting("transactionid") > 0 })
	if _, err := holder.Exec(ctx, `SELECT pg_advisory_unlock(14)`); err != nil {
		t.Fatal(err)
	}
	if err := <-retried; err != nil {
		t.Fatal(err)
	}
	if got, err := run.Result(ctx); err != nil || got != "ready" {
		t.Errorf("the run ends with %q, %v", got, err)
	}
}

// A fork of a run that had continued as new begins where it was forked, also when it is reset to
// its start: what the other run had consumed before is none of its messages.
func TestStartOfAFork(t *testing.T) {
	const again workflow.Name[string, string] = "again"
	c := clustertest.New(t)
	client, ctx := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, again, func(ctx workflow.Context, in string) (string, error) {
			word, err := youthGo.Receive(ctx)
			if err == nil && word == "next" {
				return "", workflow.ContinueAsNew(ctx, again, in+"+", nil)
			}
			return in + word, err
		}, nil)
	}).Client(), clustertest.Context(t)
	started, err := runtime.Start(ctx, client, again, "in", nil)
	run := clustertest.MustStart(t, started, err)
	if err := runtime.Signal(ctx, client, run.ID(), youthGo, "next", nil); err != nil {
		t.Fatal(err)
	}
	waits := func(d *runtime.Description) bool { return d.Run.Generation > 1 && len(d.Waiting) > 0 }
	clustertest.Described(t, client, run.ID(), "the second generation waits", waits)
	fork, err := client.Fork(ctx, run.ID(), runtime.GenerationStart, nil)
	if err != nil {
		t.Fatal(err)
	}
	clustertest.Described(t, client, fork.Run, "the fork waits", waits)
	if _, err := client.Reset(ctx, fork.Run, runtime.RunStart, nil); err != nil {
		t.Fatal(err)
	}
	if err := runtime.Signal(ctx, client, fork.Run, youthGo, "end", nil); err != nil {
		t.Fatal(err)
	}
	d := clustertest.Described(t, client, fork.Run, "the fork ends", func(d *runtime.Description) bool { return d.Run.Status.Closed() })
	if string(d.Run.Terminal.Payload.Data) != `"in+end"` {
		t.Errorf("the fork ends with %s", d.Run.Terminal.Payload.Data)
	}
}
