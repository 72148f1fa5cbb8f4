package worker

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal/driver"
)

// A full node says that others wait once that lasts, again after a minute, and when it is over; and
// what it counts is measured. The actors hear of it when it begins and when it is over.
func TestCrowdIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := testWorker()
		var log bytes.Buffer
		var seen []int
		var told []bool
		waited := time.Duration(0)
		c := w.claimer.crowd
		c.log, c.observe = slog.New(slog.NewTextHandler(&log, nil)), func(n int, since time.Time) {
			if n > 0 && time.Since(since) != waited {
				t.Errorf("%d wait since %s ago, want %s", n, time.Since(since), waited)
			}
			seen = append(seen, n)
		}
		c.tell = func(crowded bool) { told = append(told, crowded) }
		lines := func() int { return strings.Count(log.String(), "\n") }
		c.note(0)
		c.note(3)
		waited = crowdAfter - time.Millisecond
		time.Sleep(waited)
		c.note(4)
		if lines() != 0 {
			t.Errorf("it is logged too soon: %s", &log)
		}
		time.Sleep(time.Millisecond)
		c.note(4)
		c.note(4)
		if !strings.Contains(log.String(), "waiting=4") || lines() != 1 {
			t.Errorf("logged %q", &log)
		}
		time.Sleep(crowdEvery)
		c.note(4)
		c.note(0)
		if lines() != 3 || !strings.Contains(log.String(), "has room again") {
			t.Errorf("logged %q", &log)
		}
		if want := []int{3, 4, 0}; !slices.Equal(seen, want) {
			t.Errorf("measured %v, want %v", seen, want)
		}
		if want := []bool{true, false}; !slices.Equal(told, want) {
			t.Errorf("the actors were told %v, want %v", told, want)
		}
		w.kill()
		w.sys.Kill(nil)
	})
}

// A claim that got all it asked for leads to another; one that got less does not, and says that
// nobody waits; one for nothing says who waits.
func TestClaimsSayWhatTheyLeave(t *testing.T) {
	for name, c := range map[string]struct {
		max     int
		claim   driver.Claim
		waiting int // before it is 1
		again   bool
	}{
		"limited":      {2, driver.Claim{Tasks: make([]driver.Claimed, 2)}, 1, true},
		"all":          {2, driver.Claim{Tasks: make([]driver.Claimed, 1)}, 0, false},
		"some wait":    {0, driver.Claim{Waiting: 5}, 5, true},
		"nobody waits": {0, driver.Claim{}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			w, _ := testWorker()
			defer w.sys.Kill(nil)
			defer w.kill()
			w.claimer.crowd.waiting = 1
			w.claimer.timer.noteClaim(c.max)
			w.claimer.noteLeft(c.max, &c.claim)
			if again := !w.claimer.timer.due.IsZero(); again != c.again || w.claimer.crowd.waiting != c.waiting {
				t.Errorf("claims again: %v, want %v; %d wait, want %d", again, c.again, w.claimer.crowd.waiting, c.waiting)
			}
		})
	}
}
