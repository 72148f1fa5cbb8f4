package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// What can never work is refused at once, with a sentence that says so: a nil journal, store or
// function panics where it is passed, a node without a workflow does not run.
func TestNothingToWorkWith(t *testing.T) {
	j := journal.New(memory.New(nil), nil)
	for want, call := range map[string]func(){
		"the journal is nil":      func() { runtime.NewClient(nil, nil) },
		"journal is nil; make":    func() { runtime.NewNode(nil, nil) },
		"journal.New got a <nil>": func() { runtime.NewClient(journal.New(nil, nil), nil) },
		`the function of workflow "none" is nil`: func() {
			runtime.Handle(runtime.NewNode(j, nil), workflow.Name[int, int]("none"), nil, nil)
		},
		`workflow "late": timeout -1s: it must be between 0 and`: func() {
			late := func(workflow.Context, int) (int, error) { return 0, nil }
			runtime.Handle(runtime.NewNode(j, nil), "late", late, &runtime.HandleOptions{Timeout: -time.Second})
		},
	} {
		func() {
			defer func() {
				if v := fmt.Sprint(recover()); !strings.Contains(v, want) {
					t.Errorf("panicked with %s, want %q", v, want)
				}
			}()
			call()
		}()
	}
	if err := runtime.NewNode(j, nil).Run(t.Context()); !errors.Is(err, runtime.ErrNoWorkflow) {
		t.Errorf("a node without a workflow: %v", err)
	}
}

// What no run can have is refused by each way to look for runs, whatever the store.
func TestImpossibleFilters(t *testing.T) {
	c := runtime.NewClient(journal.New(memory.New(nil), nil), nil)
	many := map[string]string{}
	for i := range journal.LabelsMax + 1 {
		many[fmt.Sprint("label", i)] = "v"
	}
	for name, find := range map[string]func(ctx context.Context) error{
		"key":           func(ctx context.Context) error { _, err := c.FindKey(ctx, "a\xff"); return err },
		"long key":      func(ctx context.Context) error { _, err := c.FindKey(ctx, strings.Repeat("k", 513)); return err },
		"prefix":        list(c, journal.ListFilter{KeyPrefix: "a\x00"}),
		"workflow":      list(c, journal.ListFilter{Workflow: "\xff"}),
		"change":        list(c, journal.ListFilter{Unchanged: "a\n"}),
		"label":         list(c, journal.ListFilter{Labels: map[string]string{"\xff": "v"}}),
		"label's value": list(c, journal.ListFilter{Labels: map[string]string{"k": "\xff"}}),
		"labels":        list(c, journal.ListFilter{Labels: many}),
		"limit":         list(c, journal.ListFilter{Limit: -1}),
		"ids":           list(c, journal.ListFilter{IDs: make([]journal.RunID, journal.BatchMax+1)}),
	} {
		if err := find(t.Context()); !errors.Is(err, journal.ErrInvalid) || !strings.HasPrefix(err.Error(), "list: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func list(c *runtime.Client, f journal.ListFilter) func(context.Context) error {
	return func(ctx context.Context) error { _, err := c.List(ctx, f); return err }
}
