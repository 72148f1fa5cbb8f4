package schedule

import (
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// fill goes on with the first backfill: with its next slot when the run before has ended, or with
// many at once. A slot that has a run which did not fail is left as it is, by its key.
func (r *runner) fill(ctx workflow.Context) error {
	for len(r.Backfills) > 0 {
		b := &r.Backfills[0]
		keep := 1
		if b.AtOnce {
			if ctx.Now().Before(r.paceAt) {
				return nil
			}
			keep = backfillStep
		} else if r.busy(true) {
			return nil
		}
		s := r.Schedule
		s.From, s.Until = time.Time{}, time.Time{} // who names a range means it
		p := ask(ctx, r.ID, s.Spec, question{after: b.Cursor, now: b.To, keep: keep, oldest: true, slots: true})
		for _, slot := range p.Slots {
			r.start(ctx, item{Slot: slot, Overlap: Allow, Backfill: true})
		}
		b.Cursor = p.Cursor
		if p.Left == 0 {
			r.Backfills = r.Backfills[1:]
		}
		if b.AtOnce && len(p.Slots) > 0 {
			r.paceAt = ctx.Now().Add(backfillPace)
		}
	}
	return nil
}
