package record_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/ui/record"
)

// TestFailuresOf: what a failure has passed on is found below what wraps it, numbers do not divide
// groups of problems, the largest group comes first, and there are no more groups than said.
func TestFailuresOf(t *testing.T) {
	t.Parallel()
	var stuck, ended []journal.Run // as a store lists them
	at := time.Now()
	blocked := func(problem string) {
		stuck = append(stuck, journal.Run{ID: journal.NewRunID(), Workflow: "order", Version: 2, CreatedAt: at, Task: &journal.Task{State: journal.Blocked, Problem: problem}})
	}
	failed := func(workflow string, err error) {
		f := journal.EncodeFailure(replay.FailureOf(err))
		ended = append(ended, journal.Run{ID: journal.NewRunID(), Workflow: workflow, Version: 2, Status: journal.Failed, ClosedAt: at,
			Terminal: &journal.Event{Kind: journal.RunFailed, Payload: f}})
	}
	for i := range 300 {
		failed(fmt.Sprintf("w%03d", i), errors.New("boom"))
	}
	for range 2 { // the one that was started later ends first
		at = at.Add(time.Hour)
		failed("order", fmt.Errorf("charge: %w", &replay.StepError{Step: "pay", Failure: &journal.Failure{Type: journal.FailureTimeout, Message: "late"}}))
	}
	started := at
	for i := range 3 { // as a store lists them, the newest first
		at = started.Add(-time.Duration(i) * time.Minute)
		blocked(fmt.Sprintf("code and history differ at event %d: history has step pay, code has step ship", 10+i))
	}
	out, err := record.FailuresOf(&record.Maker{}, journal.ListFilter{}, 1_000, func(f journal.ListFilter) (page journal.RunPage, err error) {
		switch {
		case f.State == nil:
			page.Runs = ended
		case *f.State == journal.Blocked:
			page.Runs = stuck
		}
		return page, nil
	}, nil)
	if err != nil || out.Runs != 305 || out.Capped || len(out.Groups) != 200 {
		t.Fatalf("%d runs in %d groups, %v", out.Runs, len(out.Groups), err)
	}
	for i, want := range []string{"3 blocked  code and history differ at event N", "2 failed pay Timeout"} {
		g := &out.Groups[i]
		if g.Status == "failed" && (g.LastAt.Sub(*g.FirstAt) != time.Hour || g.Problem != "charge: step pay: late") {
			t.Errorf("group %d is %+v", i, g)
		}
		if g.Status == "blocked" && (!g.LastAt.Equal(started) || g.LastAt.Sub(*g.FirstAt) != 2*time.Minute) {
			t.Errorf("group %d of blocked runs is from %s to %s, want when they were started", i, g.FirstAt, g.LastAt)
		}
		if got := fmt.Sprintf("%d %s %s %s", g.Runs, g.Status, g.Step, g.Class); got != want {
			t.Errorf("group %d is %q, want %q", i, got, want)
		}
	}
}
