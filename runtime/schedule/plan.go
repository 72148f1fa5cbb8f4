package schedule

import (
	"fmt"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/schedule/calendar"
)

// question is what a schedule's run asks the calendar.
type question struct {
	after  time.Time // slots behind this one
	now    time.Time // that are due by now
	since  time.Time // those that were due earlier are missed; zero for none
	keep   int       // how many of the others are wanted
	oldest bool      // the oldest ones; else the newest
	slots  bool      // slots count and not when they are due, because they are in the past
}

// plan is the answer.
type plan struct {
	Slots  []time.Time `json:"slots,omitempty"`
	Missed int         `json:"missed,omitempty"` // counted up to countMax
	Left   int         `json:"left,omitempty"`   // due and not wanted, counted up to countMax
	Cursor time.Time   `json:"cursor"`           // all slots up to this one are decided
	Next   time.Time   `json:"next,omitzero"`    // the slot behind it, and when that is due
	Due    time.Time   `json:"due,omitzero"`
	Note   string      `json:"note,omitempty"` // what daylight saving does to Next
}

// ask asks the calendar. The answer is recorded: what a zone's rules say differs from machine to
// machine, and from year to year, so no replay may ask again. A machine without the zone's data
// panics, which blocks the run until another one takes it up.
func ask(ctx workflow.Context, id string, spec calendar.Spec, q question) plan {
	return workflow.SideEffect(ctx, "slots", func() plan {
		times, err := calendar.Compile(spec)
		if err != nil {
			panic(fmt.Errorf("schedule %s: %w", id, err))
		}
		return planOf(times, id, time.Duration(spec.Jitter), q)
	})
}

// planOf answers a question. A slot is due at the latest by the jitter behind itself, so what is
// long past need not be looked at slot by slot.
func planOf(times *calendar.Times, id string, jitter time.Duration, q question) plan {
	p, looked := plan{Cursor: q.after}, 0
	for {
		s, some := times.Next(p.Cursor)
		if !some {
			return p
		}
		due := s.At
		if !q.slots {
			due = times.Due(id, s.At)
		}
		looked++
		switch {
		case due.After(q.now):
			p.Next, p.Due, p.Note = s.At, due, s.Note
			return p
		case due.Before(q.since):
			if p.Missed++; p.Missed == countMax {
				s.At = later(s.At, q.since.Add(-jitter-time.Second))
			}
		case len(p.Slots) < q.keep:
			p.Slots = append(p.Slots, s.At)
		case q.slots: // the next question is for the rest
			p.Left++
			return p
		default:
			if p.Left++; !q.oldest {
				p.Slots = append(p.Slots[1:], s.At)
			}
			if p.Left == countMax && q.oldest || looked == lookedMax {
				s.At = later(s.At, q.now.Add(-jitter-time.Second))
			}
		}
		p.Cursor = s.At
	}
}

// later returns the later one of two moments.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
