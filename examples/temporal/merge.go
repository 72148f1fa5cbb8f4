package temporal

import (
	"context"
	"slices"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Merge splits its work into parallel steps and takes their results in the order they end.
const Merge workflow.Name[[]string, []string] = "merge"

// part does one part.
type part func(ctx context.Context, what string) (string, error)

func (p part) merge(ctx workflow.Context, parts []string) ([]string, error) {
	var open []workflow.Future[string]
	for _, what := range parts {
		open = append(open, workflow.StepAsync(ctx, "part", func(ctx context.Context) (string, error) { return p(ctx, what) }, nil))
	}
	var merged []string
	for len(open) > 0 {
		i, v, err := workflow.First(ctx, open...)
		if err != nil {
			return merged, err
		}
		merged = append(merged, v)
		open = slices.Delete(open, i, i+1)
	}
	return merged, nil
}
