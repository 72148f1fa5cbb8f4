package replay_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// TestIssuedIsBounded: what code asks for in one go ends up in one row, so there is a limit, and it
// is named.
func TestIssuedIsBounded(t *testing.T) {
	large := strings.Repeat("x", 1<<20)
	def := define(func(c ctx) (string, error) {
		for range 100 {
			workflow.SideEffect(c, "large", func() string { return large })
		}
		return "", nil
	})
	r := &rig{m: replay.New(def, replay.Info{Run: journal.RunID{1}, Workflow: def.Name, Version: 1, Generation: 1}, journal.New(nil, nil))}
	defer r.m.Close()
	_, err := r.step(started())
	limit, ok := errors.AsType[*journal.LimitError](err)
	if !ok || limit.Max != journal.IssuedBytesMax || !strings.Contains(err.Error(), "record large") {
		t.Errorf("error %v", err)
	}
}

// TestRecordsMakeHistoriesLong: recorded values count, as other payloads do, for when a history is
// long.
func TestRecordsMakeHistoriesLong(t *testing.T) {
	value := strings.Repeat("x", 900)
	r := newRig(define(func(c ctx) (string, error) {
		for range 10 {
			workflow.SideEffect(c, "value", func() string { return value })
		}
		if err := workflow.Sleep(c, 1); err != nil {
			return "", err
		}
		say(c, "%v", c.ShouldContinue())
		return "", nil
	}))
	defer r.m.Close()
	r.m.SetThresholds(replay.Thresholds{Bytes: 5000})
	if _, err := r.step(started()); err != nil {
		t.Fatal(err)
	}
	due, _ := r.m.NextTimer()
	got, err := r.step(journal.Event{Kind: journal.TimerFired, Cmd: due.Cmd, Time: due.Due})
	if err != nil || got.Said != "true\n" {
		t.Errorf("said %q, %v", got.Said, err)
	}
}
