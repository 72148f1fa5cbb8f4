package bulk

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// A job of Job.FailuresOf reads its runs from the outcomes of another job, instead of a listing.
// The other one has ended, so what it tells does not change, and its pages are cursors as good as
// those of a listing: all else of a job is the same.

// checkSource refuses a job whose failures cannot be read, or may become more.
func (j *Job) checkSource(ctx context.Context, c *runtime.Client) error {
	if j.FailuresOf.IsZero() {
		return nil
	}
	row, err := rowOf(ctx, c, j.FailuresOf)
	if err != nil {
		return fmt.Errorf("the job whose failures are meant: %w", err)
	}
	if !row.Status.Closed() {
		return fmt.Errorf("the job whose failures are meant, %s, has not ended: wait until it has, or cancel it: %w: %w",
			j.FailuresOf, journal.ErrOpen, journal.ErrInvalid)
	}
	return nil
}

// countFailures counts the runs that a job of FailuresOf would act on.
func countFailures(ctx context.Context, c *runtime.Client, job *Job) (runs int, err error) {
	f := OutcomeFilter{Failures: true, Limit: journal.ListMax}
	for {
		ids, next, err := failuresOf(ctx, c, job, f)
		if err != nil {
			return 0, err
		}
		if len(ids) > 0 {
			lf := job.filter()
			lf.IDs = ids
			n, _, err := c.Count(ctx, lf, len(ids))
			if err != nil {
				return 0, err
			}
			runs += n
		}
		if f.Cursor = next; next == "" {
			return runs, nil
		}
	}
}

// failuresOf returns runs that have failed in the job that another one repeats.
func failuresOf(ctx context.Context, c *runtime.Client, job *Job, f OutcomeFilter) (ids []journal.RunID, next string, err error) {
	list, err := Outcomes(ctx, c, job.FailuresOf, &f)
	if err != nil {
		return nil, "", fmt.Errorf("failures of another job: %w", err)
	}
	for _, o := range list.Outcomes {
		if o.What != Failed {
			return nil, "", fmt.Errorf("bulk job %s does not tell all runs that have failed, as an earlier version executed it: choose the runs by a filter: %w", job.FailuresOf, journal.ErrInvalid)
		}
		ids = append(ids, o.Run)
	}
	return ids, list.Next, nil
}
