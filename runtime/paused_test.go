package runtime_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const (
	nap    workflow.Name[int, int]   = "nap"
	napAdd workflow.Update[int, int] = "add"
)

func handleNap(n *runtime.Node) {
	runtime.Handle(n, nap, func(ctx workflow.Context, sum int) (int, error) {
		napAdd.Handle(ctx, func(_ workflow.Context, n int) (int, error) { sum += n; return sum, nil }, nil)
		return sum, workflow.NewNamedTimer(ctx, "alarm", time.Hour).Get(ctx)
	}, nil)
}

// onEachStore runs a test with a client and a node on each store.
func onEachStore(t *testing.T, handle func(n *runtime.Node), test func(t *testing.T, client *runtime.Client)) {
	t.Run("Postgres", func(t *testing.T) {
		c := clustertest.New(t)
		n := c.Run(nil, handle)
		test(t, n.Client())
		n.Stop()
	})
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		n, _ := clustertest.SQLiteNode(t, filepath.Join(t.TempDir(), "reprise.db"), &clustertest.Log{}, handle)
		test(t, n.Client())
	})
	t.Run("memory", func(t *testing.T) {
		t.Parallel()
		n := runtime.NewNode(journal.New(memory.New(nil), nil), &runtime.NodeOptions{Logger: slog.New(slog.DiscardHandler)})
		handle(n)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- n.Run(ctx) }()
		test(t, n.Client())
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// An update that is not to wait is refused by a run that is paused, by whatever, and nothing of it is
// stored. Without the option it waits.
func TestUpdateRefusesToWait(t *testing.T) {
	onEachStore(t, handleNap, func(t *testing.T, client *runtime.Client) {
		ctx := runtime.WithActor(clustertest.Context(t), "eva")
		started, err := runtime.Start(ctx, client, nap, 1, nil)
		run := clustertest.MustStart(t, started, err)
		clustertest.Parked(t, client, run.ID())
		now := &runtime.UpdateOptions{RefusePaused: true}
		add := func(want int) {
			t.Helper()
			if sum, err := runtime.CallUpdate(ctx, client, run.ID(), napAdd, 1, now); err != nil || sum != want {
				t.Errorf("the update says %d, %v; want %d", sum, err, want)
			}
		}
		refused := func(by string) {
			t.Helper()
			_, err := runtime.CallUpdate(ctx, client, run.ID(), napAdd, 10, now)
			_, err2 := runtime.SendUpdate(ctx, client, run.ID(), napAdd, 10, now)
			if !errors.Is(err, runtime.ErrPaused) || !errors.Is(err2, runtime.ErrPaused) || !strings.Contains(err.Error(), by+", since 2") ||
				!strings.HasSuffix(err.Error(), "Z: the price is wrong") {
				t.Errorf("refused with %v, %v", err, err2)
			}
			if d, err := client.Describe(ctx, run.ID()); err != nil || d.Unread != 0 {
				t.Errorf("messages wait: %+v, %v", d.Inbox, err)
			}
		}
		add(2)
		why := &runtime.PauseOptions{Reason: "the price is wrong"}
		if err := client.Pause(ctx, run.ID(), why); err != nil {
			t.Fatal(err)
		}
		refused("eva has paused it")
		if err := client.Resume(ctx, run.ID()); err != nil {
			t.Fatal(err)
		}
		add(3)
		scope := journal.Scope{Workflow: string(nap), Version: 1}
		if err := client.PauseScope(ctx, scope, why); err != nil {
			t.Fatal(err)
		}
		refused("eva has paused " + scope.String())
		waits, err := runtime.SendUpdate(ctx, client, run.ID(), napAdd, 100, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := client.ResumeScope(ctx, scope); err != nil {
			t.Fatal(err)
		}
		if sum, err := waits.Result(ctx); err != nil || sum != 103 {
			t.Errorf("the update that waited says %d, %v", sum, err)
		}
		if err := client.PauseScope(ctx, journal.Scope{Workflow: string(nap), Version: 2}, nil); err != nil {
			t.Fatal(err)
		}
		add(104) // of another version
		if err := client.Pause(ctx, run.ID(), why); err != nil {
			t.Fatal(err)
		}
		refused("eva has paused it")
		if err := client.Resume(ctx, run.ID()); err != nil {
			t.Fatal(err)
		}
		if _, err := runtime.CallUpdate(ctx, client, journal.NewRunID(), napAdd, 1, now); !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("no run: %v", err)
		}
		_, _, err = runtime.UpdateWithStart(ctx, client, nap, 1, napAdd, 1, &runtime.StartOptions{Key: "k"}, now)
		if !errors.Is(err, journal.ErrInvalid) || !strings.Contains(err.Error(), "RefusePaused") {
			t.Errorf("with a start: %v", err)
		}
		if err := client.Terminate(ctx, run.ID(), ""); err != nil {
			t.Fatal(err)
		}
		if _, err := runtime.CallUpdate(ctx, client, run.ID(), napAdd, 1, now); !errors.Is(err, journal.ErrClosed) {
			t.Errorf("a closed run: %v", err)
		}
	})
}
