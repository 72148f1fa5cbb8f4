package runtime_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// TestBodiesThatHang: bodies that ignore their context are counted and in the log with their stack,
// and steps of other workflows are executed, until too many slots have been given away.
func TestBodiesThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, reader := new(clustertest.Log), sdkmetric.NewManualReader()
		n := runtime.NewNode(journal.New(memory.New(nil), nil), &runtime.NodeOptions{
			StepsMax: 1, Drain: time.Second, Logger: slog.New(slog.NewTextHandler(log, nil)),
			MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader)),
		})
		release := make(chan struct{})
		runtime.Handle(n, waiter, func(ctx workflow.Context, step string) (string, error) {
			return workflow.Step(ctx, step, func(context.Context) (string, error) { <-release; return step, nil },
				&workflow.StepOptions{AttemptTimeout: time.Second, Retry: &workflow.RetryPolicy{Initial: time.Hour}})
		}, nil)
		runtime.Handle(n, greet, func(ctx workflow.Context, in string) (string, error) {
			return workflow.Step(ctx, "work", func(context.Context) (string, error) { return in, nil }, nil)
		}, nil)
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- n.Run(ctx) }()
		for i, line := range []string{
			"level=WARN msg=\"a step's body ignores its context and goes on; its slot is given to others\"",
			"level=WARN msg=\"a step's body ignores its context and goes on; its slot is given to others\"",
			"level=ERROR msg=\"a step's body ignores its context and goes on; it keeps its slot, because too many such bodies have given theirs\"",
		} {
			step := fmt.Sprint("hangs ", i)
			hung, err := runtime.Start(ctx, n.Client(), waiter, step, nil)
			clustertest.MustStart(t, hung, err)
			time.Sleep(5 * time.Second)
			if got := counted(t, reader, "reprise.step.abandoned"); got != int64(i+1) {
				t.Errorf("%d bodies count as abandoned", got)
			}
			said := ""
			for l := range strings.Lines(log.String()) {
				if strings.Contains(l, line) && strings.Contains(l, step) {
					said = l
				}
			}
			for _, part := range []string{"bodies=1 ", "at=\"runtime_test.TestBodiesThatHang.", "(hang_test.go:", "stack=\"goroutine "} {
				if !strings.Contains(said, part) {
					t.Errorf("the line of %s has no %q: %s", step, part, said)
				}
			}
			if i < 2 {
				run, err := runtime.Start(ctx, n.Client(), greet, "fine", nil)
				if got := clustertest.MustResult(t, clustertest.MustStart(t, run, err)); got != "fine" {
					t.Errorf("beside it: %s", got)
				}
			}
		}
		close(release)
		synctest.Wait()
		if got := counted(t, reader, "reprise.step.abandoned"); got != 0 {
			t.Errorf("%d bodies count as abandoned after they have returned", got)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
