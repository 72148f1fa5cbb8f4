package bulk

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// lateStore does something before the next action of an operator is written.
type lateStore struct {
	driver.Store
	before func()
	acted  bool // whether the last one was found to be done already
}

func (s *lateStore) Admin(ctx context.Context, a driver.AdminAction) (driver.AdminOutcome, error) {
	if do := s.before; do != nil {
		s.before = nil
		do()
	}
	out, err := s.Store.Admin(ctx, a)
	s.acted = errors.Is(err, driver.ErrActed)
	return out, err
}

// acting is a verb of a job, and what an operator does to the run that the job has acted on.
type acting struct {
	job    Job
	closed bool // the verb is for closed runs
	undo   func(ctx context.Context, c *runtime.Client, run journal.RunID) error
}

func actings() []acting {
	resume := func(ctx context.Context, c *runtime.Client, run journal.RunID) error { return c.Resume(ctx, run) }
	pause := func(ctx context.Context, c *runtime.Client, run journal.RunID) error { return c.Pause(ctx, run, nil) }
	retry := func(ctx context.Context, c *runtime.Client, run journal.RunID) error {
		_, err := c.Retry(ctx, run, nil)
		return err
	}
	terminate := func(ctx context.Context, c *runtime.Client, run journal.RunID) error {
		return c.Terminate(ctx, run, "")
	}
	anew := func(ctx context.Context, c *runtime.Client, run journal.RunID) error {
		_, err := c.Reset(ctx, run, runtime.GenerationStart, &runtime.ResetOptions{NoMessages: true})
		return err
	}
	return []acting{
		{Job{Verb: Cancel}, false, anew},
		{Job{Verb: Terminate}, false, retry},
		{Job{Verb: Pause}, false, resume},
		{Job{Verb: Resume}, false, pause},
		{Job{Verb: Signal, Signal: "scanned"}, false, anew},
		{Job{Verb: Delete}, true, nil},
		{Job{Verb: SetLabels, Labels: map[string]string{"a": "1"}}, false, func(ctx context.Context, c *runtime.Client, run journal.RunID) error {
			return c.SetLabels(ctx, run, map[string]string{"a": "2"}, nil)
		}},
		{Job{Verb: SetPriority, Priority: 1}, false, func(ctx context.Context, c *runtime.Client, run journal.RunID) error {
			return c.SetPriority(ctx, run, 5)
		}},
		{Job{Verb: Retry}, true, terminate},
		{Job{Verb: Reset, To: runtime.GenerationStart}, false, anew},
		{Job{Verb: Fork, To: runtime.GenerationStart}, false, nil},
		{Job{Verb: Skip, Message: "scanned"}, false, func(ctx context.Context, c *runtime.Client, run journal.RunID) error {
			_, err := c.Reset(ctx, run, runtime.RunStart, nil) // which has the message again
			return err
		}},
	}
}

// TestTwoWorkersActOnce: a worker whose node was declared dead, and that does not know it, acts
// beside the worker that has the page now: before it, or between what it looks at and what it
// writes, or when an operator has undone what the job did. A run is acted on once, and that counts
// as done.
func TestTwoWorkersActOnce(t *testing.T) {
	for _, a := range actings() {
		for _, when := range []string{"before", "between", "undone"} {
			if when == "undone" && a.undo == nil {
				continue
			}
			t.Run(fmt.Sprint(a.job.Verb, " ", when), func(t *testing.T) { twoWorkers(t, a, when) })
		}
	}
}

func twoWorkers(t *testing.T, a acting, when string) {
	ctx, store := t.Context(), &lateStore{Store: memory.New(nil)}
	client := runtime.NewClient(journal.New(store, nil), nil)
	started, err := runtime.Start(ctx, client, workflow.Name[int, string]("parcel"), 1, nil)
	if err == nil && a.closed {
		err = client.Terminate(ctx, started.ID(), "a test")
	}
	if err == nil && a.job.Verb == Skip {
		err = runtime.Signal(ctx, client, started.ID(), workflow.Signal[string]("scanned"), "x", nil)
	}
	if err == nil && a.job.Verb == Resume {
		err = client.Pause(ctx, started.ID(), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	run, id := started.ID(), journal.NewRunID()
	first, err := client.Audit(ctx, journal.AuditFilter{Limit: 1})
	p := &page{}
	if err == nil && len(first) > 0 {
		p.Audited = first[0].Number
	}
	act := func() {
		w := &worker{client: client, job: a.job, id: id, actor: "eva"}
		if err := w.actOn(ctx, p, run); err != nil {
			t.Errorf("it says %v", err)
		}
	}
	look := func() *runtime.Description {
		d, err := client.Describe(ctx, run)
		if err != nil && a.job.Verb != Delete {
			t.Fatal(err)
		}
		return d
	}
	switch when {
	case "between":
		store.before = act
	case "before":
		act()
	case "undone":
		act()
		if err := a.undo(ctx, client, run); err != nil {
			t.Fatal(err)
		}
	}
	before := look()
	act()
	if d := cmp.Diff(before, look()); d != "" && when != "between" {
		t.Errorf("the second worker has changed the run (-before +after):\n%s", d)
	}
	if when == "undone" && store.acted != a.job.Verb.audited() {
		t.Errorf("the store has found it done: %v", store.acted)
	}
	entries, err := client.Audit(ctx, journal.AuditFilter{Run: run, Actor: "eva"})
	if want := map[bool]int{true: 1}[a.job.Verb.audited()]; err != nil || len(entries) != want {
		t.Errorf("the audit has %+v, %v, want %d entries", entries, err, want)
	}
	runs, err := client.List(ctx, journal.ListFilter{})
	if want := 1 + map[Verb]int{Fork: 1, Delete: -1}[a.job.Verb]; err != nil || len(runs.Runs) != want {
		t.Errorf("there are %d runs, %v, want %d", len(runs.Runs), err, want)
	}
}
