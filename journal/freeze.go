package journal

import (
	"slices"
	"strings"
	"time"
)

// Freeze is a time in which the timers of a run stood still: it was paused, and whoever paused it
// has asked for that. So did the time of the run and of its steps.
type Freeze struct {
	From  time.Time
	Until time.Time // zero while it lasts
}

// Freezes are those of one run, the oldest first. Two never overlap, because a run is paused or is
// not; and only the last one may last. They are by the clock of the store (J9), and the run keeps
// them for its life, across generations.
type Freezes []Freeze

// Equal tells whether two lists are the same.
func (f Freezes) Equal(g Freezes) bool {
	return slices.EqualFunc(f, g, func(a, b Freeze) bool { return a.From.Equal(b.From) && a.Until.Equal(b.Until) })
}

// Lasts tells whether the run's timers stand still now.
func (f Freezes) Lasts() bool { return len(f) > 0 && f[len(f)-1].Until.IsZero() }

// Due is when something comes for which the run waits from a time on, and which was due at another
// time when the wait began. Each freeze that begins before it is due puts it off by what of the
// freeze lies behind the beginning of the wait: so its rest of time is the same after the freeze as
// before. What was due when a freeze began is not put off by it. While a freeze lasts nobody knows
// when it comes: at is zero then, and left is the rest of its time.
//
// It is a function of what is stored, so everybody who asks gets the same answer. The beginning of
// a wait is a workflow time.
func (f Freezes) Due(from, due time.Time) (at time.Time, left time.Duration) {
	for _, z := range f {
		begin := z.From
		if from.After(begin) {
			begin = from
		}
		switch {
		case !z.Until.IsZero() && !begin.Before(z.Until): // over when the wait began
		case !due.After(begin): // due by then, and so by all later ones
			return due, 0
		case z.Until.IsZero():
			return time.Time{}, due.Sub(begin)
		default:
			due = due.Add(z.Until.Sub(begin))
		}
	}
	return due, 0
}

// FreezesOf makes freezes of times at which they have begun and ended by turns. It is the form in
// which stores keep them. An end before its beginning, or a beginning before the end before, counts
// as the same moment.
func FreezesOf(times []time.Time) (f Freezes) {
	var last time.Time
	for i, t := range times {
		if t.Before(last) {
			t = last
		}
		if last = t; i%2 == 0 {
			f = append(f, Freeze{From: t})
		} else {
			f[len(f)-1].Until = t
		}
	}
	return f
}

// Waits is what an open run waits for, in words: Task.Waiting, as its owner has written it. While
// the timers stand still what that says of them is left out, because the owner has written it
// before it could know.
func (r *Run) Waits() (lines []string) {
	switch {
	case r.Task == nil:
		return nil
	case !r.Freezes.Lasts():
		return r.Task.Waiting
	}
	for _, line := range r.Task.Waiting {
		if !strings.HasPrefix(line, CommandTimer.String()+" ") {
			lines = append(lines, line)
		}
	}
	return lines
}
