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
		return planOf(times, id, q)
	})
}

// dueSlot is a slot, and when it is due.
type dueSlot struct{ at, due time.Time }

// planOf answers a question. Slots are due in their order, each ahead of the next slot: so those
// that are due by now begin behind the cursor, and those of them that are not missed are their end.
//
// It looks at lookedMax slots from the cursor on, at most. If more are due the newest ones are
// found from their end: which slots start does not depend on how many nobody looks at.
func planOf(times *calendar.Times, id string, q question) plan {
	if q.slots {
		return planOfPast(times, q)
	}
	p := plan{Cursor: q.after}
	seen := p.look(times, id, q.now, lookedMax)
	newest := seen
	if len(seen) == lookedMax {
		newest = newestDue(times, id, q, max(q.keep, 1))
		p.Cursor = newest[len(newest)-1].at
		p.look(times, id, q.now, 1) // finds the next one: none is due
	}
	from := seen
	if !q.oldest {
		from = newest
	}
	for _, s := range from {
		if !s.due.Before(q.since) {
			p.Slots = append(p.Slots, s.at)
		}
	}
	if len(p.Slots) > q.keep && q.oldest {
		p.Slots = p.Slots[:q.keep]
	}
	p.Slots = p.Slots[max(len(p.Slots)-q.keep, 0):]
	for _, s := range seen {
		switch {
		case s.due.Before(q.since):
			p.Missed = min(p.Missed+1, countMax)
		case len(p.Slots) == 0 || s.at.Before(p.Slots[0]) || s.at.After(p.Slots[len(p.Slots)-1]):
			p.Left = min(p.Left+1, countMax)
		}
	}
	return p
}

// look returns the first slots behind the cursor that are due by now, n at most, and moves the
// cursor behind them. If they are all, the plan has the next slot.
func (p *plan) look(times *calendar.Times, id string, now time.Time, n int) (seen []dueSlot) {
	for len(seen) < n {
		s, some := times.Next(p.Cursor)
		if !some {
			break
		}
		due := times.Due(id, s.At)
		if due.After(now) {
			p.Next, p.Due, p.Note = s.At, due, s.Note
			break
		}
		seen, p.Cursor = append(seen, dueSlot{s.At, due}), s.At
	}
	return seen
}

// newestDue returns the newest slots behind the cursor that are due by now, n at most. Of slots
// that have come only the last one may not be due, because of jitter.
func newestDue(times *calendar.Times, id string, q question, n int) (list []dueSlot) {
	for _, s := range times.Last(q.after, q.now, n+1) {
		if due := times.Due(id, s.At); !due.After(q.now) {
			list = append(list, dueSlot{s.At, due})
		}
	}
	return list[max(len(list)-n, 0):]
}

// planOfPast answers a question about slots of the past, the oldest ones. The next question is for
// the rest.
func planOfPast(times *calendar.Times, q question) plan {
	p := plan{Cursor: q.after}
	for {
		s, some := times.Next(p.Cursor)
		switch {
		case !some || s.At.After(q.now):
			return p
		case len(p.Slots) == q.keep:
			p.Left = 1
			return p
		}
		p.Slots, p.Cursor = append(p.Slots, s.At), s.At
	}
}
