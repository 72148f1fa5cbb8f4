package bulk

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// Options of a start. The zero value means the defaults.
type Options struct {
	// Key of the job, see runtime.StartOptions.Key. A second start with it returns the same job,
	// also if that has ended, and is refused if what it should do, or to which runs, differs.
	Key string
}

// Start starts a job and returns a handle on it: its id is that of the run, its result what the job
// has done. Who acts, for the audit, is who starts it, see runtime.WithActor. It does not wait for
// the job, and a node must serve [Workflow], see [Handle]. o may be nil.
//
// Errors: journal.ErrInvalid for a job that cannot be done, with why, before anything is stored; a
// *[KeyError] if another job has the key; of one of Job.FailuresOf journal.ErrNotFound if that job
// is not there, and journal.ErrOpen if it has not ended; those of runtime.Start.
func Start(ctx context.Context, c *runtime.Client, job Job, o *Options) (*runtime.Run[Progress], error) {
	if err := job.check(); err != nil {
		return nil, err
	}
	if o == nil {
		o = &Options{}
	}
	if err := job.checkSource(ctx, c); err != nil {
		// A job that has the key is there already, whatever has become of what it read.
		if found, e := ByKey(ctx, c, job, o.Key); e != nil || found == nil {
			return nil, err
		}
	}
	first := state{Job: job.withDefaults(), Actor: c.Actor(ctx), Progress: Progress{Verb: job.Verb}}
	run, err := runtime.Start(ctx, c, name, first, &runtime.StartOptions{Key: o.Key})
	if err == nil && !run.Created() {
		err = compare(ctx, c, job, o.Key, run.ID())
	}
	if err != nil {
		return nil, err
	}
	return run, nil
}

// Count is a dry run: how many runs a job would act on if it were started now. capped says that
// there are more, see runtime.Client.Count. Errors: as those of [Start].
func Count(ctx context.Context, c *runtime.Client, job Job) (runs int, capped bool, err error) {
	if err := job.check(); err != nil {
		return 0, false, err
	}
	if !job.FailuresOf.IsZero() {
		if err := job.checkSource(ctx, c); err != nil {
			return 0, false, err
		}
		runs, err = countFailures(ctx, c, &job)
		return runs, false, err
	}
	return c.Count(ctx, job.filter(), journal.AggregateMax)
}

// RunOf returns a handle on a job that was started elsewhere.
func RunOf(c *runtime.Client, job journal.RunID) *runtime.Run[Progress] {
	return runtime.RunOf(c, name, job)
}

// ProgressOf returns what a job has done so far, or had done when it ended, however it did. Before
// a node has begun with the job there is none: the error is runtime.ErrNotPublished then. Other
// errors: those of runtime.Published.
func ProgressOf(ctx context.Context, c *runtime.Client, job journal.RunID) (Progress, error) {
	p, err := runtime.Published[Progress](ctx, c, job, published)
	if err != nil {
		return p, fmt.Errorf("progress of a bulk job: %w", err)
	}
	return p, nil
}
