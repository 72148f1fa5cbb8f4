package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const puzzle workflow.Name[string, string] = "puzzle"

// puzzles wait for what they are told to wait for.
func puzzles(ctx workflow.Context, how string) (string, error) {
	switch how {
	case "step":
		if err := workflow.Sleep(ctx, time.Millisecond); err != nil { // the steps of a first turn are not stored at once
			return "", err
		}
		return workflow.Step(ctx, "long", func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}, nil)
	case "retry":
		return workflow.Step(ctx, "flaky", func(context.Context) (string, error) { return "", errors.New("no route to host") },
			&workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Hour, Max: time.Hour, Attempts: 9}})
	case "timer":
		return "", workflow.NewNamedTimer(ctx, "patience", time.Hour).Get(ctx)
	case "child":
		return workflow.Call(ctx, puzzle, "signal", nil)
	case "lonely child":
		return workflow.Call(ctx, puzzle, "", &workflow.ChildOptions{Version: 7})
	case "stuck":
		var m workflow.Mutex
		_ = m.Lock(ctx)
		return "", m.Lock(ctx)
	case "fail":
		return "", errors.New("no such order")
	case "panic":
		panic("no such case")
	}
	return approved.Receive(ctx)
}

func handlePuzzle(n *runtime.Node) { runtime.Handle(n, puzzle, puzzles, nil) }

// whyOf waits until a run has a reason of a kind, and returns it with the explanation.
func whyOf(t *testing.T, c *runtime.Client, run journal.RunID, kind runtime.ReasonKind) (runtime.Reason, *runtime.Explanation) {
	t.Helper()
	ctx := clustertest.Context(t)
	var found runtime.Reason
	var e *runtime.Explanation
	defer func() {
		if found.Kind == "" && e != nil {
			t.Logf("the newest explanation: %s", e)
		}
	}()
	clustertest.Until(t, fmt.Sprintf("the run has a reason %s", kind), func() bool {
		now, err := c.Why(ctx, run)
		if err != nil {
			t.Fatal(err)
		}
		e = now
		if len(e.Reasons) == 0 {
			t.Fatal("no reason")
		}
		for _, r := range e.Reasons {
			if r.Kind == kind {
				found = r
				return true
			}
		}
		return false
	})
	return found, e
}

// TestWhy: each thing that a run waits for is said in words, with its times, and with what helps.
func TestWhy(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	o := c.Options()
	o.Drain = time.Millisecond
	n := c.Run(o, handlePuzzle)
	client := runtime.NewClient(c.Journal, nil) // without the code
	for _, k := range []struct {
		how          string
		o            runtime.StartOptions
		kind         runtime.ReasonKind
		text, remedy string
		since, ends  bool
		first        bool // no reason comes before it
	}{
		{"step", runtime.StartOptions{}, runtime.ReasonOwned, "works on it", "", false, false, true},
		{"step", runtime.StartOptions{}, runtime.ReasonStep, "step long is executed", "", false, false, false},
		{"retry", runtime.StartOptions{}, runtime.ReasonStep, "step flaky has failed once, last with: no route to host", "mend what", true, true, true},
		{"timer", runtime.StartOptions{}, runtime.ReasonTimer, "timer patience", "", true, true, true},
		{"child", runtime.StartOptions{}, runtime.ReasonChild, "child puzzle, run ", "ask why that run waits: reprise run why ", true, false, true},
		{"lonely child", runtime.StartOptions{}, runtime.ReasonUnserved, "live nodes serve its versions [1] in that queue", "start a node", false, false, false},
		{"signal", runtime.StartOptions{}, runtime.ReasonSignal, "signal approved", "send signal approved: reprise run signal ", true, false, true},
		{"stuck", runtime.StartOptions{}, runtime.ReasonStuck, "mutex", "mend its code, and end the run: reprise run cancel ", true, false, true},
		{"fail", runtime.StartOptions{}, runtime.ReasonClosed, "failed: no such order", "", true, false, true},
		{"panic", runtime.StartOptions{}, runtime.ReasonBlocked, "no such case", "deploy code", false, true, true},
		{"signal", runtime.StartOptions{Delay: time.Hour}, runtime.ReasonDelayed, "delays it", "", true, true, true},
		{"signal", runtime.StartOptions{Version: 3}, runtime.ReasonUnserved, "version 3, queue default, of the run: live nodes serve its versions [1]", "start a node", false, false, true},
		{"signal", runtime.StartOptions{Queue: "gpu"}, runtime.ReasonUnserved, "none of the 1 live nodes serves it", "start a node", false, false, true},
		{"signal", runtime.StartOptions{Timeout: time.Hour}, runtime.ReasonDeadline, "time of 1h0m0s ends", "", false, true, false},
	} {
		run, err := runtime.Start(ctx, client, puzzle, k.how, &k.o)
		clustertest.MustStart(t, run, err)
		r, e := whyOf(t, client, run.ID(), k.kind)
		if !strings.Contains(r.Text, k.text) || !strings.Contains(r.Remedy, k.remedy) || k.remedy == "" && r.Remedy != "" ||
			k.since && r.Since.IsZero() || k.ends != !r.Until.IsZero() {
			t.Errorf("%s %s: %+v", k.how, k.kind, r)
		}
		if k.first && e.Reasons[0].Kind != k.kind {
			t.Errorf("%s: the first reason is %+v", k.how, e.Reasons[0])
		}
		if text := e.String(); !strings.Contains(text, run.ID().String()) || !strings.Contains(text, string(k.kind)+": "+r.Text) || !strings.Contains(text, r.Remedy) {
			t.Errorf("%s: as text %s", k.how, text)
		}
	}
	if _, err := client.Why(ctx, journal.NewRunID()); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("no run: %v", err)
	}
	n.Stop()
}

// TestWhyWithoutANode: what nobody works on is said so: a run that is due, one whose owner is gone,
// one whose time is up, and one that nobody can go on with until an operator says so.
func TestWhyWithoutANode(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	client := runtime.NewClient(c.Journal, nil)
	o := c.Options()
	o.Drain = time.Millisecond
	n := c.Run(o, handlePuzzle)
	start := func(how string, o *runtime.StartOptions) *runtime.Run[string] {
		run, err := runtime.Start(ctx, client, puzzle, how, o)
		return clustertest.MustStart(t, run, err)
	}
	owned, late := start("step", nil), start("signal", &runtime.StartOptions{Timeout: time.Microsecond})
	if _, err := late.Result(ctx); !errors.Is(err, workflow.ErrTimeout) {
		t.Error(err)
	}
	whyOf(t, client, owned.ID(), runtime.ReasonStep)
	conn := c.Connect()
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(ctx, sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	held := start("signal", nil)
	whyOf(t, client, held.ID(), runtime.ReasonSignal)
	exec(`UPDATE reprise.tasks SET state = 2, problem = 'its owners died' WHERE run_id = $1`, held.ID())
	if r, _ := whyOf(t, client, held.ID(), runtime.ReasonQuarantined); r.Text != "its owners died" || !strings.Contains(r.Remedy, "then let it go on: reprise run resume "+held.ID().String()) {
		t.Errorf("quarantined: %+v", r)
	}
	exec(`UPDATE reprise.tasks SET state = 0, problem = '' WHERE run_id = $1`, held.ID())
	n.Stop()
	up := start("signal", &runtime.StartOptions{Timeout: time.Microsecond})
	clustertest.Until(t, "its time is up", func() bool {
		r, _ := whyOf(t, client, up.ID(), runtime.ReasonDeadline)
		return !r.Since.IsZero() && r.Until.IsZero()
	})
	if r, _ := whyOf(t, client, up.ID(), runtime.ReasonUnserved); !strings.Contains(r.Text, "none of the 0 live nodes") {
		t.Errorf("no node: %+v", r)
	}
	exec(`UPDATE reprise.tasks SET owner = 77 WHERE run_id = $1`, up.ID())
	if r, _ := whyOf(t, client, up.ID(), runtime.ReasonOwned); !strings.Contains(r.Text, "node 77 owns it and is gone") || r.Remedy == "" {
		t.Errorf("owner is gone: %+v", r)
	}
	exec(`UPDATE reprise.tasks SET owner = 0, strikes = 2, visible_at = now() + interval '1 hour' WHERE run_id = $1`, up.ID())
	n = c.Run(o, handlePuzzle)
	if r, _ := whyOf(t, client, up.ID(), runtime.ReasonStruck); !strings.Contains(r.Text, "2 times") || r.Until.IsZero() {
		t.Errorf("struck: %+v", r)
	}
	exec(`UPDATE reprise.tasks SET strikes = 0, visible_at = now() WHERE run_id = $1`, up.ID())
	n.Stop()
}
