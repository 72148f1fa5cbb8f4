package schedule

import (
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// decide decides what becomes of the slots that are due.
//
// While a run is open whose end slots wait for, or are left out until, nothing is decided and
// nobody looks at the time: the schedule costs nothing, however many slots pass. Behind says that
// it is so. When the run has ended, settle makes good for them.
func (r *runner) decide(ctx workflow.Context) error {
	if r.Paused != "" {
		r.forget()
		return nil
	}
	if r.Behind {
		if r.waits() {
			return nil
		}
		if err := r.settle(ctx); err != nil {
			return err
		}
		if r.waits() {
			return nil
		}
		r.Behind = false
	}
	if r.planned && (r.wakeAt.IsZero() || ctx.Now().Before(r.wakeAt)) {
		return nil // nothing is due, and the plan holds
	}
	s := r.Schedule.withDefaults()
	q := question{after: r.Cursor, now: ctx.Now(), since: ctx.Now().Add(-time.Duration(s.CatchUp.Window)), keep: s.CatchUp.Limit}
	p := ask(ctx, r.ID, s.Spec, q)
	if len(p.Slots) > 0 {
		if err := r.look(ctx); err != nil {
			return err
		}
	}
	r.Cursor = p.Cursor
	r.Counts.Missed += p.Missed + p.Left
	for _, slot := range p.Slots {
		if err := r.place(ctx, item{Slot: slot, Overlap: s.Overlap}); err != nil {
			return err
		}
		if r.Paused != "" {
			r.forget()
			return nil
		}
	}
	r.adopt(ctx, &p)
	r.Behind = r.waits()
	return nil
}

// adopt keeps what a plan says of the slots behind it. Ahead of a slot that is far away the
// schedule looks again: the rules of a zone may change.
func (r *runner) adopt(ctx workflow.Context, p *plan) {
	r.planned, r.next, r.wakeAt, r.note = true, p.Next, p.Due, p.Note
	zone := r.Schedule.Zone
	if early := p.Due.Add(-recheck); !p.Due.IsZero() && zone != "" && zone != "UTC" && early.After(ctx.Now().Add(time.Hour)) {
		r.wakeAt = early
	}
}

// forget makes the schedule plan anew.
func (r *runner) forget() {
	r.planned, r.next, r.wakeAt, r.note = false, time.Time{}, time.Time{}, ""
}

// waits tells whether the slots that come wait for the end of an open run that will be heard of.
func (r *runner) waits() bool {
	s := r.Schedule.withDefaults()
	if !s.Overlap.waits() {
		return false
	}
	heard := false
	for _, l := range r.open {
		if l.carried && !l.Backfill {
			return false
		}
		heard = heard || !l.Backfill
	}
	return heard
}

// settle decides what becomes of the slots that came while a run was open. They are not missed,
// however long that took.
func (r *runner) settle(ctx workflow.Context) error {
	if !r.Behind {
		return nil
	}
	s := r.Schedule.withDefaults()
	q := question{after: r.Cursor, now: ctx.Now(), oldest: true}
	switch s.Overlap {
	case BufferOne:
		q.keep = max(1-len(r.Queue), 0)
	case BufferAll:
		q.keep = max(s.Buffer-len(r.Queue), 0)
	}
	p := ask(ctx, r.ID, s.Spec, q)
	r.Cursor = p.Cursor
	r.Counts.Skipped += p.Left
	r.adopt(ctx, &p)
	for _, slot := range p.Slots {
		if err := r.place(ctx, item{Slot: slot, Overlap: s.Overlap}); err != nil {
			return err
		}
	}
	return nil
}
