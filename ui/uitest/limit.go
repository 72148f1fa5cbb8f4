package uitest

import (
	"context"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// Asker is a workflow whose input is a key of the limit that its runs need.
const Asker workflow.Name[string, string] = "asker"

// Bank is that limit.
const Bank = "bank/api <b>é</b>"

// registerAsker registers a workflow whose step hangs, while it holds the limit, until its run
// ends.
func registerAsker(n *runtime.Node) {
	runtime.Handle(n, Asker, func(ctx workflow.Context, key string) (string, error) {
		return workflow.Step(ctx, "ask", func(ctx context.Context) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}, &workflow.StepOptions{Limits: []workflow.StepLimit{{Name: Bank, Key: key}}})
	}, nil)
}

// Ask starts a run of Asker, and waits until so many claims are held or wait.
func (s *Server) Ask(t testing.TB, key string, claims int) journal.RunID {
	t.Helper()
	ctx := clustertest.Context(t)
	run, err := runtime.Start(ctx, s.Client, Asker, key, nil)
	id := clustertest.MustStart(t, run, err).ID()
	clustertest.Until(t, "the run holds the limit, or waits for it", func() bool {
		page, err := runtime.Limits(ctx, s.Client, &journal.LimitFilter{Name: Bank, Claims: journal.ListMax})
		return err == nil && len(page.Claims) == claims
	})
	return id
}
