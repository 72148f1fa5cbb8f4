package bulk

import (
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// worker does the work of a job outside of its workflow.
type worker struct {
	code   *runtime.Node // that proves resets
	client *runtime.Client
	job    Job
	id     journal.RunID // of the job
	actor  string
	since  time.Time // when the job was started
}

// filter selects the job's runs.
func (w *worker) filter() journal.ListFilter {
	f := w.job.filter()
	if !w.since.IsZero() { // it is no preview
		f.Until = w.since.Add(time.Microsecond) // of which times in the store are multiples
	}
	return f
}

// mark begins the reason of whatever the job does. Reasons are cut at their end, so it stays.
func (w *worker) mark() string { return fmt.Sprintf("bulk job %s", w.id) }

// reason is why the job acts, for the audit and for histories.
func (w *worker) reason() string {
	if w.job.Reason == "" {
		return w.mark()
	}
	return w.mark() + ": " + w.job.Reason
}
