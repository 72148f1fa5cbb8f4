package bulk

import (
	"context"
	"fmt"
	"testing"

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
}

func (s *lateStore) Admin(ctx context.Context, a driver.AdminAction) (driver.AdminOutcome, error) {
	if do := s.before; do != nil {
		s.before = nil
		do()
	}
	return s.Store.Admin(ctx, a)
}

// TestTwoWorkersActOnce: a worker whose node was declared dead, and that does not know it, acts
// beside the worker that has the page now: before it, or between its plan and what it writes. A run
// is acted on once.
func TestTwoWorkersActOnce(t *testing.T) {
	for _, verb := range []Verb{Retry, Reset, Fork} {
		for _, between := range []bool{false, true} {
			t.Run(fmt.Sprint(verb, between), func(t *testing.T) {
				ctx, store := t.Context(), &lateStore{Store: memory.New(nil)}
				client := runtime.NewClient(journal.New(store, nil), nil)
				started, err := runtime.Start(ctx, client, workflow.Name[int, string]("parcel"), 1, nil)
				if err != nil {
					t.Fatal(err)
				}
				run := started.ID()
				if verb == Retry {
					if err := client.Terminate(ctx, run, "a test"); err != nil {
						t.Fatal(err)
					}
				}
				id := journal.NewRunID()
				act := func() {
					w := &worker{client: client, job: Job{Verb: verb, To: runtime.GenerationStart}, id: id, actor: "eva"}
					if err := w.actOn(ctx, run); err != nil {
						t.Errorf("it says %v", err)
					}
				}
				if between {
					store.before = act
				} else {
					act()
				}
				act()
				entries, err := client.Audit(ctx, journal.AuditFilter{Run: run, Verb: string(verb)})
				if err != nil || len(entries) != 1 {
					t.Errorf("the audit has %+v, %v", entries, err)
				}
				runs, err := client.List(ctx, journal.ListFilter{})
				want := map[Verb]int{Retry: 1, Reset: 1, Fork: 2}[verb]
				if err != nil || len(runs.Runs) != want {
					t.Errorf("there are %d runs, %v, want %d", len(runs.Runs), err, want)
				}
			})
		}
	}
}
