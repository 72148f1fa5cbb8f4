package actor

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

func keepsTen(o *Options) { o.attemptsMax = 10 }

// Of more steps than the journal keeps attempts of, each has as many attempts as its policy says,
// and none is forgotten. The others begin when some of them have ended.
func TestMoreStepsInRetryThanAreKept(t *testing.T) {
	bubble(t, keepsTen, func(g *rig) {
		const steps = 35
		bodies, most := 0, 0
		g.define("storm", func(ctx workflow.Context) (string, error) {
			var list []workflow.Future[int]
			for i := range steps {
				list = append(list, workflow.StepAsync(ctx, fmt.Sprint("s", i), func(ctx context.Context) (int, error) {
					g.mu.Lock()
					bodies++
					g.mu.Unlock()
					if info, _ := workflow.StepInfo(ctx); info.Attempt < 3 {
						return 0, errors.New("not yet")
					}
					return 1, nil
				}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Second, Jitter: -1}}))
			}
			for _, f := range list {
				if _, err := f.Get(ctx); err != nil {
					return "", err
				}
			}
			return "", nil
		})
		id := g.start("storm")
		for range 100 {
			if task := g.task(id); task == nil {
				break
			} else if most = max(most, len(task.Attempts)); task.Owner == 0 {
				g.wake(id)
			}
			pass(time.Second)
		}
		if g.task(id) != nil || bodies != 3*steps || most != 10 {
			t.Errorf("%d bodies, want %d; %d attempts were kept, want 10: %s", bodies, 3*steps, most, g.history(id))
		}
		g.wantSaid("blocked", 0)
		if g.said("full: 25 wait, ") == 0 {
			t.Error("nobody said that steps wait")
		}
	})
}

// Steps that wait for room are no work: the run is parked until a retry, or until one of them runs
// out of time.
func TestStepsThatWaitForRoomAreParked(t *testing.T) {
	bubble(t, keepsTen, func(g *rig) {
		g.define("full", func(ctx workflow.Context) (string, error) {
			for i := range 10 {
				workflow.StepAsync(ctx, fmt.Sprint("fails", i), func(context.Context) (int, error) { return 0, errors.New("down") },
					&workflow.StepOptions{Retry: &workflow.RetryPolicy{Initial: time.Hour, Jitter: -1}})
			}
			workflow.StepAsync(ctx, "patient", func(context.Context) (int, error) { panic("it began") }, nil)
			_, err := workflow.Step(ctx, "late", func(context.Context) (int, error) { panic("it began") }, &workflow.StepOptions{Timeout: time.Minute})
			return "", err
		})
		id := g.start("full")
		wait()
		task := g.task(id)
		if task == nil || task.Owner != 0 || time.Until(task.VisibleAt) != time.Minute {
			t.Fatalf("it is not parked for a minute: %+v", task)
		}
		g.wake(id)
		if g.task(id) != nil {
			t.Errorf("it has not ended: %s", g.history(id))
		}
		g.wantSaid("panic", 0)
	})
}
