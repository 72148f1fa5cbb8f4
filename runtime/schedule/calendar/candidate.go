package calendar

import (
	"fmt"
	"time"
)

// Slot is a moment at which something happens.
type Slot struct {
	At time.Time // in UTC, whole seconds
	// Note says in words what daylight saving has done to the slot; empty as a rule.
	Note string
	// Omitted slots do not happen, because of the policies for gaps and repeated times. Only
	// [Times.Preview] shows them.
	Omitted bool
}

// candidate is a moment that a line gives, and how daylight saving has to do with it.
type candidate struct {
	at      int64
	local   int64 // what the line says, as a time of the wall clock
	why     why
	omitted bool
}

type why int8

const (
	plain  why = iota
	moved      // the time does not exist
	first      // the time exists twice
	second     // likewise
)

// slot makes a slot of a candidate, with its note.
func (t *Times) slot(c candidate) Slot {
	return Slot{At: time.Unix(c.at, 0).UTC(), Note: t.note(c), Omitted: c.omitted}
}

// note says in words what daylight saving does to a candidate.
func (t *Times) note(c candidate) string {
	if c.why == plain {
		return ""
	}
	said, runs := time.Unix(c.local, 0).UTC(), time.Unix(c.at, 0).In(t.loc)
	clock := "15:04"
	if said.Second() != 0 {
		clock = "15:04:05"
	}
	what := fmt.Sprintf("%s on %s", said.Format(clock), said.Format("2 January 2006"))
	switch c.why {
	case moved:
		if c.omitted {
			return what + " does not exist, it does not run"
		}
		at := runs.Format(clock)
		if runs.YearDay() != said.YearDay() {
			at += " on " + runs.Format("2 January 2006")
		}
		return fmt.Sprintf("%s does not exist, it runs at %s", what, at)
	case first:
		if c.omitted {
			return what + " exists twice, it does not run the first time"
		}
		return what + " exists twice, it runs the first time"
	}
	if c.omitted {
		return what + " exists twice, it does not run the second time"
	}
	return what + " exists twice, it runs the second time"
}
