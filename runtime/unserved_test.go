package runtime_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const unserved = "no live node serves this workflow; its runs wait until one does"

// warned tells how often the log warns of runs that nobody serves, with words of the line.
func warned(log *clustertest.Log, words ...string) (n int) {
	for line := range strings.Lines(log.String()) {
		all := strings.Contains(line, unserved)
		for _, w := range words {
			all = all && strings.Contains(line, w)
		}
		if all {
			n++
		}
	}
	return n
}

// TestClientOfANodeThatDoesNotRun: a node that was registered and never run is warned of, once. One
// that is run a moment after the start is not.
func TestClientOfANodeThatDoesNotRun(t *testing.T) {
	for _, runs := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			log := &clustertest.Log{}
			n := runtime.NewNode(journal.New(memory.New(nil), nil), &runtime.NodeOptions{Logger: slog.New(slog.NewTextHandler(log, nil))})
			runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) { return approved.Receive(ctx) }, nil)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			for range 3 {
				if _, err := runtime.Start(ctx, n.Client(), waiter, "", nil); err != nil {
					t.Fatal(err)
				}
			}
			ended := make(chan error, 1)
			go func() {
				time.Sleep(time.Second)
				if runs {
					ended <- n.Run(ctx)
				} else {
					ended <- nil
				}
			}()
			time.Sleep(10 * time.Second)
			synctest.Wait()
			want := 1
			if runs {
				want = 0
			}
			if got := warned(log, "reprise.workflow=waiter"); got != want {
				t.Errorf("a node that runs is %v: %d warnings, want %d:\n%s", runs, got, want, log)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestUnservedChildrenAreWarnedOf: children of workflows that nobody serves, and a next generation
// of a version that nobody has, are warned of like a start, each once. A child that is served is
// not.
func TestUnservedChildrenAreWarnedOf(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	const missing, elsewhere, again workflow.Name[string, string] = "missing", "elsewhere", "again"
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) {
			for range 3 {
				workflow.CallAsync(ctx, missing, "", nil)
				workflow.CallAsync(ctx, elsewhere, "", &workflow.ChildOptions{Queue: "far", Version: 7})
			}
			return workflow.Call(ctx, greet, "hi", nil)
		}, nil)
		runtime.Handle(n, again, func(ctx workflow.Context, in string) (string, error) {
			return "", workflow.ContinueAsNew(ctx, again, "", &workflow.ContinueOptions{Version: 2})
		}, nil)
		handleEcho(n)
	})
	for _, name := range []workflow.Name[string, string]{waiter, again} {
		if _, err := runtime.Start(ctx, n.Client(), name, "", nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, words := range [][]string{
		{"reprise.workflow=missing", "reprise.version=1", "reprise.queue=default"},
		{"reprise.workflow=elsewhere", "reprise.version=7", "reprise.queue=far"},
		{"reprise.workflow=again", "reprise.version=2"},
	} {
		clustertest.Until(t, "a warning names "+words[0], func() bool { return warned(c.Log, words...) == 1 })
	}
	if got := warned(c.Log); got != 3 {
		t.Errorf("%d warnings, want 3", got)
	}
}

// startIn starts a run in a queue, and waits until nothing more is to be said of it now.
func startIn(ctx context.Context, t *testing.T, c *runtime.Client, queue string) {
	t.Helper()
	if _, err := runtime.Start(ctx, c, waiter, "", &runtime.StartOptions{Queue: queue}); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// TestNodesThatHaveJustJoined: a node that joined a moment ago serves its runs, although the last
// answer to the question who does is older than the node, and not old.
func TestNodesThatHaveJustJoined(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &clustertest.Log{}
		logger := slog.New(slog.NewTextHandler(log, nil))
		j := journal.New(memory.New(nil), nil)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		client := runtime.NewClient(j, &runtime.ClientOptions{Logger: logger})
		startIn(ctx, t, client, "nobody's")
		n := runtime.NewNode(j, &runtime.NodeOptions{Logger: logger})
		runtime.Handle(n, waiter, func(ctx workflow.Context, in string) (string, error) { return approved.Receive(ctx) }, &runtime.HandleOptions{Queue: "new"})
		ended := make(chan error, 1)
		go func() { ended <- n.Run(ctx) }()
		synctest.Wait()
		startIn(ctx, t, client, "new")
		if all, first := warned(log), warned(log, "reprise.queue=nobody's"); all != 1 || first != 1 {
			t.Errorf("%d warnings, want one, of the queue that nobody serves:\n%s", all, log)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute) // what outlives a node has ended
	})
}

// TestManyUnservedQueues: each is warned of once a minute, as long as they are not so many that to
// remember them costs more than to say it again.
func TestManyUnservedQueues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &clustertest.Log{}
		client := runtime.NewClient(journal.New(memory.New(nil), nil), &runtime.ClientOptions{Logger: slog.New(slog.NewTextHandler(log, nil))})
		for i, want := range []int{1, 1, 2} {
			startIn(t.Context(), t, client, "first")
			if got := warned(log, "reprise.queue=first"); got != want {
				t.Fatalf("warned %d times, want %d", got, want)
			}
			for q := range 600 {
				startIn(t.Context(), t, client, fmt.Sprint("q", i, "-", q))
			}
		}
		if got := warned(log, "reprise.queue=q"); got != 1800 {
			t.Errorf("%d of 1800 others were warned of", got)
		}
	})
}
