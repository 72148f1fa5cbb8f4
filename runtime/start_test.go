package runtime_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

func echo(_ workflow.Context, in string) (string, error) { return in, nil }

func handleEcho(n *runtime.Node) { runtime.Handle(n, greet, echo, nil) }

// J8: starts with one key, from several clients at once, make one run.
func TestJ8StartsWithOneKeyMakeOneRun(t *testing.T) {
	c := clustertest.New(t)
	n := c.Run(nil, handleEcho)
	ctx := clustertest.Context(t)
	clients := []*runtime.Client{n.Client(), runtime.NewClient(c.Journal, nil), runtime.NewClient(c.Open(nil), nil)}
	ids, created := make([]journal.RunID, 60), make([]bool, 60)
	var wg sync.WaitGroup
	for i := range ids {
		wg.Go(func() {
			run, err := runtime.Start(ctx, clients[i%3], greet, "x", &runtime.StartOptions{Key: "order:1"})
			if err != nil {
				t.Error(err)
				return
			}
			ids[i], created[i] = run.ID(), run.Created()
		})
	}
	wg.Wait()
	makers := 0
	for i := range ids {
		if ids[i] != ids[0] {
			t.Fatalf("start %d got run %s, start 0 got %s", i, ids[i], ids[0])
		}
		if created[i] {
			makers++
		}
	}
	if makers != 1 {
		t.Errorf("%d starts say that they created the run", makers)
	}
	if id, err := clients[1].FindKey(ctx, "order:1"); err != nil || id != ids[0] {
		t.Errorf("the key leads to %s, %v", id, err)
	}
	_, err := runtime.Start(ctx, clients[1], waiter, "x", &runtime.StartOptions{Key: "order:1"})
	if taken := clustertest.WantError[*journal.KeyConflictError](t, err); taken.Run != ids[0] || taken.Workflow != string(greet) {
		t.Errorf("another workflow under the key: %v", taken)
	}
}

// A start in the caller's transaction happens exactly if that commits.
func TestStartInTheCallersTransaction(t *testing.T) {
	c := clustertest.New(t)
	n := c.Run(nil, handleEcho)
	ctx := clustertest.Context(t)
	conn, err := pgx.Connect(ctx, c.DSN)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	for _, commit := range []bool{false, true} {
		tx, err := conn.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		run, err := runtime.Start(ctx, n.Client(), greet, "in tx", &runtime.StartOptions{Tx: postgres.InTx(tx)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := n.Client().History(ctx, run.ID()); !errors.Is(err, journal.ErrNotFound) {
			t.Fatalf("before the commit: %v, want ErrNotFound", err)
		}
		if !commit {
			if err := tx.Rollback(ctx); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		if got, err := run.Result(ctx); err != nil || got != "in tx" {
			t.Fatalf("got %q, %v", got, err)
		}
	}
	page, err := n.Client().List(ctx, journal.ListFilter{})
	if err != nil || len(page.Runs) != 1 {
		t.Errorf("%d runs, %v; want the committed one only", len(page.Runs), err)
	}
}

// Bad input gets an error that names the thing and the limit, before anything is stored.
func TestBadInputIsRefusedByName(t *testing.T) {
	c := clustertest.New(t)
	client := runtime.NewClient(c.Journal, nil)
	ctx := clustertest.Context(t)
	for name, tc := range map[string]struct {
		in   string
		o    runtime.StartOptions
		want string
	}{
		"input":    {in: strings.Repeat("x", journal.PayloadBytesMax+1), want: "input in bytes: 2097155 exceeds the limit of 2097152"},
		"key":      {o: runtime.StartOptions{Key: strings.Repeat("k", 513)}, want: "key in bytes: 513 exceeds the limit of 512"},
		"nul":      {o: runtime.StartOptions{Key: "a\x00b"}, want: "control character"},
		"utf-8":    {o: runtime.StartOptions{Key: "a\xffb"}, want: "not valid UTF-8"},
		"reserved": {o: runtime.StartOptions{Key: "~x"}, want: "reserved"},
		"label":    {o: runtime.StartOptions{Labels: map[string]string{"": "x"}}, want: "label"},
		"queue":    {o: runtime.StartOptions{Queue: strings.Repeat("q", 256)}, want: "queue in bytes: 256 exceeds the limit of 255"},
		"version":  {o: runtime.StartOptions{Version: -1}, want: "version -1"},
		"priority": {o: runtime.StartOptions{Priority: 9}, want: "priority 9"},
		"delay":    {o: runtime.StartOptions{Delay: -time.Second}, want: "delay -1s"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := runtime.Start(ctx, client, greet, tc.in, &tc.o)
			if !errors.Is(err, journal.ErrInvalid) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want ErrInvalid with %q", err, tc.want)
			}
			if _, text := errors.AsType[*journal.TextError](err); text != (name == "nul" || name == "utf-8" || name == "reserved" || name == "label") {
				t.Errorf("got a %T: %v", err, err)
			}
		})
	}
	page, err := client.List(ctx, journal.ListFilter{})
	if err != nil || len(page.Runs) != 0 {
		t.Errorf("%d runs were stored, %v", len(page.Runs), err)
	}
}

func TestPayloadsSurviveByteForByte(t *testing.T) {
	c := clustertest.New(t)
	n := c.Run(nil, handleEcho)
	ctx := clustertest.Context(t)
	for _, in := range []string{"", "\u0000", "<&>\u2028 ☃ 𝄞", strings.Repeat("é", 100_000)} {
		run, err := runtime.Start(ctx, n.Client(), greet, in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := run.Result(ctx); err != nil || got != in {
			t.Errorf("%.20q came back as %.20q, %v", in, got, err)
		}
	}
}

// Nobody serves the workflow: the start is accepted, and a warning says so.
func TestWarningWhenNobodyServes(t *testing.T) {
	c := clustertest.New(t)
	client := runtime.NewClient(c.Journal, &runtime.ClientOptions{Logger: c.Options().Logger})
	if _, err := runtime.Start(clustertest.Context(t), client, greet, "x", nil); err != nil {
		t.Fatal(err)
	}
	clustertest.Until(t, "a warning names the workflow", func() bool {
		return strings.Contains(c.Log.String(), "no live node serves this workflow") && strings.Contains(c.Log.String(), "reprise.workflow=greet")
	})
}

// A node claims only what it has registered, of the queues it serves.
func TestNodesClaimWhatTheyServe(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	client := runtime.NewClient(c.Journal, nil)
	other, err := runtime.Start(ctx, client, greet, "v2", &runtime.StartOptions{Version: 2})
	if err != nil {
		t.Fatal(err)
	}
	queued, err := runtime.Start(ctx, client, greet, "slow lane", &runtime.StartOptions{Queue: "slow"})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := runtime.Start(ctx, client, greet, "plain", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Run(nil, handleEcho)
	if _, err := plain.Result(ctx); err != nil {
		t.Fatal(err)
	}
	for _, run := range []*runtime.Run[string]{other, queued} {
		if d, err := client.Describe(ctx, run.ID()); err != nil || d.Run.Task == nil || d.Run.Task.Fence != 0 {
			t.Fatalf("run %s was claimed by a node that does not serve it: %+v, %v", run.ID(), d, err)
		}
	}
	c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, greet, echo, &runtime.HandleOptions{Version: 2})
		runtime.Handle(n, greet, echo, &runtime.HandleOptions{Queue: "slow"})
	})
	for _, run := range []*runtime.Run[string]{other, queued} {
		if _, err := run.Result(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLabelsAreTheRuns: a run that its client's own node executes does not see what the caller
// makes of its labels afterwards.
func TestLabelsAreTheRuns(t *testing.T) {
	c := clustertest.New(t)
	const tag workflow.Name[int, string] = "tag"
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, tag, func(ctx workflow.Context, _ int) (string, error) {
			_, err := shut.Receive(ctx)
			return ctx.Info().Labels["a"], err
		}, nil)
	})
	labels := map[string]string{"a": "first"}
	started, err := runtime.Start(clustertest.Context(t), n.Client(), tag, 0, &runtime.StartOptions{Labels: labels})
	run := clustertest.MustStart(t, started, err)
	labels["a"] = "second"
	if err := runtime.Signal(clustertest.Context(t), n.Client(), run.ID(), shut, 1, nil); err != nil {
		t.Fatal(err)
	}
	if got := clustertest.MustResult(t, run); got != "first" {
		t.Errorf("the run's label is %q", got)
	}
}
