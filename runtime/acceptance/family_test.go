package acceptance_test

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// Workflows of the tests about families of runs.
const (
	root   workflow.Name[string, string] = "root"
	middle workflow.Name[string, string] = "middle"
	leaf   workflow.Name[string, string] = "leaf"
	item   workflow.Name[int, int]       = "item"
	halt   workflow.Signal[string]       = "halt"
)

// note is a step with an effect that the test counts.
func note(ctx workflow.Context, name string) error {
	_, err := workflow.Step(ctx, name, func(context.Context) (struct{}, error) { return struct{}{}, nil }, nil)
	return err
}

// sleepThenNote is a leaf that takes an hour, and cleans up when it is cancelled.
func sleepThenNote(ctx workflow.Context, in string) (string, error) {
	if err := workflow.Sleep(ctx, time.Hour); err != nil {
		return "", errors.Join(err, note(workflow.Shield(ctx), "clean "+in))
	}
	return in, nil
}

// end names how something ended.
func end(err error) string {
	var failed *workflow.ChildError
	switch {
	case err == nil:
		return "completed"
	case errors.Is(err, workflow.ErrKeyExists):
		return "key exists"
	case errors.Is(err, workflow.ErrTerminated):
		return "terminated"
	case errors.Is(err, workflow.ErrCancelled):
		return "cancelled"
	case errors.Is(err, workflow.ErrTimeout):
		return "timeout"
	case errors.As(err, &failed):
		return "failed"
	}
	return err.Error()
}

// wantStatus fails the test unless a run has this status.
func wantStatus(e *runtimetest.Env, run journal.RunID, want journal.Status) {
	e.Helper()
	d, err := e.Client().Describe(e.Context(), run)
	if err != nil {
		e.Errorf("run %s: %v", run, err)
		return
	}
	if d.Run.Status != want {
		e.Errorf("run %s of %s is %s, want %s", run, d.Run.Workflow, d.Run.Status, want)
	}
}

// childrenOf lists the runs that a run has started, in the order of their ids.
func childrenOf(e *runtimetest.Env, parent journal.RunID) []journal.Run {
	e.Helper()
	page, err := e.Client().List(e.Context(), journal.ListFilter{Parent: parent, Limit: journal.ListMax})
	if err != nil {
		e.Fatal(err)
	}
	slices.Reverse(page.Runs)
	return page.Runs
}

// onlyChild is the one run of this workflow that a run has started.
func onlyChild(e *runtimetest.Env, parent journal.RunID, workflow string) journal.RunID {
	e.Helper()
	var found []journal.RunID
	for _, r := range childrenOf(e, parent) {
		if r.Workflow == workflow {
			found = append(found, r.ID)
		}
	}
	if len(found) != 1 {
		e.Fatalf("run %s has %d children of %s, want 1", parent, len(found), workflow)
	}
	return found[0]
}

// events counts the events of a kind in a run's history.
func events(e *runtimetest.Env, run journal.RunID, kind journal.Kind) (n int) {
	e.Helper()
	for _, ev := range e.History(run).Events {
		if ev.Kind == kind {
			n++
		}
	}
	return n
}

// keysOf counts the executions of a step, without those that a crash repeated.
func keysOf(e *runtimetest.Env, step string) int {
	keys := map[string]bool{}
	for _, c := range e.Calls(step) {
		keys[c.Key] = true
	}
	return len(keys)
}

func workOnce(context.Context) (string, error) { return "done", nil }
