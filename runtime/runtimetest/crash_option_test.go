package runtimetest_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

const (
	studio workflow.Name[string, string] = "studio"
	render workflow.Name[string, string] = "render"
	poll   workflow.Name[string, string] = "poll"
	load   workflow.Name[string, string] = "load"
)

// TestChildOptionsWhateverCrashes: a child that starts later, in a queue and a version of its own,
// is what its options say, however often its start was tried. The key of one that is done is used
// again, and so is the only place of the limit that it held.
func TestChildOptionsWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, render, func(ctx workflow.Context, film string) (string, error) {
			i := ctx.Info()
			return fmt.Sprint(film, " ", i.Queue, " ", i.Version, " ", i.Key, " ", i.Labels["quality"]), nil
		}, &runtime.HandleOptions{Queue: "gpu", Version: 2})
		runtimetest.Handle(e, studio, func(ctx workflow.Context, film string) (string, error) {
			all := ""
			for _, quality := range []string{"draft", "final"} {
				began := ctx.Now()
				out, err := workflow.Call(ctx, render, film, &workflow.ChildOptions{
					Key: "render " + film, Reuse: workflow.ReuseAllow, Queue: "gpu", Version: 2, Priority: 5, Delay: 3 * time.Hour,
					Labels: map[string]string{"quality": quality}, OnParentClose: workflow.CloseTerminate, OnCancel: workflow.TryCancel,
					Limits: []workflow.StepLimit{{Name: "gpu", Key: film}}, BeyondBacklog: true,
				})
				if err != nil {
					return "", err
				}
				all += fmt.Sprint(out, " after ", ctx.Now().Sub(began).Truncate(time.Hour), ", ")
			}
			return all, nil
		}, nil)
		if err := runtime.SetLimit(e.Context(), e.Client(), journal.Limit{Name: "gpu", Concurrency: 1}); err != nil {
			e.Fatal(err)
		}
		run := runtimetest.Start(e, studio, "cats", nil)
		if got := run.Must(); got != "cats gpu 2 render cats draft after 3h0m0s, cats gpu 2 render cats final after 3h0m0s, " {
			e.Errorf("got %s", got)
		}
		page, err := e.Client().List(e.Context(), journal.ListFilter{Parent: run.ID()})
		if err != nil || len(page.Runs) != 2 {
			e.Errorf("%d children, %v", len(page.Runs), err)
		}
	})
}

// TestWholeRunWhateverCrashes: a child whose time is up tidies up and fails, and what it names for
// that case is started once; both have the headers of their caller.
func TestWholeRunWhateverCrashes(t *testing.T) {
	t.Parallel()
	const alarm workflow.Name[workflow.FailedRun, string] = "alarm"
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, alarm, func(ctx workflow.Context, f workflow.FailedRun) (string, error) {
			return workflow.Step(ctx, "call", func(ctx context.Context) (string, error) {
				info, _ := workflow.StepInfo(ctx)
				return f.Workflow + " " + f.Failure.Type + " for " + info.Headers["tenant"] + info.Headers["film"], nil
			}, nil)
		}, nil)
		runtimetest.Handle(e, render, func(ctx workflow.Context, film string) (string, error) {
			err := workflow.Sleep(ctx, 100*time.Hour)
			if _, failed := workflow.Step(workflow.Shield(ctx), "tidy", func(context.Context) (int, error) { return 1, nil }, nil); failed != nil {
				return "", failed
			}
			return "", err
		}, &runtime.HandleOptions{OnFailure: func(ctx workflow.Context, err error) error {
			_, failed := workflow.Step(ctx, "mourn", func(context.Context) (int, error) { return 1, nil }, nil)
			return failed
		}})
		runtimetest.Handle(e, studio, func(ctx workflow.Context, film string) (string, error) {
			began := ctx.Now()
			_, err := workflow.Call(ctx, render, film, &workflow.ChildOptions{
				Delay: time.Hour, Timeout: 3 * time.Hour, OnFailure: string(alarm), Headers: map[string]string{"film": film},
			})
			return fmt.Sprint(errors.Is(err, workflow.ErrTimeout), " after ", ctx.Now().Sub(began).Truncate(time.Hour)), nil
		}, nil)
		run := runtimetest.Start(e, studio, " cats", &runtime.StartOptions{Headers: map[string]string{"tenant": "acme"}})
		if got := run.Must(); got != "true after 4h0m0s" {
			e.Errorf("got %s", got)
		}
		page, err := e.Client().List(e.Context(), journal.ListFilter{Workflow: string(alarm)})
		if err != nil || len(page.Runs) != 1 {
			e.Fatalf("%d alarms, %v", len(page.Runs), err)
		}
		got, err := runtime.RunOf(e.Client(), alarm, page.Runs[0].ID).Result(e.Context())
		if want := "render reprise.Timeout for acme cats"; got != want || err != nil {
			e.Errorf("the alarm says %q, want %q, %v", got, want, err)
		}
		if tidied, mourned := len(e.Calls("tidy")), len(e.Calls("mourn")); tidied < 1 || mourned < 1 {
			e.Errorf("tidied up %d times, mourned %d times", tidied, mourned)
		}
	})
}

// TestExhaustedWhateverCrashes: a step that may not be tried again pauses its run, and has no further
// attempt before somebody resumes it a day later.
func TestExhaustedWhateverCrashes(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, poll, func(ctx workflow.Context, what string) (string, error) {
			return workflow.Step(ctx, "charge", func(context.Context) (string, error) {
				if e.Elapsed() < day {
					return "", errors.New("the bank is away")
				}
				return what, nil
			}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Hour, Jitter: -1, Attempts: 2}, OnExhausted: workflow.PauseRun})
		}, nil)
		run := runtimetest.Start(e, poll, "mail", nil)
		e.After(day, func() {
			if err := e.Client().Resume(e.Context(), run.ID()); err != nil {
				e.Error(err)
			}
		})
		if got := run.Must(); got != "mail" {
			e.Errorf("got %q", got)
		}
		for _, c := range e.Calls("charge") {
			if (c.Attempt > 2) != (c.At >= day) || c.Attempt > 3 {
				e.Errorf("attempt %d was made after %s", c.Attempt, c.At)
			}
		}
	})
}

// TestRetryPolicyWhateverCrashes: attempts are made when the policy says, until the step's time is
// up. The attempt that a crash lost is made again, the waits are not.
func TestRetryPolicyWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, poll, func(ctx workflow.Context, what string) (string, error) {
			_, err := workflow.Step(ctx, "look", func(context.Context) (string, error) { return "", errors.New("not yet") }, &workflow.StepOptions{
				Retry:   &workflow.RetryPolicy{Initial: time.Hour, Factor: 3, Max: 4 * time.Hour, Jitter: -1, Attempts: 100},
				Timeout: 15 * time.Hour,
			})
			failed, _ := errors.AsType[*workflow.StepError](err)
			if failed == nil || failed.Failure.Cause == nil || !errors.Is(err, workflow.ErrTimeout) {
				return "", fmt.Errorf("no timeout, or no last failure: %w", err)
			}
			return failed.Failure.Cause.Message, nil
		}, nil)
		got := runtimetest.Start(e, poll, "mail", nil).Must()
		at := map[int]time.Duration{}
		for _, c := range e.Calls("look") {
			if before, ok := at[c.Attempt]; ok && before != c.At.Truncate(time.Minute) {
				e.Errorf("attempt %d was made after %s and %s", c.Attempt, before, c.At)
			}
			at[c.Attempt] = c.At.Truncate(time.Minute)
		}
		if want := "map[1:0s 2:1h0m0s 3:4h0m0s 4:8h0m0s 5:12h0m0s]"; fmt.Sprint(at) != want || e.Elapsed() > 16*time.Hour || got != "not yet" {
			e.Errorf("attempts at %v, %q after %s", at, got, e.Elapsed())
		}
	})
}

// TestCancelModesOfStepsWhateverCrashes: a download of a day is called off after an hour, and wants
// ten minutes to tidy up. The run waits for that or not; only if it does is there an outcome in its
// history. If the node dies meanwhile the download does not begin anew only to be called off.
func TestCancelModesOfStepsWhateverCrashes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[workflow.CancelMode]string{
		workflow.WaitOutcome: "> cancel 1\n3 StepFailed download: the step was cancelled > timer\n4 TimerFired\n5 RunCompleted",
		workflow.TryCancel:   "> cancel 1, timer\n3 TimerFired\n4 RunCompleted",
		workflow.Abandon:     "> cancel 1, timer\n3 TimerFired\n4 RunCompleted",
	} {
		t.Run(fmt.Sprint("mode ", mode), func(t *testing.T) {
			runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
				l := &ledger{}
				runtimetest.Handle(e, load, func(ctx workflow.Context, file string) (string, error) {
					began := ctx.Now()
					scope, cancel := workflow.WithCancel(ctx)
					d := workflow.StepAsync(scope, "download", func(ctx context.Context) (string, error) {
						if err := pause(ctx, 24*time.Hour); err != nil {
							time.Sleep(10 * time.Minute)
							_, tidied := l.enter("tidied")(ctx)
							return "", errors.Join(err, tidied)
						}
						return l.enter("downloaded")(ctx)
					}, &workflow.StepOptions{OnCancel: mode})
					if err := workflow.Sleep(ctx, time.Hour); err != nil {
						return "", err
					}
					cancel()
					_, err := d.Get(ctx)
					if !errors.Is(err, workflow.ErrCancelled) {
						return "", fmt.Errorf("not cancelled: %w", err)
					}
					waited := ctx.Now().Sub(began) > 65*time.Minute
					return fmt.Sprint(waited), workflow.Sleep(ctx, 48*time.Hour)
				}, nil)
				run := runtimetest.Start(e, load, "film", nil)
				if got := run.Must(); got == "true" && mode != workflow.WaitOutcome {
					e.Error("the run waited")
				}
				if mode == workflow.WaitOutcome {
					l.want(e, "tidied")
				}
				for _, c := range e.Calls("download") {
					if c.At >= time.Hour {
						e.Errorf("the download began after %s", c.At)
					}
				}
				e.WantHistory(run.ID(), "1 RunStarted > step download, timer\n2 TimerFired "+want)
			})
		})
	}
}

// TestLimitsWhateverCrashes: whoever crashes, no more than one step holds the limit, what a dead node
// held is free for the next one, and nothing is left.
func TestLimitsWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		var now, most atomic.Int32
		runtimetest.Handle(e, poll, func(ctx workflow.Context, what string) (string, error) {
			var steps []workflow.Future[string]
			for i := range 3 {
				steps = append(steps, workflow.StepAsync(ctx, fmt.Sprint("call ", i), func(ctx context.Context) (string, error) {
					defer now.Add(-1)
					if n := now.Add(1); n > most.Load() {
						most.Store(n)
					}
					select {
					case <-time.After(time.Minute):
						return what, workflow.Settle(ctx, "one", 1)
					case <-ctx.Done():
						return "", ctx.Err()
					}
				}, &workflow.StepOptions{Limits: []workflow.StepLimit{{Name: "one"}}}))
			}
			all, err := workflow.All(ctx, steps...)
			return fmt.Sprint(all), err
		}, nil)
		if err := runtime.SetLimit(e.Context(), e.Client(), journal.Limit{Name: "one", Concurrency: 1}); err != nil {
			e.Error(err)
		}
		if got := runtimetest.Start(e, poll, "hi", nil).Must(); got != "[hi hi hi]" || most.Load() != 1 {
			e.Errorf("got %s, %d at once", got, most.Load())
		}
		if took := e.Elapsed(); took < 3*time.Minute || took > 5*time.Minute {
			e.Errorf("three calls of a minute, one after the other, took %s", took)
		}
	})
}
