package runtimetest_test

import (
	"context"
	"testing"
	"time"

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
