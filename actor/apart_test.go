package actor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// claimApart takes a run over by a claim that had no room for what has no small limit.
func (g *rig) claimApart(id journal.RunID) {
	c := g.store.claim(id, testNode)
	c.Apart = 1
	c.Task.Attempts, c.Run.Input, c.Run.Published, c.Run.Headers = nil, journal.Payload{}, nil, nil
	g.sys.Activate(c)
	wait()
}

// A run that a claim had no room for has its input, and what its steps have left, before its code
// runs: a new one, one that is loaded, and a warm one.
func TestARunApartIsWhole(t *testing.T) {
	for _, warm := range []bool{true, false} {
		t.Run(fmt.Sprintf("warm %v", warm), func(t *testing.T) {
			bubble(t, func(o *Options) { o.PassivateAlways = !warm }, func(g *rig) {
				var seen []string
				g.define("tries", func(ctx workflow.Context) (string, error) {
					return workflow.Step(ctx, "a", func(ctx context.Context) (string, error) {
						at, _ := workflow.StepInfo(ctx)
						beat, _ := workflow.LastHeartbeat[int](ctx)
						seen = append(seen, fmt.Sprint(at.Attempt, " ", beat))
						return "", workflow.RetryAfter(errors.Join(errors.New("not yet"), workflow.Heartbeat(ctx, at.Attempt)), time.Second)
					}, &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: 3}})
				})
				id := g.create("tries")
				g.store.mu.Lock()
				g.store.runs[id].run.Input = journal.Payload{Data: []byte("7")}
				g.store.runs[id].task.Owner = 0
				g.store.mu.Unlock()
				g.claimApart(id)
				for range 2 {
					pass(time.Second + time.Millisecond)
					g.claimApart(id)
				}
				if want := []string{"1 0", "2 1", "3 2"}; !slices.Equal(seen, want) {
					t.Errorf("attempts and the heartbeats that they saw: %q, want %q", seen, want)
				}
				g.wantHistory(id, "RunStarted StepFailed(a) RunFailed")
			})
		})
	}
}

// A step that had paused its run is tried anew when the run is resumed, also if the claim had no
// room for what says so.
func TestARunApartIsResumed(t *testing.T) {
	for _, warm := range []bool{true, false} {
		t.Run(fmt.Sprintf("warm %v", warm), func(t *testing.T) {
			bubble(t, func(o *Options) { o.PassivateAlways = !warm }, func(g *rig) {
				tries := 0
				g.define("tries", func(ctx workflow.Context) (string, error) {
					return workflow.Step(ctx, "a", func(context.Context) (string, error) {
						if tries++; tries == 1 {
							return "", errors.New("down")
						}
						return "done", nil
					}, pausing(1))
				})
				id := g.start("tries")
				g.toPause(id)
				g.store.mu.Lock()
				g.store.runs[id].task.State = journal.Ready
				g.store.mu.Unlock()
				g.claimApart(id)
				g.wantHistory(id, "RunStarted StepCompleted(a) RunCompleted")
			})
		})
	}
}
