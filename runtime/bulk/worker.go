package bulk

import (
	"context"
	"fmt"
	"math"
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
	f.Until = w.since.Add(time.Microsecond) // of which times in the store are multiples
	return f
}

// count finds out how many runs there are to act on.
func (w *worker) count(ctx context.Context) (Progress, error) {
	runs, capped, err := w.client.Count(ctx, w.filter(), journal.AggregateMax)
	return Progress{Runs: runs, Capped: capped}, err
}

// page is some of the runs of a job.
type page struct {
	Runs    []journal.RunID `json:"runs,omitempty"`
	Next    string          `json:"next,omitempty"`    // the cursor behind it, empty on the last
	Audited int64           `json:"audited,omitempty"` // the newest entry of the audit, before the page is acted on
}

// find lists a page.
func (w *worker) find(ctx context.Context, cursor string) (page, error) {
	f := w.filter()
	f.Cursor, f.Limit = cursor, pageMax
	if w.job.Rate > 0 {
		f.Limit = int(min(pageMax, math.Ceil(w.job.Rate*pageTime.Seconds())))
	}
	list, err := w.client.List(ctx, f)
	if err != nil {
		return page{}, err
	}
	p := page{Next: list.Next}
	for i := range list.Runs {
		p.Runs = append(p.Runs, list.Runs[i].ID)
	}
	if w.job.Verb.audited() {
		newest, err := w.client.Audit(ctx, journal.AuditFilter{Limit: 1})
		if err != nil {
			return page{}, err
		}
		if len(newest) > 0 {
			p.Audited = newest[0].Number
		}
	}
	return p, nil
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
