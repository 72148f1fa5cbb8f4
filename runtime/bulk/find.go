package bulk

import (
	"context"
	"errors"
	"math"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
)

// count finds out how many runs there are to act on.
func (w *worker) count(ctx context.Context) (Progress, error) {
	if !w.job.FailuresOf.IsZero() {
		runs, err := countFailures(ctx, w.client, &w.job)
		if errors.Is(err, journal.ErrNotFound) || errors.Is(err, journal.ErrInvalid) {
			err = workflow.Permanent(err)
		}
		return Progress{Runs: runs}, err
	}
	runs, capped, err := w.client.Count(ctx, w.filter(), journal.AggregateMax)
	return Progress{Runs: runs, Capped: capped}, err
}

// find finds a page, and notes up to where the audit goes before it is acted on.
func (w *worker) find(ctx context.Context, cursor string) (page, error) {
	limit := pageMax
	if w.job.Rate > 0 {
		limit = int(min(pageMax, math.Ceil(w.job.Rate*pageTime.Seconds())))
	}
	p, err := w.listed(ctx, cursor, limit)
	if err != nil || !w.job.Verb.audited() || len(p.Runs) == 0 {
		return p, err
	}
	newest, err := w.client.Audit(ctx, journal.AuditFilter{Limit: 1})
	if err != nil {
		return page{}, err
	}
	if len(newest) > 0 {
		p.Audited = newest[0].Number
	}
	return p, nil
}

// listed is a page of the job's runs, wherever it reads them from.
func (w *worker) listed(ctx context.Context, cursor string, limit int) (page, error) {
	if !w.job.FailuresOf.IsZero() {
		return w.findFailures(ctx, cursor, limit)
	}
	return w.list(ctx, cursor, limit)
}

// list lists a page of the runs that the job's filter selects.
func (w *worker) list(ctx context.Context, cursor string, limit int) (page, error) {
	f := w.filter()
	f.Cursor, f.Limit = cursor, limit
	list, err := w.client.List(ctx, f)
	if err != nil {
		return page{}, err
	}
	return page{Runs: idsOf(list.Runs), Next: list.Next}, nil
}

// findFailures lists a page of runs that have failed in another job, and that are as the verb needs
// them now. It has no runs if none of them is.
func (w *worker) findFailures(ctx context.Context, cursor string, limit int) (page, error) {
	ids, next, err := failuresOf(ctx, w.client, &w.job, OutcomeFilter{Failures: true, Cursor: cursor, Limit: limit})
	if errors.Is(err, journal.ErrNotFound) || errors.Is(err, journal.ErrInvalid) {
		return page{}, workflow.Permanent(err) // the other job was deleted: it comes back by no waiting
	}
	if err != nil || len(ids) == 0 {
		return page{Next: next}, err
	}
	f := w.filter()
	found := page{Next: next}
	for f.IDs, f.Limit = ids, len(ids); ; { // a page may have fewer runs than there are ids
		list, err := w.client.List(ctx, f)
		if err != nil {
			return page{}, err
		}
		found.Runs = append(found.Runs, idsOf(list.Runs)...)
		if f.Cursor = list.Next; f.Cursor == "" {
			return found, nil
		}
	}
}

func idsOf(runs []journal.Run) (ids []journal.RunID) {
	for i := range runs {
		ids = append(ids, runs[i].ID)
	}
	return ids
}
