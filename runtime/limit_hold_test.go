package runtime_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

const (
	takesLong workflow.Name[time.Duration, int] = "takes long"
	onHold    workflow.Name[time.Duration, int] = "on hold"
)

func handleHeld(n *runtime.Node) {
	for _, name := range []workflow.Name[time.Duration, int]{takesLong, onHold} {
		runtime.Handle(n, name, heldBody, nil)
	}
}

func heldBody(ctx workflow.Context, d time.Duration) (int, error) { return 1, workflow.Sleep(ctx, d) }

// A run that cannot begin when its turn comes is passed over, whatever the reason. It says so, and
// begins as soon as the reason is gone.
func TestARunThatCannotBegin(t *testing.T) {
	needs := []journal.LimitNeed{{Name: "db"}}
	scope := journal.Scope{Workflow: string(onHold)}
	for what, c := range map[string]struct {
		queue string
		stop  func(ctx context.Context, client *runtime.Client, run journal.RunID) error
		goOn  func(ctx context.Context, store *memory.Store, client *runtime.Client, run journal.RunID) error
	}{
		"paused": {stop: func(ctx context.Context, client *runtime.Client, run journal.RunID) error {
			return client.Pause(ctx, run, nil)
		},
			goOn: func(ctx context.Context, _ *memory.Store, client *runtime.Client, run journal.RunID) error {
				return client.Resume(ctx, run)
			}},
		"of a paused workflow": {stop: func(ctx context.Context, client *runtime.Client, _ journal.RunID) error {
			return client.PauseScope(ctx, scope, nil)
		}, goOn: func(ctx context.Context, _ *memory.Store, client *runtime.Client, _ journal.RunID) error {
			return client.ResumeScope(ctx, scope)
		}},
		"of a queue that nobody serves": {queue: "elsewhere", goOn: func(ctx context.Context, store *memory.Store, _ *runtime.Client, _ journal.RunID) error {
			n := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: slog.New(slog.DiscardHandler), Drain: time.Millisecond})
			runtime.Handle(n, onHold, heldBody, &runtime.HandleOptions{Queue: "elsewhere"})
			go n.Run(ctx)
			return nil
		}},
	} {
		t.Run(what, func(t *testing.T) {
			inAStore(t, handleHeld, func(t *testing.T, ctx context.Context, store *memory.Store, client *runtime.Client) {
				must := func(err error) {
					t.Helper()
					if err != nil {
						t.Fatal(err)
					}
				}
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				must(runtime.SetLimit(ctx, client, journal.Limit{Name: "db", Concurrency: 1}))
				first, err := runtime.Start(ctx, client, takesLong, 10*time.Second, &runtime.StartOptions{Limits: needs})
				must(err)
				time.Sleep(time.Second)
				held, err := runtime.Start(ctx, client, onHold, 0, &runtime.StartOptions{Limits: needs, Queue: c.queue})
				must(err)
				time.Sleep(time.Second)
				if c.stop != nil {
					must(c.stop(ctx, client, held.ID()))
				}
				time.Sleep(time.Second)
				next, err := runtime.Start(ctx, client, takesLong, time.Minute, &runtime.StartOptions{Limits: needs})
				must(err)
				e, err := client.Why(ctx, held.ID())
				if must(err); !strings.Contains(e.String(), "others pass it in the lines of its limits") {
					t.Errorf("it says %q", e)
				}
				_, err = first.Result(ctx)
				must(err)
				free := time.Now()
				_, err = next.Result(ctx)
				if must(err); time.Since(free) > time.Minute+time.Second {
					t.Errorf("the next one ends %s behind the first", time.Since(free))
				}
				must(c.goOn(ctx, store, client, held.ID()))
				gone := time.Now()
				_, err = held.Result(ctx)
				if must(err); time.Since(gone) > 5*time.Second { // a poll is rarer
					t.Errorf("it ends %s after it could begin", time.Since(gone))
				}
			})
		})
	}
}

// A run has got its place, and cannot begin any more: it has not lost the place. It says so, as do
// those behind it, and what gives the place to these.
func TestARunThatHoldsAPlaceAndCannotBegin(t *testing.T) {
	needs := []journal.LimitNeed{{Name: "db"}}
	for _, cannot := range []string{`queue "elsewhere" is paused`, "no live node serves workflow on hold, version 1, queue elsewhere"} {
		t.Run(cannot, func(t *testing.T) {
			inAStore(t, handleHeld, func(t *testing.T, ctx context.Context, store *memory.Store, client *runtime.Client) {
				must := func(err error) {
					t.Helper()
					if err != nil {
						t.Fatal(err)
					}
				}
				says := func(when string, run journal.RunID, texts ...string) {
					t.Helper()
					e, err := client.Why(ctx, run)
					must(err)
					for _, text := range texts {
						if !strings.Contains(e.String(), text) {
							t.Errorf("%s: %q has no %q", when, e, text)
						}
					}
				}
				must(runtime.SetLimit(ctx, client, journal.Limit{Name: "db", Concurrency: 1}))
				full, err := store.Join(ctx, journal.Node{Name: "full", Routes: []journal.Route{{Queue: "elsewhere", Workflow: string(onHold), Version: 1}}, Lease: time.Hour})
				must(err)
				held, err := runtime.Start(ctx, client, onHold, 0, &runtime.StartOptions{Limits: needs, Queue: "elsewhere"})
				must(err)
				time.Sleep(time.Second)
				next, err := runtime.Start(ctx, client, takesLong, 0, &runtime.StartOptions{Limits: needs})
				must(err)
				if strings.Contains(cannot, "paused") {
					must(client.PauseScope(ctx, journal.Scope{Queue: "elsewhere"}, nil))
				} else {
					must(full.Leave(ctx))
				}
				time.Sleep(time.Minute)
				page, err := runtime.Limits(ctx, client, &journal.LimitFilter{Run: held.ID(), Claims: 1})
				if err != nil || len(page.Claims) != 1 || page.Claims[0].Granted.IsZero() {
					t.Fatalf("claims %+v, %v", page.Claims, err)
				}
				release := "reprise limit release " + page.Claims[0].Handle()
				says("with a place", held.ID(), "it holds its limits and has not begun", release)
				says("behind it", next.ID(), "run "+held.ID().String()+" holds a place and cannot begin: ", cannot, release)
				must(runtime.ReleaseClaim(ctx, client, 0, page.Claims[0].ID))
				_, err = next.Result(ctx)
				must(err)
				if strings.Contains(cannot, "paused") {
					must(full.Leave(ctx))
				}
			})
		})
	}
}
