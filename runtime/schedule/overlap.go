package schedule

import (
	"context"
	"errors"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// place starts a slot or a trigger, or does with it what its policy says if a run is open. In the
// queue is what starts when all runs that are open now have ended.
func (r *runner) place(ctx workflow.Context, i item) error {
	if i.Overlap == Allow || !r.busy(false) {
		r.start(ctx, i)
		return nil
	}
	switch i.Overlap {
	case BufferOne:
		if len(r.Queue) == 0 {
			r.Queue = append(r.Queue, i)
			return nil
		}
	case BufferAll:
		if len(r.Queue) < r.buffer() {
			r.Queue = append(r.Queue, i)
			return nil
		}
	case CancelOther, TerminateOther:
		r.Counts.Skipped += len(r.Queue)
		r.Queue = []item{i}
		return r.stop(ctx, i.Overlap)
	}
	r.Counts.Skipped++
	return nil
}

func (r *runner) buffer() int {
	s := r.Schedule.withDefaults()
	return s.Buffer
}

// stop asks the open runs to end, or ends them. It asks each once, and terminates one that was
// asked.
func (r *runner) stop(ctx workflow.Context, how Overlap) error {
	reason := "the next run of schedule " + r.ID + " is due"
	for _, l := range r.open {
		if l.Backfill {
			continue
		}
		if how == TerminateOther {
			run := l.Run
			err := workflow.Do(ctx, "terminate", func(ctx context.Context) error { return terminate(ctx, r.client, run, reason) }, patiently)
			if err != nil {
				return err
			}
			continue
		}
		if l.Stopped {
			continue
		}
		l.Stopped = true
		err := workflow.CancelRun(ctx, l.Run, reason)
		if err != nil && !errors.Is(err, workflow.ErrRunClosed) && !errors.Is(err, workflow.ErrRunNotFound) {
			return err
		}
	}
	if how == TerminateOther {
		return r.look(ctx) // the end of those that are carried is not heard of
	}
	return nil
}

// terminate terminates a run, if it is open.
func terminate(ctx context.Context, c *runtime.Client, run journal.RunID, reason string) error {
	err := c.Terminate(ctx, run, reason)
	if errors.Is(err, journal.ErrClosed) || errors.Is(err, journal.ErrNotFound) {
		return nil
	}
	return err
}

// feed starts what has waited for the end of open runs.
func (r *runner) feed(ctx workflow.Context) error {
	for len(r.Queue) > 0 && !r.busy(false) {
		i := r.Queue[0]
		r.Queue = r.Queue[1:]
		if err := r.place(ctx, i); err != nil {
			return err
		}
	}
	return nil
}
