package uitest

import (
	"context"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/flows"
	"github.com/reprise-run/reprise/runtime/schedule"
)

// The flows of a Server.
const (
	Fulfil   workflow.Name[string, flow.Results] = "fulfil"
	Returns  workflow.Name[string, flow.Results] = "returns"
	Approved workflow.Signal[string]             = "approved"
)

// registerMore registers what is not a workflow of Order's kind.
func registerMore(n *runtime.Node) {
	schedule.Handle(n)
	registerAsker(n)
	fulfil, returns := Flows()
	flows.Handle(n, fulfil, nil)
	flows.Handle(n, returns, nil)
}

// Flows declares the flows: one with lines that pass several layers, a condition that does not
// hold, and another flow in it.
func Flows() (fulfil, returns *flow.Flow[string]) {
	same := func(_ context.Context, in string) (string, error) { return in, nil }
	returns = flow.New(Returns, nil)
	flow.Step(returns, "inspect", flow.Step(returns, "receive", returns.Input(), same, nil), same, nil)

	f := flow.New(Fulfil, nil)
	in := f.Input()
	charge := flow.Step(f, "charge", in, same, nil).Undo(func(context.Context, string) error { return nil }, nil)
	reserve := flow.Map(f, "reserve", flow.Apply(in, func(s string) []string { return []string{s, s, s} }), same, &flow.Options{Window: 2})
	fraud := flow.Step(f, "fraud-check", charge, same, nil)
	approval := flow.Wait(f, "approval", Approved, nil).After(fraud)
	gift := flow.Step(f, "gift-card", in, same, &flow.Options{If: []flow.Condition{flow.When(in, func(s string) bool { return s == "gift" }).Named("it is <b>a gift</b>")}}).After(charge)
	boxes := flow.Step(f, "pack", flow.Join(reserve, flow.Or(gift, ""), func(a []string, b string) string { return a[0] + b }), same, nil)
	label := flow.Step(f, "label", in, same, nil).After(reserve)
	pick := flow.Sleep(f, "van-comes", later, nil).After(boxes, label)
	ship := flow.Step(f, "ship", approval, same, nil).After(pick, charge)
	flow.Nest(f, "return", ship, returns, nil)
	flow.Step(f, "thank", ship, same, nil)
	return f, returns
}

// PlantFlow starts a run of the flow Fulfil and waits until it waits for its approval.
func (s *Server) PlantFlow(t testing.TB) (run journal.RunID, hash string) {
	t.Helper()
	ctx := clustertest.Context(t)
	fulfil, _ := Flows()
	r, err := flows.Start(ctx, s.Client, fulfil, "book", &runtime.StartOptions{Key: "fulfil"})
	if err != nil {
		t.Fatal(err)
	}
	clustertest.Until(t, "the flow waits", func() bool {
		st, err := flows.State(ctx, s.Client, r.ID(), nil)
		if err != nil {
			return false
		}
		waiting := 0
		for _, n := range st.Nodes {
			if n.Status == flow.StatusRunning && (n.Name == "approval" || n.Name == "van-comes") {
				waiting++
			}
		}
		hash = st.Hash
		return waiting == 2
	})
	return r.ID(), hash
}

// Applied applies a set of schedules, in JSON, and waits until a node has begun with all.
func (s *Server) Applied(t testing.TB, set schedule.Set) {
	t.Helper()
	ctx := clustertest.Context(t)
	applied, err := schedule.Apply(ctx, s.Client, set, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := applied.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	clustertest.Until(t, "the schedules have begun", func() bool {
		list, err := schedule.List(ctx, s.Client, "")
		n := 0
		for i := range list {
			if list[i].Schedule.Start.Workflow != "" && !list[i].Next.Equal(time.Time{}) {
				n++
			}
		}
		return err == nil && n >= len(set.Schedules)
	})
}
