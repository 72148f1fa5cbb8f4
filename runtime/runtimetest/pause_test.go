package runtimetest_test

import (
	"context"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// TestPause: a test pauses a run, with a crash at every turn. What falls due meanwhile happens when
// the run is resumed.
func TestPause(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		const day = 24 * time.Hour
		runtimetest.Handle(e, request, asked, nil)
		run := runtimetest.Start(e, request, "leave", nil)
		e.Sleep(day)
		if err := e.Client().Pause(context.Background(), run.ID(), nil); err != nil {
			t.Fatal(err)
		}
		e.Sleep(60 * day)
		if d, err := e.Client().Describe(context.Background(), run.ID()); err != nil || d.Events != 2 {
			t.Errorf("a run that is paused behind its first step has %d events, %v", d.Events, err)
		}
		if err := e.Client().Resume(context.Background(), run.ID()); err != nil {
			t.Fatal(err)
		}
		if got := run.Must(); got != "never mind leave" {
			t.Errorf("got %q", got)
		}
		if d := e.Elapsed(); d < 82*day || d > 83*day { // the first week has passed, three follow
			t.Errorf("it took %s", d)
		}
	})
}

const (
	doze workflow.Name[string, string]  = "doze"
	wake workflow.Signal[string]        = "wake"
	said workflow.Query[string, string] = "said"
)

// dozes tells in which order a timer of a week and signals have come.
func dozes(ctx workflow.Context, text string) (string, error) {
	said.Handle(ctx, func(string) (string, error) { return text, nil })
	rang := workflow.NewTimer(ctx, 7*24*time.Hour)
	workflow.Go(ctx, func(ctx workflow.Context) {
		for {
			by, err := wake.Receive(ctx)
			if err != nil {
				return
			}
			text += " " + by
		}
	})
	err := rang.Get(ctx)
	text += " rang"
	return text, err
}

// TestFreezeTimers: a timer that stands still keeps the rest of its time, with a crash at every turn,
// and all who foresee what the run will do know it: a query during the pause too.
func TestFreezeTimers(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		const day = 24 * time.Hour
		ctx := context.Background()
		runtimetest.Handle(e, doze, dozes, nil)
		run := runtimetest.Start(e, doze, "asleep", nil)
		e.Sleep(day)
		for _, by := range []string{"ada", "eva"} {
			if err := e.Client().Pause(ctx, run.ID(), &runtime.PauseOptions{FreezeTimers: true}); err != nil {
				t.Fatal(err)
			}
			e.Sleep(30 * day)
			runtimetest.Signal(e, run.ID(), wake, by, nil)
			want := map[string]string{"ada": "asleep ada", "eva": "asleep ada eva"}[by]
			if got := runtimetest.Query(e, run.ID(), said, ""); got != want {
				t.Errorf("paused, it says %q, want %q", got, want)
			}
			if err := e.Client().Resume(ctx, run.ID()); err != nil {
				t.Fatal(err)
			}
			e.Sleep(day)
			if got := runtimetest.Query(e, run.ID(), said, ""); got != want {
				t.Errorf("resumed, it says %q, want %q", got, want)
			}
		}
		if got := run.Must(); got != "asleep ada eva rang" {
			t.Errorf("got %q", got)
		}
		if d := e.Elapsed(); d < 67*day || d > 67*day+time.Hour {
			t.Errorf("it took %s", d)
		}
		kinds := 0
		for _, ev := range e.History(run.ID()).Events {
			if ev.Kind == journal.TimerFired {
				kinds++
			}
		}
		if kinds != 1 {
			t.Errorf("%d timers have fired", kinds)
		}
	})
}
