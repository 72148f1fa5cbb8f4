package driver

import (
	"errors"

	"github.com/reprise-run/reprise/journal"
)

// IsDamaged tells whether a call has met a page or a value that the database cannot read back. Such
// an error is about the rows that are there. One that is unavailable too is about the whole store.
func IsDamaged(err error) bool {
	return errors.Is(err, journal.ErrDamaged) && !errors.Is(err, journal.ErrUnavailable)
}

// ApartFromDamage makes a call for the members from..to-1. A statement that meets damage fails as a
// whole, whatever else it was about, and fails again with every repetition. So a call that has met
// some is made for each half of its members, and a member that has met it alone is given to alone.
// Halves keep the number of calls near the logarithm of the members for each that is damaged.
func ApartFromDamage(from, to int, call func(from, to int) error, alone func(i int, why error) error) error {
	err := call(from, to)
	switch {
	case !IsDamaged(err):
		return err
	case to-from == 1:
		return alone(from, err)
	}
	middle := from + (to-from)/2
	if err := ApartFromDamage(from, middle, call, alone); err != nil {
		return err
	}
	return ApartFromDamage(middle, to, call, alone)
}

// damagedHistory answers a load whose store could read nothing of the run. The sender of an update
// gets an error that is no [journal.UnreadableError]: nobody can tell whether there is an answer.
func damagedHistory(q *LoadRequest, why error) History {
	h := History{Run: journal.Run{ID: q.Run}, Err: why}
	if q.Answer == 0 {
		h.Err = DamagedPart(&h.Run, "row", why)
	}
	return h
}

// DamagedPart notes in a run that a part of it is damaged, and returns the error that is noted.
func DamagedPart(run *journal.Run, part string, why error) error {
	if run.Unreadable == nil {
		run.Unreadable = &journal.UnreadableError{Run: run.ID, Part: part, Err: why}
	}
	return run.Unreadable
}
