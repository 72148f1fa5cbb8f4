package temporal

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
)

// A Subscription sleeps for thirty days, sends a bill, and sleeps again, until a signal ends it.
const (
	Subscription workflow.Name[string, int] = "subscription"
	Unsubscribe  workflow.Signal[string]    = "subscription.end"
)

const month = 30 * 24 * time.Hour

// biller sends a bill. Calls with the same key are one call.
type biller func(ctx context.Context, key, customer string) error

func (b biller) subscription(ctx workflow.Context, customer string) (months int, err error) {
	for ended := false; ; months++ {
		_, err := workflow.Select(ctx,
			workflow.OnSignal(Unsubscribe, func(string) { ended = true }),
			workflow.OnTimer(workflow.NewTimer(ctx, month), nil))
		if err != nil || ended {
			return months, err // the timer ends with the run
		}
		err = workflow.Do(ctx, "bill", func(ctx context.Context) error { return b(ctx, workflow.IdempotencyKey(ctx), customer) }, nil)
		if err != nil {
			return months, err
		}
	}
}
