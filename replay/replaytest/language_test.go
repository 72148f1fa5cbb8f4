package replaytest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/replaytest"
	"github.com/reprise-run/reprise/replay/workflow"
)

const (
	tour  workflow.Name[int, int]   = "tour"
	leaf  workflow.Name[int, int]   = "leaf"
	poke  workflow.Signal[int]      = "poke"
	raise workflow.Update[int, int] = "raise"
)

// toured uses every verb that is not a step or a timer.
func toured(dice func() int) func(ctx workflow.Context, n int) (int, error) {
	return func(ctx workflow.Context, n int) (int, error) {
		raise.Handle(ctx, func(_ workflow.Context, v int) (int, error) {
			n += v
			return n, nil
		}, &workflow.UpdateOptions[int]{Validate: func(v int) error {
			if v < 0 {
				return errors.New("negative")
			}
			return nil
		}})
		if workflow.Changed(ctx, "doubled") {
			n *= 2
		}
		n += workflow.SideEffect(ctx, "dice", dice)
		c := workflow.CallAsync(ctx, leaf, n, &workflow.ChildOptions{Key: "leaf of tour"})
		if err := poke.Send(ctx, c.ID(), 1); err != nil {
			return 0, err
		}
		v, err := c.Get(ctx)
		if err != nil {
			v = -1
		}
		if ctx.Info().Generation == 1 {
			return 0, workflow.ContinueAsNew(ctx, tour, n+v, nil)
		}
		return n, nil
	}
}

func tourCode(dice func() int) *replaytest.Registry {
	var code replaytest.Registry
	replaytest.Handle(&code, tour, toured(dice), nil)
	return &code
}

const tourScript = `
	run tour 1
	update raise 10
	sent poke
	childfailed leaf *leaf.Error! broken
`

// TestEveryKindOfEvent: histories of the whole language can be recorded, kept and checked, whatever
// side effects would give now.
func TestEveryKindOfEvent(t *testing.T) {
	h, err := replaytest.Record(tourCode(func() int { return 6 }), tourScript)
	if err != nil {
		t.Fatal(err)
	}
	want := `1 RunStarted > change doubled, record dice, child leaf leaf of tour, send poke
2 UpdateReceived raise > reply 1
3 SignalSent poke
4 ChildFailed leaf: broken
5 RunContinued
`
	if diff := cmp.Diff(want, h.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	file := filepath.Join(t.TempDir(), "tour.json")
	if err := replaytest.WriteFile(file, h); err != nil {
		t.Fatal(err)
	}
	again, err := replaytest.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h, again); diff != "" {
		t.Errorf("(-was +is)\n%s", diff)
	}
	for roll := range 3 {
		if err := replaytest.Check(tourCode(func() int { return roll }), again); err != nil {
			t.Error(err)
		}
	}
}

// TestLaterGeneration: what a generation began with is kept.
func TestLaterGeneration(t *testing.T) {
	run := journal.Run{
		ID: journal.RunID{1}, Workflow: "tour", Version: 1, Queue: "default", Generation: 2, Input: journal.Payload{Data: []byte("7")},
		Parent:    &journal.Parent{Run: journal.RunID{2}, Generation: 3, Cmd: 4, Policy: journal.CloseAbandon},
		Continued: &journal.Continue{Seen: 5},
	}
	h := replaytest.Of(run, nil)
	data, err := replaytest.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	want := `"generation":2,"inboxSeen":5,"parent":{"run":"02000000-0000-0000-0000-000000000000","generation":3,"cmd":4,"policy":2},"input":{"json":7}}`
	if !strings.Contains(string(data), want) {
		t.Errorf("got %s", data)
	}
	again, err := replaytest.Unmarshal(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h, again); diff != "" {
		t.Errorf("(-was +is)\n%s", diff)
	}
}

// TestChangeOfCode: code that asks about a change fits a history from before it, and from after.
func TestChangeOfCode(t *testing.T) {
	old := func(ctx workflow.Context, n int) (int, error) { return workflow.Call(ctx, leaf, n, nil) }
	now := func(ctx workflow.Context, n int) (int, error) {
		if workflow.Changed(ctx, "two leaves") {
			if _, err := workflow.Call(ctx, leaf, 0, nil); err != nil {
				return 0, err
			}
		}
		return old(ctx, n)
	}
	var before, after replaytest.Registry
	replaytest.Handle(&before, tour, old, nil)
	replaytest.Handle(&after, tour, now, nil)
	one, err := replaytest.Record(&before, "run tour 1\nchild leaf 2")
	if err != nil {
		t.Fatal(err)
	}
	two, err := replaytest.Record(&after, "run tour 1\nchild leaf 2\nchild leaf 3")
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []*replaytest.History{one, two} {
		if err := replaytest.Check(&after, h); err != nil {
			t.Error(err)
		}
	}
	var m *replaytest.Mismatch
	if err := replaytest.Check(&before, two); !errors.As(err, &m) {
		t.Errorf("got %v", err)
	}
}

func TestRecordRefusesAnswers(t *testing.T) {
	for script, want := range map[string]string{
		"run tour 1\nchild twig":            `no child "twig" is open; the run waits for`,
		"run tour 1\nupdate raise -1":       "negative",
		"run tour 1\nupdate lower 1":        "raise",
		"run tour 1\nsent poke\nsent poke":  `no send "poke" is open`,
		"run tour 1\nchildfailed leaf":      "a name is missing",
		"run tour 1\nrefused poke T! sorry": "",
	} {
		_, err := replaytest.Record(tourCode(func() int { return 1 }), script)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, want %q", script, err, want)
		}
	}
}

// TestFrozenLanguage: the form of what came with families and generations does not change either,
// and the history still fits its code.
func TestFrozenLanguage(t *testing.T) {
	const file = "testdata/frozen_tour.json"
	frozen, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	h, err := replaytest.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	data, err := replaytest.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(frozen), string(data)); diff != "" {
		t.Errorf("(-frozen +now)\n%s", diff)
	}
	if err := replaytest.Check(tourCode(func() int { return 1 }), h); err != nil {
		t.Error(err)
	}
	if h.Run.Parent == nil || h.Run.InboxSeen != 4 || h.Run.Generation != 1 {
		t.Errorf("read %+v", h.Run)
	}
}
