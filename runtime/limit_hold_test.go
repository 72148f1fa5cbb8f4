package runtime_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

const (
	takesLong workflow.Name[time.Duration, int] = "takes long"
	onHold    workflow.Name[time.Duration, int] = "on hold"
)

func handleHeld(n *runtime.Node) {
	for _, name := range []workflow.Name[time.Duration, int]{takesLong, onHold} {
		runtime.Handle(n, name, func(ctx workflow.Context, d time.Duration) (int, error) { return 1, workflow.Sleep(ctx, d) }, nil)
	}
}

// A run that cannot begin when its turn comes. One that is paused is passed over. One of a paused
// workflow, or that nobody serves, takes the place: then both explanations say so, and what lets
// others pass.
func TestARunThatCannotBegin(t *testing.T) {
	needs := []journal.LimitNeed{{Name: "db"}}
	for what, c := range map[string]struct {
		start  func(ctx context.Context, client *runtime.Client) (*runtime.Run[int], error)
		cannot string // why it cannot begin; empty if it is passed over
	}{
		"paused": {func(ctx context.Context, client *runtime.Client) (*runtime.Run[int], error) {
			run, err := runtime.Start(ctx, client, onHold, 0, &runtime.StartOptions{Limits: needs})
			if err == nil {
				time.Sleep(time.Second)
				err = client.Pause(ctx, run.ID(), nil)
			}
			return run, err
		}, ""},
		"of a paused workflow": {func(ctx context.Context, client *runtime.Client) (*runtime.Run[int], error) {
			if err := client.PauseScope(ctx, journal.Scope{Workflow: string(onHold)}, nil); err != nil {
				return nil, err
			}
			return runtime.Start(ctx, client, onHold, 0, &runtime.StartOptions{Limits: needs})
		}, "is paused"},
		"of a queue that nobody serves": {func(ctx context.Context, client *runtime.Client) (*runtime.Run[int], error) {
			return runtime.Start(ctx, client, onHold, 0, &runtime.StartOptions{Limits: needs, Queue: "elsewhere"})
		}, "no live node serves workflow on hold, version 1, queue elsewhere"},
	} {
		t.Run(what, func(t *testing.T) {
			inABubble(t, handleHeld, func(t *testing.T, ctx context.Context, client *runtime.Client) {
				if err := runtime.SetLimit(ctx, client, journal.Limit{Name: "db", Concurrency: 1}); err != nil {
					t.Fatal(err)
				}
				first, err := runtime.Start(ctx, client, takesLong, 10*time.Second, &runtime.StartOptions{Limits: needs})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				held, err := c.start(ctx, client)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				next, err := runtime.Start(ctx, client, takesLong, 0, &runtime.StartOptions{Limits: needs})
				if err != nil {
					t.Fatal(err)
				}
				says := func(when string, run journal.RunID, texts ...string) {
					t.Helper()
					e, err := client.Why(ctx, run)
					if err != nil {
						t.Fatal(err)
					}
					for _, text := range texts {
						if !strings.Contains(e.String(), text) {
							t.Errorf("%s: %q has no %q", when, e, text)
						}
					}
				}
				if c.cannot == "" {
					says("while it waits", held.ID(), "others pass it in the lines of its limits")
				} else {
					says("while it waits", held.ID(), "takes a place when its turn comes", "reprise run pause "+held.ID().String())
				}
				if _, err := first.Result(ctx); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute)
				if c.cannot != "" {
					page, err := runtime.Limits(ctx, client, &journal.LimitFilter{Run: held.ID(), Claims: 1})
					if err != nil || len(page.Claims) != 1 || page.Claims[0].Granted.IsZero() {
						t.Fatalf("claims %+v, %v", page.Claims, err)
					}
					release := "reprise limit release " + page.Claims[0].Handle()
					says("with a place", held.ID(), "it holds its limits and has not begun", release)
					says("behind it", next.ID(), "run "+held.ID().String()+" holds a place and cannot begin: ", c.cannot, release)
					if err := runtime.ReleaseClaim(ctx, client, 0, page.Claims[0].ID); err != nil {
						t.Fatal(err)
					}
				}
				if _, err := next.Result(ctx); err != nil {
					t.Fatal(err)
				}
				if c.cannot != "" {
					return
				}
				if err := client.Resume(ctx, held.ID()); err != nil {
					t.Fatal(err)
				}
				if _, err := held.Result(ctx); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
