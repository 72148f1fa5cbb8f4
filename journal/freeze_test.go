package journal

import (
	"slices"
	"testing"
	"time"
)

// What the rest of a wait is, freeze by freeze.
func TestFreezesPutOffByTheirLength(t *testing.T) {
	t0 := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	at := func(s int) time.Time { return t0.Add(time.Duration(s) * time.Second) }
	list := func(s ...int) (times []time.Time) {
		for _, n := range s {
			times = append(times, at(n))
		}
		return times
	}
	for _, c := range []struct {
		name            string
		times           []time.Time
		from, due, want int // want -1: nobody knows
		left            int
	}{
		{"none", nil, 0, 10, 10, 0},
		{"in the middle", list(4, 104), 0, 10, 110, 0},
		{"began with the wait", list(0, 100), 0, 10, 110, 0},
		{"several add up", list(4, 104, 106, 206), 0, 10, 210, 0},
		{"the second is behind what the first has put off", list(4, 104, 111, 200), 0, 10, 110, 0},
		{"over before the wait", list(1, 4), 4, 10, 10, 0},
		{"the wait began in it", list(0, 100), 40, 50, 110, 0},
		{"due when it began", list(10, 100), 0, 10, 10, 0},
		{"due before", list(11, 100), 0, 10, 10, 0},
		{"lasts", list(4), 0, 10, -1, 6},
		{"lasts, after another", list(2, 5, 6), 0, 10, -1, 7},
		{"lasts, and the wait began in it", list(4), 50, 60, -1, 10},
		{"lasts, and it was due", list(10), 0, 10, 10, 0},
		{"of no length", list(4, 4, 4, 9), 0, 10, 15, 0},
		{"a clock that went back", list(4, 3, 2), 0, 10, -1, 6},
	} {
		f := FreezesOf(c.times)
		got, left := f.Due(at(c.from), at(c.due))
		want := at(c.want)
		if c.want < 0 {
			want = time.Time{}
		}
		if !got.Equal(want) || left != time.Duration(c.left)*time.Second {
			t.Errorf("%s: due %s, left %s; want %s, %d s", c.name, got, left, want, c.left)
		}
		if f.Lasts() != (len(c.times)%2 == 1) {
			t.Errorf("%s: lasts: %t", c.name, f.Lasts())
		}
		if !slices.IsSortedFunc(f, func(a, b Freeze) int { return a.From.Compare(b.From) }) {
			t.Errorf("%s: %v is not in order", c.name, f)
		}
	}
}
