package schedule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// runner is the code of a schedule's run: its state, and what it waits for.
//
// There are two lines of open runs, which do not look at each other: that of backfills, and that of
// slots and triggers.
type runner struct {
	state
	client  *runtime.Client
	open    []*live
	removed bool
	overdue int    // turns since the history is long
	digest  string // of the schedule; empty until it is asked for

	timer    workflow.Timer
	timerDue time.Time // zero if there is no timer

	planned bool      // what follows holds until wakeAt
	next    time.Time // the slot that comes; zero if there is none
	wakeAt  time.Time // when there is something to decide; zero for never
	note    string    // what daylight saving does to next

	lookAt time.Time // when to ask again for open runs of which this generation does not hear; zero for never
	paceAt time.Time // when a backfill goes on that starts its runs all at once
}

// live is an open run. The schedule hears of its end, unless an earlier generation has started it.
type live struct {
	opened
	end     workflow.Child[ignored]
	carried bool
}

// ignored takes whatever a run returns.
type ignored struct{}

// UnmarshalJSON implements json.Unmarshaler.
func (*ignored) UnmarshalJSON([]byte) error { return nil }

// busy tells whether a run of a line is open.
func (r *runner) busy(backfill bool) bool {
	return slices.ContainsFunc(r.open, func(l *live) bool { return l.Backfill == backfill })
}

// start starts the run of a slot or a trigger. The commit of this turn writes the run together with
// the cursor behind its slot, in the history that it belongs to, so a slot has one run however
// often a node dies. The key says the same to everybody else: to a backfill, and to a schedule of
// the same name that is made anew.
func (r *runner) start(ctx workflow.Context, i item) {
	st, key := &r.Schedule.Start, KeyOf(r.ID, i.Slot)
	o := workflow.ChildOptions{
		Queue: st.Queue, Version: st.Version, Priority: st.Priority, Headers: st.Headers, Timeout: time.Duration(st.Timeout), OnFailure: st.OnFailure,
		Limits: st.Limits,
		Labels: r.Schedule.labels(r.ID, i.Slot), OnParentClose: workflow.CloseAbandon, OnCancel: workflow.Abandon,
	}
	if o.Key = key; i.Trigger != "" {
		o.Key = keyOfTrigger(r.ID, i.Trigger)
	}
	if o.Queue == "" {
		o.Queue = journal.DefaultQueue
	}
	if i.Backfill {
		o.Reuse = workflow.ReuseAllowIfFailed
	}
	input := st.Input
	if len(input) == 0 {
		input = json.RawMessage("null")
	}
	child := workflow.CallAsync(ctx, workflow.Name[json.RawMessage, ignored](st.Workflow), input, &o)
	if child.ID().IsZero() {
		// What was checked only a codec refuses, such as one that has no key on this machine. So
		// nothing of the turn is written, and the slot starts, late, when a node can.
		if _, err := child.Get(ctx); ctx.Err() == nil {
			panic(fmt.Errorf("schedule %q: its run cannot be started: %w", r.ID, err))
		}
		return // the schedule is being cancelled
	}
	r.open = append(r.open, &live{opened: opened{Run: child.ID(), Backfill: i.Backfill}, end: child})
	if len(r.open) > openTracked {
		r.open = r.open[1:]
	}
	r.Counts.Started++
	r.Last = &StartedRun{Run: child.ID(), Slot: i.Slot, At: ctx.Now()}
}

// ended takes the runs out that have ended, and counts their outcomes.
func (r *runner) ended(ctx workflow.Context) error {
	unclear, err := r.unclear(ctx)
	if err != nil {
		return err
	}
	r.open = slices.DeleteFunc(r.open, func(l *live) bool {
		if l.carried || !l.end.Ready() {
			return false
		}
		_, err := l.end.Get(ctx)
		status, asked := unclear[l.Run.String()]
		switch {
		case err == nil:
			r.tally(journal.Completed, l, nil)
		case asked:
			r.tally(status, l, err)
		case errors.Is(err, workflow.ErrKeyExists):
			r.Counts.Started--
			r.Counts.Existed++
		case errors.Is(err, workflow.ErrLimitFull):
			r.Counts.Started--
			r.Counts.Skipped++
			r.Refused = clip(err.Error())
		case errors.Is(err, workflow.ErrTerminated):
		case errors.Is(err, workflow.ErrCancelled):
			return false // it has ended since the store was asked
		default:
			r.tally(journal.Failed, l, err)
		}
		return true
	})
	return nil
}

// unclear asks the store what has become of runs whose error does not say it: one that matches
// ErrCancelled is that of a run which was cancelled, or of one that failed because something of its
// own was.
func (r *runner) unclear(ctx workflow.Context) (map[string]journal.Status, error) {
	var ids []journal.RunID
	for _, l := range r.open {
		if l.carried || !l.end.Ready() {
			continue
		}
		if _, err := l.end.Get(ctx); errors.Is(err, workflow.ErrCancelled) {
			ids = append(ids, l.Run)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	found, err := r.ask(ctx, ids)
	for _, id := range ids {
		if _, exists := found[id.String()]; err == nil && !exists { // it was deleted: nobody knows
			found[id.String()] = journal.Cancelled
		}
	}
	return found, err
}

// ask asks the store for the statuses of runs.
func (r *runner) ask(ctx workflow.Context, ids []journal.RunID) (map[string]journal.Status, error) {
	return workflow.Step(ctx, "look", func(ctx context.Context) (map[string]journal.Status, error) { return statuses(ctx, r.client, ids) }, patiently)
}

// tally counts one outcome, and pauses the schedule if too many runs in a row have failed.
func (r *runner) tally(status journal.Status, l *live, err error) {
	switch status {
	case journal.Completed:
		r.Counts.Completed++
		if !l.Backfill {
			r.Failures = 0
		}
	case journal.Failed:
		r.Counts.Failed++
		if l.Backfill {
			return
		}
		if r.Failures++; r.Schedule.PauseAfter > 0 && r.Failures >= r.Schedule.PauseAfter && r.Paused == "" {
			why := fmt.Sprintf("%d runs in a row have failed, the last one is %s", r.Failures, l.Run)
			if err != nil {
				why += ": " + err.Error()
			}
			r.halt(why)
		}
	}
}

// halt pauses the schedule. What waits for an open run is left out.
func (r *runner) halt(why string) {
	r.Paused, r.Behind = clip(why), false
	r.Counts.Skipped += len(r.Queue)
	r.Queue = nil
}

// clip makes a text of bounded size.
func clip(text string) string {
	if len(text) > textBytesMax {
		return strings.ToValidUTF8(text[:textBytesMax], "") + "…"
	}
	return text
}

// look asks the store what has become of the runs that an earlier generation has started.
func (r *runner) look(ctx workflow.Context) error {
	var ids []journal.RunID
	for _, l := range r.open {
		if l.carried {
			ids = append(ids, l.Run)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := r.ask(ctx, ids)
	if err != nil {
		return err
	}
	r.open = slices.DeleteFunc(r.open, func(l *live) bool {
		status, exists := found[l.Run.String()]
		if !l.carried || exists && status == journal.Open {
			return false
		}
		if exists {
			r.tally(status, l, nil)
		}
		return true
	})
	return nil
}

// lookNow asks for carried runs, at a pace, while something waits for their end.
func (r *runner) lookNow(ctx workflow.Context) error {
	waits := slices.ContainsFunc(r.open, func(l *live) bool {
		return l.carried && (l.Backfill && len(r.Backfills) > 0 || !l.Backfill && len(r.Queue) > 0)
	})
	switch now := ctx.Now(); {
	case !waits:
		r.lookAt = time.Time{}
		return nil
	case r.lookAt.IsZero():
		r.lookAt = now.Add(lookPace)
		return nil
	case now.Before(r.lookAt):
		return nil
	default:
		r.lookAt = now.Add(lookPace)
		return r.look(ctx)
	}
}

// statuses returns the statuses of runs; those that do not exist have none.
func statuses(ctx context.Context, c *runtime.Client, ids []journal.RunID) (map[string]journal.Status, error) {
	found := map[string]journal.Status{}
	for chunk := range slices.Chunk(ids, listPage) {
		for f := (journal.ListFilter{IDs: chunk, Limit: listPage}); ; { // a page may have fewer runs than there are ids
			page, err := c.List(ctx, f)
			if err != nil {
				return nil, err
			}
			for i := range page.Runs {
				found[page.Runs[i].ID.String()] = page.Runs[i].Status
			}
			if f.Cursor = page.Next; f.Cursor == "" {
				break
			}
		}
	}
	return found, nil
}

// patiently repeats a step for as long as the store is away.
var patiently = &workflow.StepOptions{Retry: &workflow.RetryPolicy{Max: patienceMax}}
