package driver

import (
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
)

func TestStrikesDoubleTheDelayUpToAMinute(t *testing.T) {
	t.Parallel()
	for strikes, want := range []time.Duration{3: 1, 4: 2, 5: 4, 6: 8, 7: 16, 8: 32, 9: 60, QuarantineStrikes: 60} {
		if got := StrikeDelay(strikes); got != want*time.Second {
			t.Errorf("after %d strikes %s, want %s", strikes, got, want*time.Second)
		}
	}
	// What driver.Strikes says of who kills the process at intervals rests on this.
	if StrikeDelay(QuarantineStrikes-2) < TrialTime {
		t.Errorf("the last but one wait, %s, is shorter than a trial", StrikeDelay(QuarantineStrikes-2))
	}
}

// The wait differs from run to run, and is never shorter than the delay, nor by a half longer.
func TestSuspectsWaitForDifferentTimes(t *testing.T) {
	t.Parallel()
	seen := map[time.Duration]bool{}
	for range 100 {
		run := journal.NewRunID()
		wait := StrikeWait(run, 8)
		if seen[wait] = true; wait < StrikeDelay(8) || wait > StrikeDelay(8)*5/4 {
			t.Errorf("%s after 8 strikes", wait)
		}
		if StrikeWait(run, SuspectStrikes-1) != 0 {
			t.Error("one that is no suspect waits")
		}
	}
	if len(seen) < 50 {
		t.Errorf("100 suspects have %d different waits", len(seen))
	}
}

// TestWhoIsToBlame plays many lives of a cluster of one process against the rule: runs that kill
// the process soon after they were claimed, runs with a step that never ends, and somebody who
// kills the process at intervals. Whoever kills is quarantined, unless somebody else kills all the
// time, and nobody else is.
func TestWhoIsToBlame(t *testing.T) {
	t.Parallel()
	for poisons := range 4 {
		for _, every := range []time.Duration{0, 3 * time.Second, 10 * time.Second, 25 * time.Second, 31 * time.Second,
			45 * time.Second, 70 * time.Second, 5 * time.Minute} {
			w := newTrialWorld(poisons, 3, every)
			w.live(3 * time.Hour)
			for i, strikes := range w.strikes {
				quarantined := strikes >= QuarantineStrikes
				if i >= poisons && quarantined {
					t.Errorf("%d poisons, killed every %s: an innocent run is quarantined", poisons, every)
				}
				if i < poisons && !quarantined && (every == 0 || every > 2*time.Minute) {
					t.Errorf("%d poisons, killed every %s: poison %d has %d strikes", poisons, every, i, strikes)
				}
			}
			if every == 0 && w.deaths > SuspectStrikes+(QuarantineStrikes-SuspectStrikes)*poisons {
				t.Errorf("%d poisons: %d deaths", poisons, w.deaths)
			}
		}
	}
}

// trialWorld is one process that is started again whenever it dies. The first runs are poison.
type trialWorld struct {
	poisons int
	every   time.Duration // somebody kills the process so often; 0 for never
	runs    []journal.RunID
	strikes []int
	visible []time.Duration // when it may be claimed
	claimed []time.Duration // when it was; negative if free
	now     time.Duration
	trial   time.Duration // when the next suspect may be claimed
	deaths  int
}

func newTrialWorld(poisons, innocents int, every time.Duration) *trialWorld {
	w := &trialWorld{poisons: poisons, every: every}
	for range poisons + innocents {
		w.runs, w.strikes = append(w.runs, journal.NewRunID()), append(w.strikes, 0)
		w.visible, w.claimed = append(w.visible, 0), append(w.claimed, -1)
	}
	return w
}

// live lets time pass, in steps of a tenth of a second.
func (w *trialWorld) live(end time.Duration) {
	for ; w.now < end; w.now += time.Second / 10 {
		dies := w.every > 0 && w.now > 0 && w.now%w.every == 0
		for i := range w.runs {
			suspect := w.strikes[i] >= SuspectStrikes
			if w.claimed[i] < 0 && w.visible[i] <= w.now && w.strikes[i] < QuarantineStrikes && (!suspect || w.trial <= w.now) {
				if w.claimed[i] = w.now; suspect {
					w.trial = w.now + TrialTime
				}
			}
			age := w.now - w.claimed[i]
			if w.claimed[i] >= 0 && age >= TrialTime {
				w.strikes[i] = 0 // the owner commits
			}
			dies = dies || w.claimed[i] >= 0 && i < w.poisons && age >= 300*time.Millisecond
		}
		if dies {
			w.die()
		}
	}
}

func (w *trialWorld) die() {
	w.deaths++
	w.trial = 0
	suspects, hold := 0, time.Duration(0)
	for i := range w.runs {
		if w.claimed[i] >= 0 && w.strikes[i] >= SuspectStrikes {
			suspects++
		}
	}
	for i := range w.runs {
		if w.claimed[i] < 0 {
			if suspects == 0 && w.strikes[i] < QuarantineStrikes {
				w.strikes[i] = StrikesForgiven(w.strikes[i])
			}
			continue
		}
		w.strikes[i], w.claimed[i] = StrikesAfter(w.strikes[i], suspects), -1
		w.visible[i] = w.now + StrikeWait(w.runs[i], w.strikes[i])
		if w.strikes[i] > SuspectStrikes && suspects == 1 {
			hold = w.visible[i]
		}
	}
	for i := range w.runs {
		if w.strikes[i] >= SuspectStrikes {
			w.visible[i] = max(w.visible[i], hold)
		}
	}
}
