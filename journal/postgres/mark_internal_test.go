package postgres

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal/driver"
)

// A search begins a margin before what the last one has found. The whole queue is searched at
// first, and again when that is due: claims wait longer than looks, and a search that took long
// comes back the later.
func TestMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var m marks
		server := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		search := func(patience int, took time.Duration, oldest, want time.Time) {
			t.Helper()
			w := m.begin("routes", patience)
			if !w.from.Equal(want) || w.full != want.IsZero() {
				t.Errorf("begins at %s, full %v; want %s", w.from, w.full, want)
			}
			time.Sleep(took)
			w.end(oldest)
		}
		search(1, 0, time.Time{}, time.Time{}) // a search that failed, or does not know
		search(2, 0, server, time.Time{})
		search(1, 0, server.Add(time.Second), server.Add(-markMargin))
		search(1, 0, time.Time{}, server.Add(time.Second-markMargin))
		search(1, 0, server, server.Add(time.Second-markMargin)) // an older one has appeared within the margin
		time.Sleep(fullEvery)
		search(claimPatience, 0, server, server.Add(-markMargin))
		search(1, 400*time.Millisecond, server, time.Time{})
		time.Sleep(fullShare*400*time.Millisecond - time.Second)
		search(1, 0, server, server.Add(-markMargin))
		time.Sleep(time.Second)
		search(1, 0, server, time.Time{})
		if w := m.begin("others", 1); !w.full {
			t.Error("other routes have no mark yet")
		}
	})
}

// A timer may have been due long before the run was parked.
func TestParkingInThePastMovesTheMark(t *testing.T) {
	var m marks
	server := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	m.begin("", 1).end(server)
	m.parked([]driver.Commit{{}, {Next: driver.Next{At: server.Add(time.Hour)}}})
	if got := m.begin("", 1).from; !got.Equal(server.Add(-markMargin)) {
		t.Errorf("begins at %s", got)
	}
	m.parked([]driver.Commit{{}, {Next: driver.Next{At: server.Add(-time.Hour)}}, {Next: driver.Next{At: server}}})
	if got := m.begin("", 1).from; !got.Equal(server.Add(-time.Hour - markMargin)) {
		t.Errorf("a run was parked until an hour ago, and a search begins at %s", got)
	}
}

// A claim that gets less than it might has taken everything that was visible when it began.
func TestClaimMovesTheMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		for _, c := range []struct{ tasks, limit int }{{3, 10}, {10, 10}, {0, 10}, {0, 0}} {
			var m marks
			m.begin("", 1).end(server)
			w := m.begin("", 1)
			time.Sleep(time.Second / 4)
			w.claimed(&driver.Claim{Tasks: make([]driver.Claimed, c.tasks), Now: server.Add(time.Minute)}, c.limit)
			want := server
			if c.tasks > 0 && c.tasks < c.limit {
				want = server.Add(time.Minute - time.Second/4)
			}
			if got := m.begin("", 1).from; !got.Equal(want.Add(-markMargin)) {
				t.Errorf("after %d of %d tasks a search begins at %s, want a margin before %s", c.tasks, c.limit, got, want)
			}
		}
	})
}
