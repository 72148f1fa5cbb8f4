package driver

import (
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Freezes of a run are in its row, because they outlive its task: a retry of a run that has ended
// goes on with them. A pause and a resume change task and row in one transaction, under the lock of
// the task. So an open run has a freeze that lasts only while it is on hold.
//
// A freeze begins with the pause that asks for it. Until the owner has answered, it may fire
// timers. If a resume comes before the answer, the owner may never hear that there was a pause, and
// would go on with timers that know of no freeze; so the resume takes the freeze back. An
// interruption of a run whose owner has answered a pause asks it once more. It divides a freeze
// that lasts in two, so that a resume takes back no more than what comes after the interruption.

// ErrFreezes refuses to freeze the timers of a run once more.
func ErrFreezes() error {
	return &journal.LimitError{What: "times that the timers of the run were frozen", Size: journal.FreezesMax + 1, Max: journal.FreezesMax,
		How: "pause it without freezing them"}
}

// Frozen returns the freezes of a run after a pause, and whether the pause has changed them: freeze
// is whether it asks for that, interrupts whether it interrupts attempts. t is the task as of
// before, and now the store's clock. An error refuses the pause.
func Frozen(f journal.Freezes, freeze, interrupts bool, t *journal.Task, now time.Time) (after journal.Freezes, changed bool, err error) {
	asksAgain := interrupts && t.Owner != 0 && t.State == journal.Paused
	switch {
	case !f.Lasts() && !freeze, f.Lasts() && !asksAgain:
		return f, false, nil
	case len(f) < journal.FreezesMax:
	case f.Lasts(): // a division that there is no room for: the resume may take back too much
		return f, false, nil
	default:
		return nil, false, ErrFreezes()
	}
	times := FreezeTimes(f)
	if f.Lasts() {
		times = append(times, now)
	}
	return journal.FreezesOf(append(times, now)), true, nil
}

// Thaw returns the freezes of a run after a resume. t is its task as of before.
func Thaw(f journal.Freezes, t *journal.Task, now time.Time) journal.Freezes {
	switch {
	case !f.Lasts():
		return f
	case t.State > journal.Paused: // its owner has not answered
		return f[: len(f)-1 : len(f)-1]
	}
	return EndFreeze(f, now)
}

// EndFreeze returns the freezes of a run, ended at a time.
func EndFreeze(f journal.Freezes, at time.Time) journal.Freezes {
	if !f.Lasts() {
		return f
	}
	return journal.FreezesOf(append(FreezeTimes(f), at))
}

// FreezeTimes are the times at which freezes have begun and ended, which are what stores keep.
func FreezeTimes(f journal.Freezes) (times []time.Time) {
	for _, z := range f {
		if times = append(times, z.From); !z.Until.IsZero() {
			times = append(times, z.Until)
		}
	}
	return times
}
