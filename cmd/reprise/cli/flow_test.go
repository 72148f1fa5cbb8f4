package cli_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/flows"
)

const gifts workflow.Name[[]string, flow.Results] = "gifts"

// giftFlow wraps gifts, unless there are none, and waits for a card; with thanks it has another node.
func giftFlow(thanks bool) *flow.Flow[[]string] {
	f := flow.New(gifts, nil)
	wrap := flow.Map(f, "wrap", f.Input(), func(_ context.Context, s string) (string, error) { return "wrapped " + s, nil }, nil)
	many := flow.When(wrap, func(list []string) bool { return len(list) > 10 })
	flow.Step(f, "cart", f.Input(), func(context.Context, []string) (int, error) { return 1, nil }, &flow.Options{If: []flow.Condition{many}})
	card := flow.Wait(f, "card", workflow.Signal[string]("card"), nil)
	if thanks {
		flow.Step(f, "thanks", card, func(_ context.Context, s string) (string, error) { return s, nil }, nil)
	}
	return f
}

// flowsProgram is a program whose flow has changed since.
func flowsProgram() *cli.Options {
	f := giftFlow(true)
	return &cli.Options{Name: "shop", Register: func(n *runtime.Node) { flows.Handle(n, f, nil) }, Flows: []*flow.Shape{f.Shape()}}
}

// plantFlow starts a run of the flow, lets it come to its signal, and leaves no node.
func plantFlow(t *testing.T, name string) (run journal.RunID) {
	t.Helper()
	var store driver.Store
	if strings.HasPrefix(name, "postgres") {
		s, err := postgres.Open(t.Context(), name, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		store = s
	} else {
		s, err := sqlite.Open(t.Context(), name, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		store = s
	}
	n := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: slog.New(slog.DiscardHandler)})
	f := giftFlow(false)
	flows.Handle(n, f, nil)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	started, err := flows.Start(ctx, n.Client(), f, []string{"tea", "cups"}, &runtime.StartOptions{Key: "gifts:1"})
	if err != nil {
		t.Fatal(err)
	}
	clustertest.Until(t, "the run has come to its signal, and its shape is kept", func() bool {
		st, err := flows.State(ctx, n.Client(), started.ID(), nil)
		return err == nil && st.Nodes[2].Status == flow.StatusCompleted
	})
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return started.ID()
}

// TestFlowVerbs: flows are drawn by any command that reads the store, and by a program that has
// them without one.
func TestFlowVerbs(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	onBoth(t, func(t *testing.T, store string) {
		run := plantFlow(t, store).String()
		hash := giftFlow(false).Shape().Hash()
		wantText(t, "list", reprise(t, store, cli.ExitDone, "flow", "list").out, "FLOW", "gifts", hash)
		checkJSONText(t, s, "list", "shape", true, reprise(t, store, cli.ExitDone, "flow", "list", "-o", "json").out)

		wantText(t, "a stored flow", reprise(t, store, cli.ExitDone, "flow", "draw", "gifts").out, "flowchart TD", `n2[["wrap (each item)"]]`, "n2 -.-> n1")
		wantText(t, "in DOT", reprise(t, store, cli.ExitDone, "flow", "draw", "gifts", "--as", "dot").out, `digraph "gifts" {`, "n2 -> n1 [style=dashed]")
		for _, arg := range []string{run, "key=gifts:1"} {
			wantText(t, "a run", reprise(t, store, cli.ExitDone, "flow", "draw", arg).out,
				"n0>\"card<br>waits for signal card<br>running\"]", "class n0 running", "skipped, condition_unmet", "completed, 2 steps done")
		}
		out := reprise(t, store, cli.ExitDone, "flow", "draw", run, "-o", "json").out
		checkJSONText(t, s, "draw", "drawing", false, out)
		var got struct {
			Flow, Shape, Run, Status string
			Nodes                    []struct{ Name, Status, Reason string }
		}
		if err := json.Unmarshal([]byte(out), &got); err != nil || got.Flow != "gifts" || got.Shape != hash || got.Run != run || got.Status != "open" ||
			len(got.Nodes) != 3 || got.Nodes[1].Reason != "condition_unmet" || got.Nodes[2].Status != "completed" {
			t.Errorf("the run in JSON is %+v, %v", got, err)
		}
		changed := finishAs(t, "flows", store, "flow", "draw", run)
		wantText(t, "what has changed", changed.err, "the run began with another shape", "node thanks is added, after card")
		wantText(t, "the run of changed code", changed.out, "class n2 completed")
		if strings.Contains(changed.out, "thanks") {
			t.Errorf("the run is drawn with a node that it does not have:\n%s", changed.out)
		}
		wantText(t, "no flow", reprise(t, store, cli.ExitNotFound, "flow", "draw", "nobodys").err, "the shape of the flow is not stored")
		wantText(t, "no picture", reprise(t, store, cli.ExitUsage, "flow", "draw", "gifts", "--as", "svg").err, "none of mermaid, dot")
	})
	own := finishAs(t, "flows", "/nowhere/at/all.db", "flow", "draw", "gifts")
	wantText(t, "the program's own flow, without a store", own.out, "flowchart TD", `["thanks"]`)
}
