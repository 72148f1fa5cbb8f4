package bulk

import (
	"cmp"
	"context"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// PreviewMax is how many runs a preview is of: each costs a look at its history.
const PreviewMax = 20

// Would is what a job would do to one run: Back says what it would take back, or Error why it could
// not.
type Would struct {
	Run   journal.RunID
	Back  *runtime.Rewinding
	Error string // its beginning
}

// Preview is a dry run that says of the runs to which a job would come first, at most [PreviewMax],
// what it would do, if its verb goes back: [Retry], [Reset], [Fork], [Edit] and [Skip]. For other
// verbs there is nothing to say. code proves it, as [HandleProving] has it; nil proves nothing.
//
// Errors: as those of [Start].
func Preview(ctx context.Context, c *runtime.Client, code *runtime.Node, job Job) ([]Would, error) {
	err := job.check()
	if err == nil {
		err = job.checkSource(ctx, c)
	}
	if err != nil || !job.Verb.goesBack() {
		return nil, err
	}
	if code == nil {
		job.Unproven = true
	}
	w := worker{code: code, client: c, job: job.withDefaults()}
	var list []Would
	for cursor := ""; ; {
		p, err := w.listed(ctx, cursor, PreviewMax)
		if err != nil {
			return nil, fmt.Errorf("preview of a bulk job: %w", err)
		}
		for _, run := range p.Runs[:min(len(p.Runs), PreviewMax-len(list))] {
			back, err := w.goBack(ctx, run, true)
			if ctx.Err() != nil || isAway(err) {
				return nil, fmt.Errorf("preview of a bulk job: %w", cmp.Or(err, ctx.Err()))
			}
			one := Would{Run: run, Back: back}
			if err != nil {
				one.Back, one.Error = nil, clip(err.Error())
			}
			list = append(list, one)
		}
		if cursor = p.Next; cursor == "" || len(list) == PreviewMax {
			return list, nil
		}
	}
}
