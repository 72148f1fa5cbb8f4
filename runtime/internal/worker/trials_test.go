package worker

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// One suspect is taken first, none while it is tried, and twice as many after each trial, until
// there are fewer than that.
func TestTrialsGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tr trials
		var limits []int
		claim := func(found int) {
			c := driver.Claim{Tasks: []driver.Claimed{{}, {Task: journal.Task{Strikes: driver.SuspectStrikes - 1}}}}
			for range found {
				c.Tasks = append(c.Tasks, driver.Claimed{Task: journal.Task{Strikes: driver.SuspectStrikes}})
			}
			limit := tr.suspects()
			limits = append(limits, limit)
			if got := tr.note(limit, &c); got != found {
				t.Errorf("noted %d suspects of %d", got, found)
			}
		}
		claim(0)
		for _, found := range []int{1, 2, 4, 3} {
			claim(found)
			time.Sleep(driver.TrialTime + acquittalMax - time.Second) // its acquittal may be on its way
			claim(0)
			time.Sleep(2 * time.Second)
		}
		claim(1)
		if want := []int{1, 1, 0, 2, 0, 4, 0, 8, 0, 1}; !slices.Equal(limits, want) {
			t.Errorf("claims might take %v suspects, want %v", limits, want)
		}
	})
}

// A trial ends when all of its suspects have committed, and the series goes on.
func TestATrialEndsWithTheLastCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := 0
		tr := trials{over: func() { over++ }}
		claim := func(limit, found int) (runs []journal.RunID) {
			if got := tr.suspects(); got != limit {
				t.Fatalf("the claim may take %d suspects, want %d", got, limit)
			}
			var c driver.Claim
			for range found {
				runs = append(runs, journal.NewRunID())
				c.Tasks = append(c.Tasks, driver.Claimed{Task: journal.Task{Run: runs[len(runs)-1], Strikes: driver.SuspectStrikes}})
			}
			tr.note(limit, &c)
			return runs
		}
		tr.acquitted(claim(1, 1)[0])
		runs := claim(2, 2)
		tr.acquitted(runs[0])
		tr.acquitted(runs[0])
		tr.acquitted(journal.NewRunID())
		claim(0, 0) // beside the trial of the other one
		if over != 1 {
			t.Errorf("%d trials are over, want the first", over)
		}
		tr.acquitted(runs[1])
		claim(4, 1)
		if over != 2 {
			t.Errorf("%d trials are over, want both", over)
		}
		claim(0, 0)
	})
}

// While a suspect is tried the next claim is at the end of the trial at the latest: other suspects
// may be due already, and no task that falls due tells of them.
func TestClaimAtTheEndOfATrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tr trials
		now := time.Now().Add(time.Hour) // the store's clock is another one
		soon, late := now.Add(time.Second), now.Add(time.Hour)
		for due, want := range map[time.Time]time.Time{{}: {}, soon: soon, late: late} {
			if got := tr.next(due, now); !got.Equal(want) {
				t.Errorf("without a trial, due at %s: %s", due, got)
			}
		}
		tr.note(tr.suspects(), &driver.Claim{Tasks: []driver.Claimed{{Task: journal.Task{Strikes: driver.SuspectStrikes}}}})
		end := now.Add(driver.TrialTime + acquittalMax)
		for due, want := range map[time.Time]time.Time{{}: end, soon: soon, late: end} {
			if got := tr.next(due, now); !got.Equal(want) {
				t.Errorf("in a trial, due at %s: %s, want %s", due, got, want)
			}
		}
	})
}
