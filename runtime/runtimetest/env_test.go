package runtimetest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

const (
	request workflow.Name[string, string] = "request"
	decided workflow.Signal[bool]         = "decided"
)

// asked waits 30 days for a decision and reminds every week.
func asked(ctx workflow.Context, what string) (string, error) {
	if _, err := mail(ctx, "ask"); err != nil {
		return "", err
	}
	for range 4 {
		yes, ok, err := decided.ReceiveTimeout(ctx, 7*24*time.Hour)
		if err != nil {
			return "", err
		}
		if ok {
			return map[bool]string{true: "yes", false: "no"}[yes], nil
		}
		if _, err := mail(ctx, "remind"); err != nil {
			return "", err
		}
	}
	return "never mind " + what, nil
}

func mail(ctx workflow.Context, name string) (string, error) {
	return workflow.Step(ctx, name, func(context.Context) (string, error) { return "sent", nil }, nil)
}

// TestWeeks: weeks of waiting take no time, and what happens on the way happens when it should.
func TestWeeks(t *testing.T) {
	wall := time.Now()
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, request, asked, nil)
		silent := runtimetest.Start(e, request, "leave", nil)
		if got := silent.Must(); got != "never mind leave" {
			t.Errorf("got %q", got)
		}
		if d := e.Elapsed(); d < 28*24*time.Hour || d > 28*24*time.Hour+time.Minute {
			t.Errorf("it took %s", d)
		}
		answered := runtimetest.Start(e, request, "leave", nil)
		e.After(9*24*time.Hour, func() { runtimetest.Signal(e, answered.ID(), decided, true, nil) })
		if got := answered.Must(); got != "yes" {
			t.Errorf("got %q", got)
		}
		e.WantHistory(answered.ID(), `
			1 RunStarted > step ask
			2 StepCompleted ask > timer decided
			3 TimerFired decided > step remind
			4 StepCompleted remind > timer decided
			5 SignalReceived decided > cancel 4
			6 RunCompleted
		`)
		if n := e.Effects("remind"); n != 5 {
			t.Errorf("%d reminders", n)
		}
	})
	t.Logf("took %s", time.Since(wall))
}

// TestSteps: fakes, failures and retries.
func TestSteps(t *testing.T) {
	refused := errors.New("refused")
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, request, func(ctx workflow.Context, in string) (string, error) {
			out, err := workflow.Step(ctx, "fetch", func(context.Context) (string, error) { return "", errors.New("no network in tests") }, nil)
			if err != nil {
				return "", err
			}
			_, err = mail(ctx, "post")
			return out, err
		}, nil)
		runtimetest.Fake(e, "fetch", func(ctx context.Context) (string, error) {
			info, ok := workflow.StepInfo(ctx)
			if !ok {
				t.Error("no step info")
			}
			return info.Step + " " + info.Key, nil
		})
		e.FailNext("post", refused, refused, errors.New("again"))
		run := runtimetest.Start(e, request, "x", &runtime.StartOptions{Key: "k"})
		if got := run.Must(); got != "fetch k" {
			t.Errorf("got %q", got)
		}
		calls := e.Calls("post")
		if len(calls) != 4 || e.Effects("post") != 1 || calls[3].Attempt != 4 || !errors.Is(calls[1].Err, refused) ||
			calls[3].Key != calls[0].Key || calls[3].At-calls[0].At < 5*time.Second {
			t.Errorf("calls %+v", calls)
		}
	})
}

// TestEnds: results of runs that do not complete.
func TestEnds(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Register(func(n *runtime.Node) { runtime.Handle(n, request, asked, nil) })
		cancelled := runtimetest.Start(e, request, "a", nil)
		e.After(time.Hour, func() { e.Cancel(cancelled.ID(), "changed my mind") })
		if _, err := cancelled.Result(); !errors.Is(err, workflow.ErrCancelled) || e.Elapsed().Round(time.Minute) != time.Hour {
			t.Errorf("error %v after %s", err, e.Elapsed())
		}
		terminated := runtimetest.Start(e, request, "b", nil)
		e.After(time.Hour, func() {
			if err := e.Client().Terminate(e.Context(), terminated.ID(), "by hand"); err != nil {
				e.Error(err)
			}
		})
		if _, err := terminated.Result(); !strings.Contains(err.Error(), "by hand") {
			t.Errorf("error %v", err)
		}
		for run, want := range map[journal.RunID]error{terminated.ID(): journal.ErrClosed, journal.NewRunID(): journal.ErrNotFound} {
			if err := runtime.Signal(e.Context(), e.Client(), run, decided, true, nil); !errors.Is(err, want) {
				t.Errorf("signal to run %s: %v, want %v", run, err, want)
			}
		}
		e.FailNext("ask", workflow.Permanent(errors.New("no such address")))
		failed := runtimetest.Start(e, request, "c", nil)
		if _, err := failed.Result(); !strings.Contains(err.Error(), "no such address") {
			t.Errorf("error %v", err)
		}
		runtimetest.Start(e, request, "d", nil) // is open when the test ends
	})
}

// TestDelay: a run with a delay begins when that is over, and a signal does not wait for it.
func TestDelay(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, request, asked, nil)
		late := &runtime.StartOptions{Delay: 10 * 24 * time.Hour}
		if runtimetest.Start(e, request, "x", late).Must(); e.Elapsed() < 38*24*time.Hour {
			t.Errorf("it took %s, want 10 days and 28", e.Elapsed())
		}
		began := e.Elapsed()
		woken := runtimetest.Start(e, request, "x", late)
		runtimetest.Signal(e, woken.ID(), decided, true, nil)
		if got := woken.Must(); got != "yes" || e.Elapsed()-began > time.Hour {
			t.Errorf("got %q after %s, want an answer at once", got, e.Elapsed()-began)
		}
	})
}

// TestRestart: neither a crash nor a deployment in the middle of a step, of a wait or of a retry
// stops a run.
func TestRestart(t *testing.T) {
	for name, replace := range map[string]func(*runtimetest.Env){"crash": (*runtimetest.Env).Crash, "deployment": (*runtimetest.Env).Restart} {
		t.Run(name, func(t *testing.T) {
			runtimetest.Test(t, func(e *runtimetest.Env) {
				runtimetest.Handle(e, request, asked, nil)
				runtimetest.Fake(e, "ask", func(ctx context.Context) (string, error) {
					select {
					case <-time.After(time.Hour):
						return "sent", nil
					case <-ctx.Done():
						return "", context.Cause(ctx)
					}
				})
				e.FailNext("remind", errors.New("down"))
				run := runtimetest.Start(e, request, "x", nil)
				for range 20 {
					e.Sleep(30 * time.Hour)
					replace(e)
				}
				e.Sleep(100 * time.Minute)
				if got := run.Must(); got != "never mind x" {
					t.Errorf("got %q", got)
				}
				if d := e.Elapsed(); d < 28*24*time.Hour || d > 29*24*time.Hour {
					t.Errorf("it took %s", d)
				}
			})
		})
	}
}

// TestCrashInStep: a step that was not done is executed again by the next node; what the dead one
// does is not heard.
func TestCrashInStep(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, request, func(ctx workflow.Context, in string) (string, error) { return mail(ctx, "slow") }, nil)
		runtimetest.Fake(e, "slow", func(ctx context.Context) (string, error) {
			time.Sleep(time.Second) // does not look at its context
			info, _ := workflow.StepInfo(ctx)
			return info.IdempotencyKey, nil
		})
		run := runtimetest.Start(e, request, "x", nil)
		e.Sleep(100 * time.Millisecond)
		e.Crash()
		key := run.Must()
		calls := e.Calls("slow")
		if len(calls) != 2 || calls[0].Key != key || calls[1].Key != key || calls[0].Attempt != 1 || calls[1].Attempt != 1 {
			t.Errorf("calls %+v", calls)
		}
	})
}

// TestStepsThatSleepOn: the test waits for steps that outlive their node, and for those that
// outlive the test.
func TestStepsThatSleepOn(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, request, func(ctx workflow.Context, in string) (string, error) { return mail(ctx, "slow") }, nil)
		runtimetest.Fake(e, "slow", func(ctx context.Context) (string, error) {
			time.Sleep(30 * 24 * time.Hour)
			return "", nil
		})
		runtimetest.Start(e, request, "x", nil)
		e.Sleep(time.Hour)
		e.Crash()
		e.Sleep(time.Hour)
	})
}

// TestTheNodeHasJoined: the first call that needs a node returns when there is one, so that nothing
// is started of which the engine says that nobody serves it.
func TestTheNodeHasJoined(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, account, accounts, nil)
		if e.Client(); runtimetest.Nodes(e) != 1 {
			t.Errorf("%d nodes have joined, want 1", runtimetest.Nodes(e))
		}
	})
}

// TestOptions: a codec, a version and a queue.
func TestOptions(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Journal.Codec = wrapped{}
		e.Node.PassivateAlways = true
		intercepted := 0
		e.Node.Intercept = func(ctx context.Context, tx any, body replay.Body) (journal.Payload, error) {
			intercepted++
			return body(ctx, tx)
		}
		runtimetest.Handle(e, request, func(ctx workflow.Context, in string) (string, error) {
			_, err := mail(ctx, "post")
			return in + ctx.Info().Queue, err
		},
			&runtime.HandleOptions{Version: 2, Queue: "q"})
		run := runtimetest.Start(e, request, "x", &runtime.StartOptions{Version: 2, Queue: "q"})
		if got := run.Must(); got != "xq" || intercepted != 1 {
			t.Errorf("got %q, intercepted %d", got, intercepted)
		}
		if got := string(e.History(run.ID()).Run.Input.Data); got != `#"x"` {
			t.Errorf("input %s", got)
		}
	})
}

// TestQueues: one workflow is served in several queues, in several versions, and its runs are
// checked wherever they are.
func TestQueues(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		code := func(ctx workflow.Context, in string) (string, error) {
			_, err := mail(ctx, "post")
			return fmt.Sprint(in, " ", ctx.Info().Queue, " ", ctx.Info().Version), err
		}
		for _, o := range []*runtime.HandleOptions{nil, {Queue: "fast"}, {Queue: "fast", Version: 2}} {
			runtimetest.Handle(e, request, code, o)
		}
		for want, o := range map[string]*runtime.StartOptions{
			"x default 1": nil, "x fast 1": {Queue: "fast"}, "x fast 2": {Queue: "fast", Version: 2},
		} {
			if got := runtimetest.Start(e, request, "x", o).Must(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
	})
}

type wrapped struct{ journal.JSON }

func (wrapped) Encode(v any) (journal.Payload, error) {
	p, err := journal.JSON{}.Encode(v)
	return journal.Payload{Encoding: "#", Data: append([]byte("#"), p.Data...)}, err
}

func (wrapped) Decode(p journal.Payload, v any) error {
	if p.Encoding == "#" {
		p = journal.Payload{Data: p.Data[1:]}
	}
	return journal.JSON{}.Decode(p, v)
}

func register(fn func(workflow.Context, string) (string, error)) func(*runtime.Node) {
	return func(n *runtime.Node) { runtime.Handle(n, request, fn, nil) }
}

// TestManyRuns: the clock jumps for all of them at once.
func TestManyRuns(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, request, asked, nil)
		var runs []*runtimetest.Run[string]
		for range 100 {
			runs = append(runs, runtimetest.Start(e, request, "x", nil))
		}
		e.Sleep(10 * 24 * time.Hour)
		e.Crash()
		for _, run := range runs {
			if got := run.Must(); got != "never mind x" {
				t.Errorf("got %q", got)
			}
		}
		if n := e.Effects("remind"); n != 400 {
			t.Errorf("%d reminders", n)
		}
	})
}
