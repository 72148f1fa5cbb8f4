package worker

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal/driver"
)

const pollOfTests = 10 * time.Second

// awaited returns how long the claim loop waits after a claim, during which the test does
// something.
func awaited(t *testing.T, timer *claimTimer, next time.Time, meanwhile func()) time.Duration {
	t.Helper()
	began := time.Now()
	timer.noteClaim(1)
	if meanwhile != nil {
		go meanwhile()
	}
	timer.await(t.Context(), next)
	return time.Since(began)
}

// What is heard while a claim is in flight may be news that the claim does not see: another claim
// follows at once.
func TestHintDuringAClaimLeadsToAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		timer := newClaimTimer(time.Now, pollOfTests, func() int { return 1 }, &unconfirmed{})
		timer.noteClaim(1)
		timer.expect(time.Time{})
		began := time.Now()
		timer.await(t.Context(), time.Now().Add(5*time.Second)) // what that claim knew
		if took := time.Since(began); took != 0 {
			t.Errorf("waits %s", took)
		}
	})
}

// The loop waits for the earliest of the next due task, a hint and the poll. While the node is full
// it waits for room, and looks every probeEvery at who waits.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var room atomic.Int32
		room.Store(1)
		timer := newClaimTimer(time.Now, pollOfTests, func() int { return int(room.Load()) }, &unconfirmed{})
		if got := awaited(t, timer, time.Time{}, nil); got != pollOfTests {
			t.Errorf("with nothing known it waits %s", got)
		}
		if got := awaited(t, timer, time.Now().Add(3*time.Second), nil); got != 3*time.Second {
			t.Errorf("for a task in 3 s it waits %s", got)
		}
		got := awaited(t, timer, time.Now().Add(3*time.Second), func() {
			time.Sleep(time.Second)
			timer.expect(time.Now().Add(time.Second))
		})
		if got != 2*time.Second {
			t.Errorf("for a task that a hint names it waits %s", got)
		}
		room.Store(0)
		got = awaited(t, timer, time.Now().Add(4*time.Second), func() {
			time.Sleep(time.Second)
			timer.noteRoom() // nobody needs room yet
		})
		if got != 4*time.Second {
			t.Errorf("a full node waits %s for a task in 4 s", got)
		}
		timer.noteClaim(0)
		began := time.Now()
		timer.await(t.Context(), time.Now())
		if got := time.Since(began); got != probeEvery {
			t.Errorf("a full node looks after %s who waits", got)
		}
		timer.noteClaim(0)
		began = time.Now()
		go func() {
			time.Sleep(probeEvery / 2)
			room.Store(1)
			timer.noteRoom()
		}()
		timer.await(t.Context(), time.Now())
		if got := time.Since(began); got != probeEvery/2 {
			t.Errorf("a full node waits %s for room that it has after %s", got, probeEvery/2)
		}
	})
}

// A look that saw the queue counts as a poll, unless reconciling claims are to come.
func TestLookCountsAsAPoll(t *testing.T) {
	for name, c := range map[string]struct {
		look    driver.Look
		pending bool
		want    time.Duration
	}{
		"polled":      {driver.Look{Polled: true}, false, 18 * time.Second},
		"not polled":  {driver.Look{}, false, pollOfTests},
		"unconfirmed": {driver.Look{Polled: true}, true, pollOfTests},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := &unconfirmed{}
				timer := newClaimTimer(time.Now, pollOfTests, func() int { return 1 }, u)
				got := awaited(t, timer, time.Time{}, func() {
					time.Sleep(8 * time.Second)
					timer.noteLook(c.look)
					if c.pending {
						u.note()
					}
				})
				if got != c.want {
					t.Errorf("waits %s, want %s", got, c.want)
				}
			})
		})
	}
}
