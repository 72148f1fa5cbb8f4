package runtimetest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// bank is a server that heeds idempotency keys, or not.
type bank struct {
	heedless bool
	mu       sync.Mutex
	seen     map[string]bool
	paid     int
}

func (b *bank) pay(ctx context.Context) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := workflow.IdempotencyKey(ctx)
	if b.seen == nil {
		b.seen = map[string]bool{}
	}
	if b.heedless || !b.seen[key] {
		b.seen[key] = true
		b.paid++
	}
	return b.paid, nil
}

func (b *bank) total() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.paid
}

// paid asks for approval, pays and tells.
func (b *bank) workflow(ctx workflow.Context, in string) (string, error) {
	if _, err := mail(ctx, "ask"); err != nil {
		return "", err
	}
	if yes, ok, err := decided.ReceiveTimeout(ctx, 24*time.Hour); err != nil || !ok || !yes {
		return "not approved", err
	}
	if _, err := workflow.Step(ctx, "pay", b.pay, nil); err != nil {
		return "", err
	}
	if err := workflow.Sleep(ctx, time.Hour); err != nil {
		return "", err
	}
	_, err := mail(ctx, "tell")
	return "paid", err
}

func payOnce(e *runtimetest.Env, b *bank) {
	runtimetest.Handle(e, request, b.workflow, nil)
	run := runtimetest.Start(e, request, "x", nil)
	e.After(time.Hour, func() { runtimetest.Signal(e, run.ID(), decided, true, nil) })
	if got := run.Must(); got != "paid" {
		e.Errorf("got %q", got)
	}
	if n := b.total(); n != 1 {
		e.Errorf("paid %d times", n)
	}
	e.WantHistory(run.ID(), `
		1 RunStarted > step ask
		2 StepCompleted ask > timer decided
		3 SignalReceived decided > cancel 2, step pay
		4 StepCompleted pay > timer
		5 TimerFired > step tell
		6 StepCompleted tell
		7 RunCompleted
	`)
}

// TestEveryCrash: a sound workflow passes, though steps are executed more than once in some of the
// cases.
func TestEveryCrash(t *testing.T) {
	cases, repeated := 0, 0
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		payOnce(e, &bank{})
		cases++
		if e.Effects("ask")+e.Effects("pay")+e.Effects("tell") > 3 {
			repeated++
		}
	})
	if cases < 9 || repeated < 3 {
		t.Errorf("%d cases, steps were repeated in %d", cases, repeated)
	}
}

// TestEveryCrashTx: a step in a transaction takes effect once, wherever the crash is.
func TestEveryCrashTx(t *testing.T) {
	executed := 0
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		booked := 0
		runtimetest.Handle(e, request, func(ctx workflow.Context, in string) (string, error) {
			return workflow.StepTx(ctx, "book", func(_ context.Context, tx *memory.Effects) (string, error) {
				tx.Do(func() { booked++ })
				return "booked", nil
			}, nil)
		}, nil)
		runtimetest.Start(e, request, "x", nil).Must()
		if booked != 1 {
			e.Errorf("booked %d times", booked)
		}
		executed = max(executed, e.Effects("book"))
	})
	if executed != 2 {
		t.Errorf("the step was executed %d times at most", executed)
	}
}

// TestEveryCrashParallel: many strands and runs.
func TestEveryCrashParallel(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, request, func(ctx workflow.Context, in string) (string, error) {
			var steps []workflow.Future[string]
			for i := range 3 {
				steps = append(steps, workflow.StepAsync(ctx, fmt.Sprint("part ", i), func(context.Context) (string, error) {
					time.Sleep(time.Duration(i) * time.Minute)
					return in, nil
				}, nil))
			}
			out := ""
			for _, f := range steps {
				part, err := f.Get(ctx)
				if err != nil {
					return "", err
				}
				out += part
			}
			return out, nil
		}, nil)
		a, b := runtimetest.Start(e, request, "a", nil), runtimetest.Start(e, request, "b", nil)
		if got := a.Must() + b.Must(); got != "aaabbb" {
			e.Errorf("got %q", got)
		}
	})
}

// planted are bugs that EveryCrash, Test and Run must find, each with what must be said about it.
//
// The log of a test has what the engine says of the bug, and no warning that is the kit's own doing.
var planted = map[string]struct {
	test func(t *testing.T)
	want []string
	lack []string
}{
	"a wrong answer beside a crash and a deployment": {test: func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, account, accounts, nil)
			run := runtimetest.Start(e, account, 1, nil)
			e.Sleep(time.Minute)
			e.Crash()
			e.Sleep(time.Minute)
			e.Restart()
			runtimetest.Signal(e, run.ID(), closeIt, true, nil)
			run.Must()
			e.Error("this is no answer")
		})
	}, want: []string{"this is no answer", "the process crashes", `process="after after node 1"`}, lack: []string{"level=WARN", "level=ERROR"}},
	"an effect that is not idempotent": {test: func(t *testing.T) {
		runtimetest.EveryCrash(t, func(e *runtimetest.Env) { payOnce(e, &bank{heedless: true}) })
	}, want: []string{
		"PASS: TestPlanted/no_crash", "FAIL: TestPlanted/crash_before_turn_", "paid 2 times",
		"the node crashes before this turn of run", "is written: StepCompleted pay",
	}},
	"a workflow that depends on a variable": {test: func(t *testing.T) {
		runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
			activations := 0
			e.Register(register(func(ctx workflow.Context, _ string) (string, error) {
				activations++
				if err := workflow.Sleep(ctx, time.Hour); err != nil {
					return "", err
				}
				if activations == 1 {
					return mail(ctx, "hello")
				}
				return mail(ctx, "hello again")
			}))
			runtimetest.Start(e, request, "x", nil).Must()
		})
	}, want: []string{
		"PASS: TestPlanted/no_crash", "FAIL: TestPlanted/crash_", "is blocked: code and history differ at event 2",
		"history has step hello, code has step hello again", "env_test.go:",
	}},
	"the same, found in the end": {test: func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			activations := 0
			runtimetest.Handle(e, request, func(ctx workflow.Context, _ string) (string, error) {
				activations++
				return mail(ctx, fmt.Sprint("activation ", activations))
			}, nil)
			runtimetest.Start(e, request, "x", nil).Must()
		})
	}, want: []string{"workflow request and its history differ at event 1 of 3", "history has  step activation 1"}},
	"a panic": {test: func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, request, func(workflow.Context, string) (string, error) { panic("oops") }, nil)
			runtimetest.Start(e, request, "x", nil).Must()
		})
	}, want: []string{"is blocked: workflow code panicked: oops"}},
	"a signal that never comes": {test: func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, request, func(ctx workflow.Context, _ string) (string, error) {
				_, err := decided.Receive(ctx)
				return "", err
			}, nil)
			runtimetest.Start(e, request, "x", nil).Must()
		})
	}, want: []string{"has not ended after 9600h0m0s", `it waits for ["signal decided"]`}},
	"a step that always fails": {test: func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			e.Patience = time.Hour
			runtimetest.Handle(e, request, func(ctx workflow.Context, _ string) (string, error) { return mail(ctx, "send") }, nil)
			runtimetest.Fake(e, "send", func(context.Context) (int, error) { return 0, fmt.Errorf("no route") })
			runtimetest.Start(e, request, "x", nil).Must()
		})
	}, want: []string{"has not ended after 1h0m0s", "step send has failed 4", "at last with: no route", "the engine's log:"}},
	"a workflow that nobody registered": {test: func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, request, (&bank{}).workflow, nil)
			runtimetest.Start(e, request, "x", &runtime.StartOptions{Version: 2}).Must()
		})
	}, want: []string{"no node serves default/request/2"}},
	"a fake with a transaction for a step without": {test: func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, request, (&bank{}).workflow, nil)
			runtimetest.FakeTx(e, "ask", func(context.Context, *memory.Effects) (string, error) { return "", nil })
			runtimetest.Start(e, request, "x", nil).Must()
		})
	}, want: []string{"step ask has no transaction for its fake"}},
	"a late registration": {test: func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, account, accounts, nil)
			runtimetest.Start(e, account, 1, nil)
			runtimetest.Handle(e, request, (&bank{}).workflow, nil)
		})
	}, want: []string{"must be registered before"}},
	"a start before any registration": {test: func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) { runtimetest.Start(e, request, "x", nil) })
	}, want: []string{"no workflow is registered with the node: call Handle before Run"}},
	"a workflow that is registered twice": {test: func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, request, (&bank{}).workflow, &runtime.HandleOptions{Version: 2})
			runtimetest.Handle(e, request, (&bank{}).workflow, &runtime.HandleOptions{Version: 2, Queue: "default"})
		})
	}, want: []string{"crash_test.go", "workflow default/request/2 is registered twice"}},
	"an update of nobody": {test: func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, account, accounts, nil)
			run := runtimetest.Start(e, account, 1, nil)
			runtimetest.Signal(e, run.ID(), closeIt, true, nil)
			run.Must()
			e.After(time.Hour, func() { runtimetest.SendUpdate(e, run.ID(), deposit, 1, nil) })
			e.Sleep(2 * time.Hour)
			runtimetest.UpdateWithStart(e, account, 1, deposit, 1, nil, nil)
		})
	}, want: []string{"update deposit of run", "update deposit with start of account", "a key is required"}},
	"an update that nobody answers": {test: func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			e.Patience = time.Hour
			runtimetest.Handle(e, account, accounts, nil)
			runtimetest.Fake(e, "check", func(context.Context) (int, error) { return 0, fmt.Errorf("no route") })
			run := runtimetest.Start(e, account, 1, nil)
			runtimetest.SendUpdate(e, run.ID(), deposit, 1, nil).Result()
		})
	}, want: []string{"has not ended after 1h0m0s", "step check has failed"}},
	"a signal to nobody": {test: func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			runtimetest.Handle(e, request, func(workflow.Context, string) (string, error) { return "", nil }, nil)
			run := runtimetest.Start(e, request, "x", nil)
			run.Must()
			e.After(time.Hour, func() { runtimetest.Signal(e, run.ID(), decided, true, nil); e.Cancel(run.ID(), "") })
			e.Sleep(2 * time.Hour)
			e.WantHistory(run.ID(), "1 RunStarted")
		})
	}, want: []string{"signal decided to run", "cancel run", "(-want +got)", "2 RunCompleted"}},
}

// plantedEnv makes TestPlanted its own child, which runs one of the planted bugs.
const plantedEnv = "REPRISE_PLANTED"

func TestPlanted(t *testing.T) {
	if name := os.Getenv(plantedEnv); name != "" {
		planted[name].test(t)
		return
	}
	for name, p := range planted {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			child := exec.Command(os.Args[0], "-test.run=^TestPlanted$", "-test.v")
			// A passivation after every turn finds some of the bugs without a crash.
			child.Env = append(os.Environ(), plantedEnv+"="+name, "REPRISE_TEST_PASSIVATE=")
			out, err := child.CombinedOutput()
			if err == nil {
				t.Errorf("the bug was not found:\n%s", out)
			}
			for _, lack := range p.lack {
				if strings.Contains(string(out), lack) {
					t.Errorf("the output has %q:\n%s", lack, out)
				}
			}
			for _, want := range p.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("the output lacks %q:\n%s", want, out)
				}
			}
		})
	}
}
