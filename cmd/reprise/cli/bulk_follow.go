package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/mattn/go-isatty"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/bulk"
	"github.com/reprise-run/reprise/ui/record"
)

// drainJob is how long an interrupted verb waits before it makes the job's page end early.
const drainJob = 100 * time.Millisecond

// jobNode is a node that executes bulk jobs and nothing else. An empty name is the default one.
func (c *call) jobNode(name string) *runtime.Node {
	o := runtime.NodeOptions{Name: name, Drain: drainJob, Logger: silent}
	if c.a.o.Client != nil {
		o.Interceptors = c.a.o.Client.Interceptors
	}
	n := runtime.NewNode(c.journal.Journal, &o)
	if c.a.o.Register != nil {
		bulk.HandleProving(n, c.node())
	} else {
		bulk.Handle(n)
	}
	return n
}

// followJob executes jobs in this process until one has ended, and shows its progress meanwhile. If
// the verb is interrupted the job stays: its node hands it back.
func (c *call) followJob(job journal.RunID) error {
	c.note("job %s", job)
	n := c.jobNode("")
	ctx, stop := context.WithCancel(c.ctx)
	defer stop()
	served, ended := make(chan error, 1), make(chan struct{})
	go func() { served <- n.Run(ctx) }()
	go func() {
		defer close(ended)
		_, _ = bulk.RunOf(n.Client(), job).Result(ctx) // how it ended is read from its row
	}()
	err := c.showProgress(job, ended, served)
	stop()
	<-ended
	if err != nil {
		return err // of the node
	}
	if err := <-served; err != nil {
		return err
	}
	if c.ctx.Err() != nil {
		return c.interrupted(job)
	}
	return c.jobEnded(job, false)
}

// showProgress tells people on a terminal how far a job is, until it has ended or the node has.
func (c *call) showProgress(job journal.RunID, ended <-chan struct{}, served chan error) error {
	out, isFile := c.ErrOrStderr().(*os.File)
	shown, tick := "", time.NewTicker(pollDefault)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return nil
		case err := <-served:
			served <- nil
			return err
		case <-tick.C:
		}
		if !isFile || !isatty.IsTerminal(out.Fd()) {
			continue
		}
		p, err := bulk.ProgressOf(c.ctx, c.client, job)
		rec := record.BulkOf(p)
		if text := bulkCounts(&rec); err == nil && text != shown {
			shown = text
			fmt.Fprintln(out, text)
		}
	}
}

// interrupted says how to go on with a job, or end it.
func (c *call) interrupted(job journal.RunID) error {
	code, name := ExitFailed, c.a.o.Name
	if errors.Is(c.ctx.Err(), context.DeadlineExceeded) {
		code = ExitTimeout
	}
	return &codedError{code: code, cause: c.ctx.Err(),
		text: fmt.Sprintf("job %s is not over: it goes on where a node serves it", job),
		how:  fmt.Sprintf("%s bulk watch %s goes on with it, %s run cancel %s aborts it", name, job, name, job)}
}

// jobEnded prints what a job has done, and makes its end that of the verb. before says that it had
// ended when the verb began.
func (c *call) jobEnded(job journal.RunID, before bool) error {
	row, err := c.rowOf(job)
	if err != nil {
		return err
	}
	failures, err := tellJob(c, row, before)
	switch {
	case err != nil:
		return err
	case row.Status != journal.Completed:
		return failed(ExitFailed, "run show JOB says why; what it had not come to is untouched", "the job is %s", row.Status)
	case failures > 0:
		return failed(ExitFailed, "", "%d runs failed", failures)
	}
	return nil
}

// tellJob prints what a job has done, and returns how many runs have failed.
func tellJob(c *call, row *journal.Run, before bool) (failures int, err error) {
	p, err := bulk.ProgressOf(c.ctx, c.client, row.ID)
	if err != nil && !errors.Is(err, runtime.ErrNotPublished) { // no node has begun with it
		return 0, err
	}
	rec := record.BulkOf(p)
	rec.Run, rec.Status, rec.EndedBefore = row.ID.String(), row.Status.String(), before
	return p.Failed, printOne(c.out, &rec, func(_ *printer, r *record.Bulk) string { return bulkText(r) })
}
