package runtimetest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

const (
	garage  workflow.Name[[]car, []string] = "garage"
	release workflow.Name[string, string]  = "release"
)

type car struct {
	Plate string
	Lifts int
}

// garages repair cars on two lifts, and paint them one at a time after that. Everybody is served in
// the order in which they came.
func garages(l *ledger) func(workflow.Context, []car) ([]string, error) {
	return func(ctx workflow.Context, cars []car) ([]string, error) {
		began := ctx.Now()
		lifts := workflow.NewSemaphore(2, "lifts")
		gun := workflow.Mutex{Name: "spray gun"}
		var log []string
		note := func(what, plate string) {
			log = append(log, fmt.Sprint(ctx.Now().Sub(began).Truncate(time.Hour).Hours(), what, plate))
		}
		serve := func(ctx workflow.Context, c car) error {
			if err := lifts.Acquire(ctx, c.Lifts); err != nil {
				return err
			}
			note(" lifts ", c.Plate)
			err := workflow.Sleep(ctx, time.Hour)
			lifts.Release(c.Lifts)
			if err != nil {
				return err
			}
			if err := gun.Lock(ctx); err != nil {
				return err
			}
			defer gun.Unlock()
			note(" paints ", c.Plate)
			if _, err := workflow.Step(ctx, "paint", l.enter(c.Plate), nil); err != nil {
				return err
			}
			return workflow.Sleep(ctx, 90*time.Minute)
		}
		var open workflow.WaitGroup
		for _, c := range cars {
			open.Go(ctx, func(ctx workflow.Context) {
				if err := serve(ctx, c); err != nil {
					note(err.Error(), c.Plate)
				}
			})
		}
		open.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) { // somebody in a hurry, who does not wait
			defer open.Done()
			if lifts.TryAcquire(ctx, 1) || !gun.TryLock(ctx) {
				note(" hurries ", "in")
				return
			}
			note(" hurries ", "on")
			gun.Unlock()
		})
		return log, open.Wait(ctx)
	}
}

func TestLocksWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		l := &ledger{}
		runtimetest.Handle(e, garage, garages(l), nil)
		run := runtimetest.Start(e, garage, []car{{"van", 1}, {"truck", 2}, {"mini", 1}}, nil)
		want := "[0 lifts van 0 hurries on 1 paints van 1 lifts truck 2 lifts mini 2 paints truck 4 paints mini]"
		if got := fmt.Sprint(run.Must()); got != want {
			e.Errorf("got  %s\nwant %s", got, want)
		}
		l.want(e, "van", "truck", "mini")
	})
}

// releases check a build in parallel, two checks at a time, and end the checks when one has failed.
func releases(l *ledger) func(workflow.Context, string) (string, error) {
	return func(ctx workflow.Context, build string) (string, error) {
		checks, scope := workflow.NewGroup(ctx)
		checks.SetLimit(2)
		var passed []string
		for _, check := range []string{"lint", "soak", "sign"} {
			checks.Go(func(ctx workflow.Context) error {
				if check == "soak" {
					if err := workflow.Sleep(ctx, 24*time.Hour); err != nil {
						return err
					}
				}
				_, err := workflow.Step(ctx, check, func(ctx context.Context) (string, error) {
					if check == "sign" && build == "broken" {
						return "", workflow.Permanent(errors.New("no key"))
					}
					return l.enter(check)(ctx)
				}, nil)
				if err == nil {
					passed = append(passed, check)
				}
				return err
			})
		}
		err := checks.Wait()
		text := "released"
		if failed, ok := errors.AsType[*workflow.StepError](err); ok {
			text = "step " + failed.Step + " failed"
		} else if err != nil {
			return "", err
		}
		return fmt.Sprint(text, " ", passed, " ", scope.Cancelled(), " ", ctx.Cancelled()), nil
	}
}

func TestGroupWhateverCrashes(t *testing.T) {
	t.Parallel()
	for build, want := range map[string]string{
		"good":   "released [lint sign soak] true false",
		"broken": "step sign failed [lint] true false",
	} {
		t.Run(build, func(t *testing.T) {
			runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
				l := &ledger{}
				runtimetest.Handle(e, release, releases(l), nil)
				if got := runtimetest.Start(e, release, build, nil).Must(); got != want {
					e.Errorf("got %s, want %s", got, want)
				}
				if build == "broken" {
					if l.want(e, "lint"); e.Elapsed() > time.Hour {
						e.Errorf("it took %s", e.Elapsed())
					}
				} else {
					l.want(e, "lint", "soak", "sign")
				}
			})
		})
	}
}
