package worker

import (
	"slices"
	"testing"

	"github.com/reprise-run/reprise/actor"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// The room is the least of what LiveMax leaves, of what the actors can work on and of what one
// claim takes. Whoever waits reads which of the first two it was.
func TestRoomIsTheLeastOfItsLimits(t *testing.T) {
	for name, c := range map[string]struct {
		liveMax, stepsMax, want int
		limit                   string
	}{
		"LiveMax":       {2, 3, 1, "StepsMax"}, // not reached: one run is live
		"LiveMax, full": {1, 3, 0, "LiveMax"},
		"StepsMax":      {2000, 3, 2, "StepsMax"},
		"a claim":       {2000, 1000, claimMax, "StepsMax"},
	} {
		t.Run(name, func(t *testing.T) {
			sys := actor.New(actor.Options{StepsMax: c.stepsMax})
			sys.Kill(nil) // the run stays live, because nobody takes it
			sys.Activate(driver.Claimed{Task: journal.Task{Run: journal.NewRunID()}})
			r := &room{sys: sys, liveMax: c.liveMax, setFull: func(bool) {}}
			if got := r.left(); got != c.want {
				t.Errorf("room for %d runs, want %d", got, c.want)
			}
			if got := r.limit(); got != c.limit {
				t.Errorf("%s is named as the limit, want %s", got, c.limit)
			}
		})
	}
}

// The store hears when the node becomes full and when it has room again, and not each time that
// somebody looks.
func TestFullIsToldWhenItChanges(t *testing.T) {
	sys := actor.New(actor.Options{})
	defer sys.Kill(nil)
	var told []bool
	r := &room{sys: sys, setFull: func(full bool) { told = append(told, full) }}
	for _, r.liveMax = range []int{5, 5, 0, 0, 5, 5} {
		r.left()
	}
	if want := []bool{true, false}; !slices.Equal(told, want) {
		t.Errorf("told %v, want %v", told, want)
	}
}
