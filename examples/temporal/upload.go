package temporal

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Upload sends many records in one step. The step's heartbeats say how far it is. When an attempt
// fails, or does not heartbeat in time, the next attempt continues from there.
const Upload workflow.Name[int, int] = "upload"

// sender takes one record. It may get a record twice.
type sender func(ctx context.Context, record int) error

func (s sender) upload(ctx workflow.Context, records int) (sent int, err error) {
	return workflow.Step(ctx, "upload", func(ctx context.Context) (int, error) {
		next, _ := workflow.LastHeartbeat[int](ctx) // 0 in the first attempt
		for ; next < records; next++ {
			if err := s(ctx, next); err != nil {
				return 0, err
			}
			if err := workflow.Heartbeat(ctx, next+1); err != nil {
				return 0, err
			}
		}
		return next, nil
	}, &workflow.StepOptions{HeartbeatTimeout: time.Minute})
}
