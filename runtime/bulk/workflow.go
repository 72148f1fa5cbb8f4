package bulk

import (
	"context"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

const (
	name      workflow.Name[state, Progress] = Workflow
	published                                = "progress" // under which a job publishes its Progress
)

// state is the input of a generation.
type state struct {
	Job      Job      `json:"job"`
	Actor    string   `json:"actor"`            // who has started the job
	Cursor   string   `json:"cursor,omitempty"` // behind the pages that are done
	Progress Progress `json:"progress"`
}

// Handle registers the workflow of jobs with a node, which executes them then. As
// [runtime.Handle] it must be called before the node runs.
func Handle(n *runtime.Node) { HandleProving(n, n) }

// HandleProving is Handle for a node whose jobs of the verbs [Reset], [Fork], [Edit] and [Skip] are
// proved by the code of another one, which need not run: see runtime.ResetOptions.Proof.
func HandleProving(n, code *runtime.Node) {
	runtime.Handle(n, name, func(ctx workflow.Context, s state) (Progress, error) { return run(ctx, n.Client(), code, s) }, nil)
}

// run is the workflow: it finds a page, acts on it and tells its progress, until there is no page
// any more. A history with many pages is left behind, with the cursor and the counts in the input
// of the next one.
func run(ctx workflow.Context, client *runtime.Client, code *runtime.Node, s state) (Progress, error) {
	if err := s.Job.check(); err != nil { // it was not started by Start
		return s.Progress, err
	}
	w := worker{code: code, client: client, job: s.Job.withDefaults(), id: ctx.Info().Run, actor: s.Actor, since: ctx.Info().StartAt}
	if ctx.Info().Generation == 1 {
		counted, err := workflow.Step(ctx, "count", w.count, patiently)
		if err != nil {
			return s.Progress, err
		}
		s.Progress.Runs, s.Progress.Capped = counted.Runs, counted.Capped
	}
	for {
		workflow.Publish(ctx, published, s.Progress)
		cursor := s.Cursor
		p, err := workflow.Step(ctx, stepFind, func(ctx context.Context) (page, error) { return w.find(ctx, cursor) }, patiently)
		if err != nil {
			return s.Progress, err
		}
		for runs := p.Runs; len(runs) > 0; {
			t, err := workflow.Step(ctx, stepAct, func(ctx context.Context) (tally, error) { return w.act(ctx, &p, runs) }, patiently)
			if err != nil {
				return s.Progress, err
			}
			s.Progress.add(&t)
			runs = runs[t.Tried:]
			workflow.Publish(ctx, published, s.Progress)
		}
		if s.Cursor = p.Next; s.Cursor == "" {
			return s.Progress, nil
		}
		if ctx.ShouldContinue() {
			return s.Progress, workflow.ContinueAsNew(ctx, name, s, nil)
		}
	}
}

// patiently repeats a step for as long as the store is away.
var patiently = &workflow.StepOptions{Retry: &workflow.RetryPolicy{Max: retryMax}}
