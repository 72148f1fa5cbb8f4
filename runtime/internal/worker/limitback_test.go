package worker

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/actor"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A node asks for no more claims of a line than it has slots for, the most urgent first, and for
// more when a slot becomes free. What is held back can be withdrawn.
func TestWantsWaitForSlots(t *testing.T) {
	inLimiterWorld(t, func(w *limiterWorld) {
		var free atomic.Int64
		w.l.mu.Lock()
		w.l.back.room = func() int { return int(free.Load()) }
		w.l.mu.Unlock()
		want := func(priority int16, key string) *actor.LimitWant {
			r := &actor.LimitWant{Want: driver.Want{Run: journal.NewRunID(), Priority: priority, Since: time.Now(),
				Needs: []journal.LimitNeed{{Name: "x", Key: key, Cost: 1}}}}
			r.Granted = func() { w.began[r] = true; free.Add(-1) }
			w.l.Want(r)
			return r
		}
		known := func() (ids []int64) {
			w.held()
			page, err := w.j.Limits(w.t.Context(), journal.LimitFilter{Claims: 100})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range page.Claims {
				ids = append(ids, c.ID)
			}
			slices.Sort(ids)
			return ids
		}
		expect := func(what string, want ...*actor.LimitWant) {
			t.Helper()
			var ids []int64
			for _, r := range want {
				ids = append(ids, r.ID)
			}
			if got := known(); !slices.Equal(got, ids) {
				t.Errorf("%s the store knows %v, want %v", what, got, ids)
			}
		}
		room := func(n int64) { free.Store(n); w.l.noteRoom() }

		a, b, c, urgent := want(3, ""), want(3, ""), want(4, ""), want(1, "")
		expect("without a slot")
		if room(1); !w.l.Withdraw(b) {
			t.Error("a want that is held back cannot be withdrawn")
		}
		if expect("with a slot", urgent); !w.hasBegun(urgent) {
			t.Error("the most urgent has not begun")
		}
		room(1)
		expect("with a slot, and the place is taken", a, urgent)
		other := want(3, "other")
		if expect("with a slot for another key", a, urgent, other); !w.hasBegun(other) {
			t.Error("the step of another key has not begun")
		}
		free.Store(0)
		w.l.Release(other, other.Needs)
		w.l.Release(urgent, urgent.Needs)
		if expect("when the place is free", a); !w.hasBegun(a) || w.hasBegun(b) || w.hasBegun(c) {
			t.Errorf("begun: %v", w.began)
		}
		w.l.Release(a, a.Needs)
		expect("when no slot is free")
		room(1)
		expect("when a slot is free", c)
		w.l.Release(c, c.Needs)
		expect("in the end")
		if n := len(w.l.back.lines); n > 0 {
			t.Errorf("%d lines are left", n)
		}
	})
}

// With a slot at a time lines take turns.
func TestLinesTakeTurnsForSlots(t *testing.T) {
	b := newLimitBack()
	b.room = func() int { return 1 }
	for _, key := range []string{"a", "a", "b", "a", "c", "b", "c"} {
		b.add(&limitEntry{want: &actor.LimitWant{Want: driver.Want{Needs: []journal.LimitNeed{{Name: "x", Key: key, Cost: 1}}}}})
	}
	var got []string
	for wants := b.pull(nil); len(wants) == 1; wants = b.pull(nil) {
		got = append(got, wants[0].want.Needs[0].Key)
		b.asking--
		b.leave(wants[0])
	}
	if want := []string{"a", "b", "c", "a", "b", "c", "a"}; !slices.Equal(got, want) {
		t.Errorf("lines were served as %v, want %v", got, want)
	}
	if len(b.lines) != 0 || b.full.Len() != 0 {
		t.Errorf("%d lines are left, %d of them with wants", len(b.lines), b.full.Len())
	}
}

// Steps of several limits are held back with those that need the same keys: one whose tenant is at
// its limit does not keep the steps of another one waiting. Late wants need locked limits only.
func TestWantsOfSeveralLimitsWaitForSlots(t *testing.T) {
	b := newLimitBack()
	b.room = func() int { return 1 }
	add := func(needs ...journal.LimitNeed) *limitEntry {
		e := &limitEntry{want: &actor.LimitWant{Want: driver.Want{Since: time.Now(), Priority: 3, Needs: needs}}}
		if !b.add(e) {
			t.Fatal("a want is not held back")
		}
		return e
	}
	api := journal.LimitNeed{Name: "api"}
	a, again, other := add(api, journal.LimitNeed{Name: "t", Key: "a"}), add(api, journal.LimitNeed{Name: "t", Key: "a"}), add(api, journal.LimitNeed{Name: "t", Key: "b"})
	again.rank++
	pulled := map[*limitEntry]bool{}
	pull := func(names ...string) {
		for _, e := range b.pull(names) {
			pulled[e] = true
		}
		b.asking = 0 // the store has answered that they wait
	}
	if pull("api"); len(pulled) != 0 {
		t.Error("a want is sent late whose other limit is not locked")
	}
	if pull("api", "t"); len(pulled) != 1 {
		t.Errorf("%d wants are sent for one slot", len(pulled))
	}
	pull()
	if pull(); len(pulled) != 2 || !pulled[a] || !pulled[other] {
		t.Errorf("%d wants are sent, want the first of each tenant", len(pulled))
	}
	b.leave(a)
	if pull(); !pulled[again] {
		t.Error("the next of a tenant is not sent when the first has begun")
	}
}
