package runtimetest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// TestAcceptedUpdateOfAGenerationThatEnds: an update that was accepted has one outcome. If its
// generation ends under it, the caller hears at once that it may have had effects; it is not
// validated again, not handled again, and its key is not free, whatever the next generation does.
func TestAcceptedUpdateOfAGenerationThatEnds(t *testing.T) {
	const (
		shop   workflow.Name[int, int]      = "shop"
		charge workflow.Update[int, string] = "charge"
	)
	for _, how := range []string{"early", "late", "validator", "none"} {
		t.Run(how, func(t *testing.T) {
			runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
				charged := map[string]bool{} // by what makes attempts of one step one
				runtimetest.Handle(e, shop, func(ctx workflow.Context, generation int) (int, error) {
					handler := func(ctx workflow.Context, v int) (string, error) {
						if err := workflow.Do(ctx, "charge", func(ctx context.Context) error { charged[workflow.IdempotencyKey(ctx)] = true; return nil }, nil); err != nil {
							return "", err
						}
						return "done", workflow.Sleep(ctx, time.Hour)
					}
					switch {
					case generation == 0:
						charge.Handle(ctx, handler, nil)
						if err := workflow.Sleep(ctx, time.Minute); err != nil {
							return 0, err
						}
						return 0, workflow.ContinueAsNew(ctx, shop, 1, nil)
					case how == "early":
						charge.Handle(ctx, handler, nil)
					case how == "validator":
						charge.Handle(ctx, handler, &workflow.UpdateOptions[int]{Validate: func(int) error { return errors.New("closed for today") }})
					}
					if err := workflow.Sleep(ctx, time.Second); err != nil {
						return 0, err
					}
					if how == "late" {
						charge.Handle(ctx, handler, nil)
					}
					return generation, workflow.Sleep(ctx, 5*time.Hour)
				}, nil)
				run := runtimetest.Start(e, shop, 0, nil)
				e.Sleep(time.Second)
				key := &runtime.UpdateOptions{Key: "payment"}
				for again := range 2 {
					_, err := runtimetest.Update(e, run.ID(), charge, 1, key)
					if !errors.Is(err, runtime.ErrAborted) || errors.Is(err, runtime.ErrRejected) || !strings.Contains(err.Error(), "may have had effects") {
						e.Errorf("call %d: %v", again, err)
					}
					if again == 0 && e.Elapsed() > 2*time.Minute {
						e.Errorf("the caller waited until %s", e.Elapsed())
					}
					e.Sleep(time.Hour)
				}
				if got := run.Must(); got != 1 {
					e.Errorf("got %d", got)
				}
				if len(charged) != 1 {
					e.Errorf("one update charged %d times", len(charged))
				}
			})
		})
	}
}
