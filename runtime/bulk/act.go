package bulk

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/internal/once"
)

// act acts on the runs that are left of a page, several at once and no faster than the job's rate,
// and returns what came of them. When ctx ends it begins with no further run and waits for those
// that it has begun with, so what it returns is of the first runs of the list, and definite: the
// workflow goes on behind them.
//
// The step may be repeated after its node has died, with the same runs: those that the job has
// acted on since the page was listed are done.
//
// An error means that the store is away. The step is repeated as a whole then, which is the same
// case.
func (w *worker) act(ctx context.Context, p *page, runs []journal.RunID) (tally, error) {
	runs = runs[:min(len(runs), w.tallyMax())]
	acted, err := w.acted(ctx, p.Audited)
	if err != nil {
		return tally{}, err
	}
	inner, giveUp := context.WithCancel(ctx)
	defer giveUp()
	var begun sync.WaitGroup
	pace, slots, errs := newPace(w.job.Rate), make(chan struct{}, w.job.Concurrency), make([]error, len(runs))
	tried := 0
	for ; tried < len(runs) && inner.Err() == nil; tried++ {
		i := tried
		if acted[runs[i]] {
			continue
		}
		slots <- struct{}{} // for no longer than a call takes
		if !pace.wait(inner) {
			break
		}
		begun.Go(func() {
			defer func() { <-slots }()
			if errs[i] = w.actOn(ctx, p, runs[i]); isAway(errs[i]) {
				giveUp()
			}
		})
	}
	begun.Wait()
	var t tally
	for i, run := range runs[:tried] {
		if isAway(errs[i]) {
			return tally{}, errs[i]
		}
		t.note(run, outcomeOf(errs[i]), errs[i])
	}
	if tried == len(runs) && p.Next != "" {
		pace.wait(ctx) // so that the next page begins in time
	}
	return t, nil
}

// tallyMax is of how many runs the tally is a payload that may be stored if all of them fail.
func (w *worker) tallyMax() int {
	return max(1, runtime.JournalOf(w.client).Options().PayloadBytesMax/failureJSONMax)
}

// acted returns the runs that the job has acted on since an entry of the audit. As a rule there is
// no newer entry, and one is read.
func (w *worker) acted(ctx context.Context, audited int64) (map[journal.RunID]bool, error) {
	if !w.job.Verb.audited() {
		return nil, nil
	}
	acted := map[journal.RunID]bool{}
	for f := (journal.AuditFilter{Limit: 1}); ; f.Limit = journal.ListMax {
		list, err := w.client.Audit(ctx, f)
		if err != nil {
			return nil, err
		}
		for _, e := range list {
			if e.Number <= audited {
				return acted, nil
			}
			if w.isMine(e) {
				acted[e.Run] = true
			}
			f.Before = e.Number
		}
		if len(list) == 0 {
			return acted, nil
		}
	}
}

// actOn acts on one run of a page, once: the node that had the page before may not know yet that it
// has lost it, and then acts too. A run that is not as the verb needs it may be so because the job
// has acted. The end of the step does not end the call, so that its answer is definite.
func (w *worker) actOn(ctx context.Context, p *page, run journal.RunID) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTime)
	defer cancel()
	ctx = once.With(ctx, &once.Action{Fork: w.forkOf(run), Mark: w.mark(), After: p.Audited})
	err := w.do(runtime.WithReason(runtime.WithActor(ctx, w.actor), w.reason()), run)
	if !isAnother(err) && !w.isSkipped(err) || !w.job.Verb.audited() {
		return err
	}
	acted, away := w.hasActed(ctx, run)
	switch {
	case acted || away != nil:
		return away
	case errors.Is(err, journal.ErrOpen):
		return journal.ErrClosed // as when somebody else has done what is wanted
	}
	return err
}

// isAnother tells whether a call is refused because the run is closed, open or gone.
func isAnother(err error) bool {
	return errors.Is(err, journal.ErrClosed) || errors.Is(err, journal.ErrOpen) || errors.Is(err, journal.ErrNotFound)
}

// isSkipped tells whether a skip is refused for want of a message with its name: the job may have
// left it out.
func (w *worker) isSkipped(err error) bool {
	return w.job.Verb == Skip && errors.As(err, new(*runtime.PointError))
}

// do does what the job is for.
func (w *worker) do(ctx context.Context, run journal.RunID) error {
	switch w.job.Verb {
	case Cancel:
		return w.client.Cancel(ctx, run, w.reason())
	case Terminate:
		return w.client.Terminate(ctx, run, w.reason())
	case Pause:
		return w.client.Pause(ctx, run, &runtime.PauseOptions{FreezeTimers: w.job.FreezeTimers, CancelSteps: w.job.CancelSteps})
	case Resume:
		return w.client.Resume(ctx, run)
	case SetLabels:
		return w.client.SetLabels(ctx, run, w.job.Labels, w.job.RemoveLabels)
	case SetPriority:
		return w.client.SetPriority(ctx, run, w.job.Priority)
	case Delete:
		return w.client.Delete(ctx, run)
	case Retry, Reset, Fork, Edit, Skip:
		_, err := w.goBack(ctx, run, false)
		return err
	}
	return runtime.Signal(ctx, w.client, run, workflow.Signal[json.RawMessage](w.job.Signal), w.job.payload(), &runtime.SignalOptions{Key: w.mark()})
}

// hasActed tells whether the job has acted on a run.
func (w *worker) hasActed(ctx context.Context, run journal.RunID) (bool, error) {
	list, err := w.client.Audit(ctx, journal.AuditFilter{Run: run, Verb: string(w.job.Verb), Limit: journal.ListMax})
	return slices.ContainsFunc(list, w.isMine), err
}

// isMine tells whether an entry of the audit is of something that the job has done.
func (w *worker) isMine(e journal.AuditEntry) bool {
	return e.Verb == string(w.job.Verb) && strings.HasPrefix(e.Reason, w.mark())
}

// forkOf is the id of the fork that the job makes of a run, whoever makes it: as old as the job,
// and else drawn from both.
func (w *worker) forkOf(run journal.RunID) journal.RunID {
	id := uuid.UUID(w.id)
	drawn := uuid.NewSHA1(id, run[:])
	copy(drawn[:6], id[:6])
	drawn[6] = drawn[6]&0x0f | 0x70 // version 7, whose first bytes are the time
	return journal.RunID(drawn)
}

// isAway tells whether a call has no answer because the store is not there: that is nothing about
// its run.
func isAway(err error) bool {
	return errors.Is(err, journal.ErrUnavailable) || errors.Is(err, journal.ErrStoreClosed)
}

// outcomeOf is what the answer to a call means.
func outcomeOf(err error) What {
	switch {
	case err == nil:
		return Done
	case errors.Is(err, journal.ErrClosed), errors.Is(err, journal.ErrNotFound):
		return NotNeeded
	}
	return Failed
}
