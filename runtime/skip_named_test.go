package runtime_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// TestSkipNamed: a message is found by its name, the one that the run has yet to consume before one
// that it has, and several are refused with their numbers.
func TestSkipNamed(t *testing.T) {
	c := clustertest.New(t)
	n := c.Run(nil, handlePoisoned)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	started, err := runtime.Start(ctx, client, works, "in", nil)
	run := clustertest.MustStart(t, started, err)
	say := func(words ...string) {
		t.Helper()
		for _, word := range words {
			if err := runtime.Signal(ctx, client, run.ID(), worksSig, word, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	skip := func(name string) (*runtime.Rewinding, error) {
		return runtime.SkipMessageNamed(ctx, client, run.ID(), name, &runtime.AmendOptions{Proof: n.Node})
	}
	refused := func(name, says string) {
		t.Helper()
		_, err := skip(name)
		if at, ok := errors.AsType[*runtime.PointError](err); !ok || !strings.Contains(at.Text, says) {
			t.Errorf("a skip of %s says %v, want %q", name, err, says)
		}
	}
	say("one")
	clustertest.Described(t, client, run.ID(), "it waits for the next word", func(d *runtime.Description) bool { return d.Events == 3 && d.Unread == 0 })
	refused("words", "no signal or update words")
	say("poison")
	d := blocked(t, client, run.ID())
	if done, err := skip("word"); err != nil || int(done.Kept) != d.Events { // the poison, and not what it has consumed
		t.Fatalf("skipped %+v, %v, want that all %d events are kept", done, err, d.Events)
	}
	say("two", "three")
	if got := outcome(t, client, run.ID()); got != "in,one,two,three" {
		t.Errorf("result %q", got)
	}
	refused("word", "it has consumed 3 messages word: choose one by its number, of 1, 3, 4")
	if _, err := skip(""); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("a skip of no name: %v", err)
	}
}

// TestSkipNamedFarBehind: a message is found behind as many others as a page of the inbox has.
func TestSkipNamedFarBehind(t *testing.T) {
	store := memory.New(nil)
	t.Cleanup(store.Close)
	ctx, client := clustertest.Context(t), runtime.NewClient(journal.New(store, nil), nil)
	run, err := runtime.Start(ctx, client, works, "in", nil) // which no node serves
	clustertest.MustStart(t, run, err)
	for i := range journal.InboxLoadMax + 1 {
		name := workflow.Signal[string]("other")
		if i == journal.InboxLoadMax {
			name = worksSig
		}
		if err := runtime.Signal(ctx, client, run.ID(), name, "x", nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := runtime.SkipMessageNamed(ctx, client, run.ID(), "word", nil); err != nil {
		t.Fatal(err)
	}
	entries, err := client.Audit(ctx, journal.AuditFilter{Run: run.ID()})
	if err != nil || len(entries) != 1 || !strings.HasSuffix(entries[0].Detail, "message 1001 is left out") {
		t.Errorf("audit: %+v, %v", entries, err)
	}
	_, err = runtime.SkipMessageNamed(ctx, client, run.ID(), "other", nil)
	if err == nil || !strings.Contains(err.Error(), "1000 messages other: choose one by its number, of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …") {
		t.Errorf("several: %v", err)
	}
}
