package bulk

import (
	"context"
	"encoding/json"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// goesBack tells whether a verb takes events of runs back, of themselves or in copies.
func (v Verb) goesBack() bool {
	switch v {
	case Retry, Reset, Fork, Edit, Skip:
		return true
	}
	return false
}

// goBack takes events of a run back, of itself or in a copy. A dry run only says what it would do.
func (w *worker) goBack(ctx context.Context, run journal.RunID, dry bool) (*runtime.Rewinding, error) {
	j, proof := &w.job, w.code
	if j.Unproven {
		proof = nil
	}
	amend := &runtime.AmendOptions{Proof: proof, Unproven: j.Unproven, KeepChildren: j.KeepChildren, DryRun: dry}
	switch j.Verb {
	case Retry:
		return w.client.Retry(ctx, run, &runtime.RetryOptions{Again: j.Again, DryRun: dry})
	case Reset:
		return w.client.Reset(ctx, run, j.To, &runtime.ResetOptions{Proof: proof, Unproven: j.Unproven, DryRun: dry,
			NoMessages: j.NoMessages, Messages: j.Messages, KeepChildren: j.KeepChildren, Input: j.input(), Version: j.Version})
	case Fork:
		forked, err := w.client.Fork(ctx, run, j.To, &runtime.ForkOptions{Proof: proof, Unproven: j.Unproven, DryRun: dry,
			NoMessages: j.NoMessages, Messages: j.Messages, Input: j.input(), Version: j.Version, Queue: j.Queue, StepResults: j.results()})
		if err != nil {
			return nil, err
		}
		return &forked.Of, nil
	case Skip:
		return runtime.SkipMessageNamed(ctx, w.client, run, j.Message, amend)
	}
	return runtime.EditStep(ctx, w.client, run, runtime.StepResult{Name: j.Step}, j.payload(), amend)
}

// input is another input of the runs, nil for theirs.
func (j *Job) input() any {
	if len(j.Input) == 0 {
		return nil
	}
	return j.Input
}

func (j *Job) results() map[string]any {
	values := map[string]any{}
	for name, result := range j.Results {
		values[name] = result
	}
	return values
}

// payload is what a signal carries, or the result of a step.
func (j *Job) payload() json.RawMessage {
	if len(j.Payload) == 0 {
		return json.RawMessage("null")
	}
	return j.Payload
}
