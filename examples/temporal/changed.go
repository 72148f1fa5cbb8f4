package temporal

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// A Watch looks after a house once a day. Its code changes while runs are open: the new code asks
// who is at home before it looks, and rings before the first day. Each turn of the loop asks about
// the change anew, so that open runs get the new turns too.
const Watch workflow.Name[int, []string] = "watch"

// watchBefore is the code before the change.
func watchBefore(ctx workflow.Context, days int) (seen []string, err error) {
	for range days {
		if err := look(ctx, "look", &seen); err != nil {
			return seen, err
		}
		if err := workflow.Sleep(ctx, 24*time.Hour); err != nil {
			return seen, err
		}
	}
	return seen, nil
}

func watch(ctx workflow.Context, days int) (seen []string, err error) {
	if workflow.Changed(ctx, "ring first") { // false for runs that are past this point
		if err := look(ctx, "ring", &seen); err != nil {
			return seen, err
		}
	}
	for range days {
		today := workflow.ChangeScope(ctx)
		if workflow.Changed(today, "ask who is there") {
			if err := look(ctx, "ask", &seen); err != nil {
				return seen, err
			}
		}
		if err := look(ctx, "look", &seen); err != nil {
			return seen, err
		}
		if err := workflow.Sleep(ctx, 24*time.Hour); err != nil {
			return seen, err
		}
	}
	return seen, nil
}

func look(ctx workflow.Context, what string, seen *[]string) error {
	v, err := workflow.Step(ctx, what, func(context.Context) (string, error) { return what, nil }, nil)
	*seen = append(*seen, v)
	return err
}
