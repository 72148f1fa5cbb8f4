package bulk

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// KeyError says that a key belongs to another job than the one that was to be started. It is a
// *journal.KeyConflictError too.
type KeyError struct {
	Key string
	Run journal.RunID // the job that has the key
	Job Job           // what it does
	of  string        // how it differs, if verb and filter are those that were asked for
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("key %q belongs to another job, %s: %s%s", e.Key, e.Run, &e.Job, e.of)
}

// Unwrap returns the *journal.KeyConflictError that it is.
func (e *KeyError) Unwrap() error {
	return &journal.KeyConflictError{Key: e.Key, Run: e.Run, Workflow: Workflow}
}

// String is the verb of a job, and which runs it is for.
func (j *Job) String() string {
	switch {
	case j.All:
		return fmt.Sprintf("%s all runs", j.Verb)
	case !j.FailuresOf.IsZero():
		return fmt.Sprintf("%s the runs that failed in job %s", j.Verb, j.FailuresOf)
	}
	return fmt.Sprintf("%s runs where %s", j.Verb, clip(j.Where))
}

// ByKey returns the job that [Start] would go on with, because it has the key and is the same, or
// nil if Start would make one. The job may have ended: nothing is done then. Reason, Rate and
// Concurrency may differ.
//
// Errors: a *[KeyError] if another job has the key, a *journal.KeyConflictError if a run of another
// workflow has it; journal.ErrInvalid for a job that cannot be done or what no run can have as its
// key; ctx's.
func ByKey(ctx context.Context, c *runtime.Client, job Job, key string) (*journal.Run, error) {
	if err := job.check(); err != nil || key == "" {
		return nil, err
	}
	if err := journal.CheckKey("key", key); err != nil {
		return nil, fmt.Errorf("bulk job: %w", err)
	}
	page, err := c.List(ctx, journal.ListFilter{Key: key, Limit: 1})
	if err != nil || len(page.Runs) == 0 {
		return nil, err
	}
	run := &page.Runs[0]
	if run.Workflow != Workflow {
		return nil, &journal.KeyConflictError{Key: key, Run: run.ID, Workflow: run.Workflow}
	}
	return run, compare(ctx, c, job, key, run.ID)
}

// compare refuses a job that is another one than the one that has its key.
func compare(ctx context.Context, c *runtime.Client, job Job, key string, has journal.RunID) error {
	found, err := runtime.Input[state](ctx, c, has)
	if err != nil {
		return fmt.Errorf("the job that has the key %q: %w", key, err)
	}
	asked, kept := job.deed(), found.Job.deed()
	if bytes.Equal(asked, kept) {
		return nil
	}
	e := &KeyError{Key: key, Run: has, Job: found.Job}
	if e.Job.String() == job.String() {
		e.of = fmt.Sprintf(", as %s, and not as %s", clip(string(kept)), clip(string(asked)))
	}
	return e
}

// deed is what the job does to which runs: all but why, and how fast.
func (j Job) deed() []byte {
	j.Reason, j.Rate, j.Concurrency = "", 0, 0
	b, err := json.Marshal(j)
	if err != nil { // check has found its payload to be JSON, and the store had the other one
		panic(fmt.Sprintf("bulk: %v", err))
	}
	return b
}
