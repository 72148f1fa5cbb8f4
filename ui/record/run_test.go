package record_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/ui/record"
)

// TestFrozenRun: while the timers of a run stand still it has no deadline, nobody looks at it next
// and it waits for no timer; after that its deadline is later by as much as they stood still.
func TestFrozenRun(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	run := journal.Run{StartAt: begin, Timeout: time.Hour, Task: &journal.Task{VisibleAt: begin.Add(time.Minute),
		Waiting: []string{journal.CommandTimer.String() + " tea", "signal scanned"}}}
	freeze := journal.Freeze{From: begin.Add(10 * time.Minute)}
	ended := journal.Freeze{From: freeze.From, Until: freeze.From.Add(5 * time.Minute)}
	for _, c := range []struct {
		name     string
		freezes  journal.Freezes
		deadline *time.Time
		visible  *time.Time
		waiting  []string
	}{
		{"never frozen", nil, new(begin.Add(time.Hour)), new(begin.Add(time.Minute)), run.Task.Waiting},
		{"frozen", journal.Freezes{freeze}, nil, nil, []string{"signal scanned"}},
		{"resumed", journal.Freezes{ended}, new(begin.Add(65 * time.Minute)), new(begin.Add(time.Minute)), run.Task.Waiting},
	} {
		run.Freezes = c.freezes
		got := new(record.Maker).Run(&run)
		if d := cmp.Diff([]any{c.deadline, c.visible, c.waiting}, []any{got.DeadlineAt, got.VisibleAt, got.Waiting}); d != "" {
			t.Errorf("%s: deadline, next look and what it waits for:\n%s", c.name, d)
		}
	}
}
