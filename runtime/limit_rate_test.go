package runtime_test

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

const (
	rated     workflow.Name[string, int] = "rated"      // does nothing
	ratedStep workflow.Name[string, int] = "rated step" // has a step that needs the limit of its input
)

// inABubble tests a node on a store in memory, in the time of a bubble.
func inABubble(t *testing.T, handle func(n *runtime.Node), test func(t *testing.T, ctx context.Context, client *runtime.Client)) {
	inAStore(t, handle, func(t *testing.T, ctx context.Context, _ *memory.Store, client *runtime.Client) { test(t, ctx, client) })
}

// inAStore is inABubble for a test that needs the store, too.
func inAStore(t *testing.T, handle func(n *runtime.Node), test func(*testing.T, context.Context, *memory.Store, *runtime.Client)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(nil)
		defer store.Close()
		j := journal.New(store, nil)
		n := runtime.NewNode(j, &runtime.NodeOptions{Logger: slog.New(slog.DiscardHandler), Drain: time.Millisecond})
		handle(n)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- n.Run(ctx) }()
		test(t, ctx, store, n.Client())
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// An operator corrects a rate that is spent, or takes it away and sets it again: the run and the
// step that wait begin at once.
func TestARateIsCorrected(t *testing.T) {
	handle := func(n *runtime.Node) {
		runtime.Handle(n, rated, func(workflow.Context, string) (int, error) { return 1, nil }, nil)
		runtime.Handle(n, ratedStep, func(ctx workflow.Context, limit string) (int, error) {
			return workflow.Step(ctx, "s", func(context.Context) (int, error) { return 1, nil },
				&workflow.StepOptions{Limits: []workflow.StepLimit{{Name: limit}}})
		}, nil)
	}
	inABubble(t, handle, func(t *testing.T, ctx context.Context, client *runtime.Client) {
		set := func(name string, r journal.Rate) {
			t.Helper()
			if err := runtime.SetLimit(ctx, client, journal.Limit{Name: name, Rate: r}); err != nil {
				t.Fatal(err)
			}
		}
		begin := func(name string) (run, step *runtime.Run[int]) {
			t.Helper()
			run, err := runtime.Start(ctx, client, rated, name, &runtime.StartOptions{Limits: []journal.LimitNeed{{Name: name}}})
			if err == nil {
				time.Sleep(time.Second)
				step, err = runtime.Start(ctx, client, ratedStep, name, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			return run, step
		}
		for name, correct := range map[string]func(){
			"raised": func() { set("raised", journal.Rate{N: 1000, Per: time.Second, Burst: 100}) },
			"set again": func() {
				if err := runtime.RemoveLimit(ctx, client, "set again", ""); err != nil {
					t.Fatal(err)
				}
				set("set again", journal.Rate{N: 10, Per: time.Second})
			},
		} {
			set(name, journal.Rate{N: 1, Per: 24 * time.Hour})
			if run, _ := begin(name); run != nil {
				if _, err := run.Result(ctx); err != nil {
					t.Fatal(err)
				}
			}
			run, step := begin(name)
			time.Sleep(time.Second)
			corrected := time.Now()
			correct()
			for what, r := range map[string]*runtime.Run[int]{"run": run, "step": step} {
				if _, err := r.Result(ctx); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(corrected); took > 5*time.Second {
					t.Errorf("a %s begins %s after the rate was %s", what, took, name)
				}
			}
		}
	})
}
