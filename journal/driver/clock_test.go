package driver

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestClockTellsLocalTimeUntilItsFirstStamp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		c.Observe(time.Time{}) // no stamp
		if got := c.Now(); !got.Equal(time.Now()) || got.Location() != time.UTC {
			t.Errorf("tells %s, want %s", got, time.Now())
		}
	})
}

func TestClockIsNeverAheadOfTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		const skew = -90 * time.Second // the store's clock is behind ours
		store := func() time.Time { return time.Now().Add(skew) }
		latencies := []time.Duration{50, 5, 400, 5, 1, 90}
		for i, ms := range latencies {
			stamp := store()
			time.Sleep(ms * time.Millisecond) // the answer travels
			c.Observe(stamp)
			if got := c.Now(); got.After(store()) {
				t.Errorf("answer %d: tells %s, the store has %s (J9)", i, got, store())
			}
			time.Sleep(time.Second)
		}
		if behind := store().Sub(c.Now()); behind != time.Millisecond {
			t.Errorf("the clock is %s behind, want the latency of the fastest answer", behind)
		}
	})
}

func TestClockFollowsAStoreThatWasSetBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		c.Observe(time.Now())
		time.Sleep(time.Second)
		c.Observe(time.Now().Add(-time.Second)) // as late as an answer can be
		if got := time.Since(c.Now()); got != 0 {
			t.Errorf("a late answer moved the clock by %s", got)
		}
		back := time.Now().Add(-time.Minute) // another server took over
		c.Observe(back)
		if got := c.Now(); !got.Equal(back) {
			t.Errorf("tells %s, want %s", got, back)
		}
	})
}

func TestClockTellsWholeMicroseconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		c.Observe(time.Now().Add(123456789 * time.Nanosecond))
		if got := c.Now(); got.Nanosecond()%1000 != 0 {
			t.Errorf("tells %s", got)
		}
	})
}

// J9: a local clock that runs fast cannot carry the estimate ahead for long, because old stamps are
// replaced.
func TestClockIsNotCarriedAheadByAFastLocalClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Clock
		store := time.Now()
		for range 600 {
			time.Sleep(time.Second)
			store = store.Add(999 * time.Millisecond) // a local second is a little less of the store's
			c.Observe(store)
			if ahead := c.Now().Sub(store); ahead > 11*time.Millisecond {
				t.Fatalf("the clock is %s ahead", ahead)
			}
		}
	})
}
