package actor

import (
	"context"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// An interceptor stands in for bodies: it may call them, with the transaction, or not.
func TestIntercept(t *testing.T) {
	intercept := func(ctx context.Context, tx any, body replay.Body) (journal.Payload, error) {
		if sc := replay.StepContextFrom(ctx); sc.Step == "faked" {
			return sc.Encoder.Encode(sc.Step, "fake")
		}
		return body(ctx, tx)
	}
	bubble(t, func(o *Options) { o.Intercept = intercept }, func(g *rig) {
		g.define("both", func(ctx workflow.Context) (string, error) {
			a, err := workflow.Step(ctx, "faked", func(context.Context) (string, error) { panic("not faked") }, nil)
			if err != nil {
				return "", err
			}
			b, err := workflow.StepTx(ctx, "real", func(context.Context, *memoryTx) (string, error) { return "real", nil }, nil)
			return a + b, err
		})
		id := g.start("both")
		g.wantTxs("committed")
		if got := string(g.output(id)); got != `"fakereal"` {
			t.Errorf("output %s", got)
		}
	})
}

// output is what the closed run returned.
func (g *rig) output(id journal.RunID) []byte {
	g.store.mu.Lock()
	defer g.store.mu.Unlock()
	events := g.store.runs[id].events
	return events[len(events)-1].Payload.Data
}
