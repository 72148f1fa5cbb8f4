package acceptance_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// TestStepTxThatWaitsForAStepTxIsReported: all places of such steps are taken by those who wait for
// one. A line names the run, the step and the option; when one gives up, the other goes on.
func TestStepTxThatWaitsForAStepTxIsReported(t *testing.T) {
	c := clustertest.New(t)
	var log clustertest.Log
	j := journal.New(c.Store(c.DSN, &postgres.Options{PoolSize: 4, StepTxMax: 1}), nil)
	o := c.Options()
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	const outer, inner workflow.Name[int, string] = "outer", "inner"
	began, giveUp := make(chan struct{}), make(chan struct{})
	n := c.RunOn(j, o, func(n *runtime.Node) {
		runtime.Handle(n, outer, func(ctx workflow.Context, _ int) (string, error) {
			return workflow.StepTx(ctx, "waits", func(context.Context, pgx.Tx) (string, error) {
				close(began)
				<-giveUp
				return "gave up", nil
			}, nil)
		}, nil)
		runtime.Handle(n, inner, func(ctx workflow.Context, _ int) (string, error) {
			return workflow.StepTx(ctx, "has no place", func(context.Context, pgx.Tx) (string, error) { return "done", nil }, nil)
		}, nil)
	})
	ctx := clustertest.Context(t)
	a, err := runtime.Start(ctx, n.Client(), outer, 1, nil)
	first := clustertest.MustStart(t, a, err)
	<-began
	b, err := runtime.Start(ctx, n.Client(), inner, 1, nil)
	second := clustertest.MustStart(t, b, err)
	clustertest.Until(t, "the step is reported", func() bool {
		for line := range strings.Lines(log.String()) {
			if strings.Contains(line, "waits for its transaction") && strings.Contains(line, second.ID().String()) &&
				strings.Contains(line, "has no place") && strings.Contains(line, "postgres.Options.StepTxMax=1") {
				return true
			}
		}
		return false
	})
	close(giveUp)
	if got := clustertest.MustResult(t, first) + ", " + clustertest.MustResult(t, second); got != "gave up, done" {
		t.Error(got)
	}
}
