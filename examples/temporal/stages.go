package temporal

import (
	"fmt"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Stages waits for three signals that arrive in any order, handles them in a fixed order, and gives
// up if the next one is late.
const (
	Stages workflow.Name[time.Duration, string] = "stages"
	Stage1 workflow.Signal[string]              = "stage 1"
	Stage2 workflow.Signal[string]              = "stage 2"
	Stage3 workflow.Signal[string]              = "stage 3"
)

func stages(ctx workflow.Context, patience time.Duration) (string, error) {
	came := map[workflow.Signal[string]]string{}
	order := []workflow.Signal[string]{Stage1, Stage2, Stage3}
	for _, s := range order {
		workflow.Go(ctx, func(ctx workflow.Context) {
			if v, err := s.Receive(ctx); err == nil {
				came[s] = v
			}
		})
	}
	all := ""
	for _, s := range order {
		ok, err := workflow.AwaitTimeout(ctx, patience, func() bool { return came[s] != "" })
		switch {
		case err != nil:
			return all, err
		case !ok:
			return all, fmt.Errorf("%s is late, there was %q", s, all)
		}
		all += came[s]
	}
	return all, nil
}
