package main

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/reprise-run/reprise/runtime/runtimetest"
	"github.com/reprise-run/reprise/runtime/schedule"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSchedule(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made on the way")
	for _, said := range []string{"2 schedules are new, 0 are as they were", "0 schedules are new, 2 are as they were"} {
		var out bytes.Buffer
		if err := run(t.Context(), dir, &out); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{said, "nightly-report 28 March 03:30 02:30 on 28 March 2027 does not exist, it runs at 03:30\nnightly-report 29 March 02:30"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("it prints %q, want %q", out.String(), want)
			}
		}
		if n := strings.Count(out.String(), " tick\n"); n != 3 {
			t.Errorf("there are %d beats in %q", n, out.String())
		}
	}
}

// A schedule is tested on the real engine in virtual time: hours take a moment.
func TestFlowSchedule(t *testing.T) {
	runtimetest.Test(t, func(e *runtimetest.Env) {
		e.Register(schedule.Handle)
		runtimetest.Handle(e, Beat, beat(make(chan string, 100_000)), nil)
		runtimetest.Handle(e, Report, report, nil)
		if _, err := schedule.Apply(context.Background(), e.Client(), schedule.Set{Schedules: schedules().Schedules[1:]}, nil); err != nil {
			e.Fatal(err)
		}
		e.Sleep(90 * time.Minute) // the clock of tests begins at midnight UTC
		night, err := schedule.Get(context.Background(), e.Client(), "nightly-report")
		if err != nil || night.Counts.Started != 1 || night.Counts.Completed != 1 {
			e.Errorf("the report: %+v, %v", night.Counts, err)
		}
	})
}
