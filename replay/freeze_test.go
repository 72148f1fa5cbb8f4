package replay_test

import (
	"slices"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// TestFreezes: what a machine knows of freezes decides when its timers and its time are due. While
// timers stand still none is due, and what the code waits for says so.
func TestFreezes(t *testing.T) {
	two := define(func(c ctx) (string, error) {
		workflow.Go(c, func(c ctx) { _ = workflow.NewNamedTimer(c, "long", 20*time.Minute).Get(c) })
		_ = workflow.NewNamedTimer(c, "short", 10*time.Minute).Get(c)
		return "", workflow.NewNamedTimer(c, "next", time.Minute).Get(c)
	})
	at := func(minutes int) time.Time { return epoch.Add(time.Duration(minutes) * time.Minute) }
	begin := func(def *replay.Definition, times ...time.Time) *rig {
		r := hourly(def, time.Hour)
		t.Cleanup(r.m.Close)
		replay.SetFreezes(r.m, journal.FreezesOf(times))
		return r
	}
	plain, frozen, stands := begin(two), begin(two, at(5), at(35), at(36), at(40)), begin(two, at(5))
	for _, r := range []*rig{plain, frozen, stands} {
		mustStep(t, r, started())
	}

	if timer, armed := stands.m.NextTimer(); armed {
		t.Errorf("a timer that stands still is armed: %+v", timer)
	}
	if w := stands.m.Waiting(); !slices.Contains(w, "timer short, frozen") {
		t.Errorf("the code waits for %q", w)
	}
	for i, want := range []struct {
		name          string
		plain, frozen time.Time
	}{
		{"short", at(10), at(44)},
		{"next", at(11), at(45)}, // armed behind all freezes
	} {
		for r, due := range map[*rig]time.Time{plain: want.plain, frozen: want.frozen} {
			timer, armed := r.m.NextTimer()
			if !armed || timer.Name != want.name || !timer.Due.Equal(due) {
				t.Fatalf("timer %d is %+v, want %s at %s", i, timer, want.name, due)
			}
			mustStep(t, r, r.m.Stamp(timer.Event(), due))
		}
	}

	long := begin(patient, at(5), at(35))
	mustStep(t, long, started())
	if ev := due(t, long); ev.Kind != journal.CancelRequested || !ev.Time.Equal(at(90)) {
		t.Errorf("the end of the run's time is %+v", ev)
	}
}
