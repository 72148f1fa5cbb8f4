package runtime_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// wide is a type whose schema is large, and huge is one that is too large.
type (
	wide struct{ A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z string }
	huge struct{ A, B, C, D, E, F wide }
)

// TestTypesAreBounded: a node keeps the types of what it serves, none that is too large, no more of
// them than it has room for, and none of the runtime's own workflows.
func TestTypesAreBounded(t *testing.T) {
	t.Parallel()
	store := memory.New(nil)
	t.Cleanup(store.Close)
	n := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: slog.New(slog.DiscardHandler)})
	const many = 100
	for i := range many {
		runtime.Handle(n, workflow.Name[wide, string](fmt.Sprintf("w%03d", i)), func(workflow.Context, wide) (string, error) { return "", nil }, nil)
	}
	runtime.Handle(n, workflow.Name[huge, string]("huge"), func(workflow.Context, huge) (string, error) { return "", nil }, nil)
	runtime.Handle(n, workflow.Name[string, string]("reprise.own"), func(workflow.Context, string) (string, error) { return "", nil }, nil)
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	clustertest.Until(t, "the node has joined", func() bool { return n.ID() != 0 })
	nodes, err := store.Nodes(t.Context())
	if err != nil || len(nodes) != 1 {
		t.Fatalf("%d nodes, %v", len(nodes), err)
	}
	bytes, described := 0, 0
	for route, types := range nodes[0].Types {
		for _, typ := range types {
			if bytes += len(typ.In) + len(typ.Out); typ.In != nil {
				described++
			}
			if typ.In != nil && (route.Workflow == "huge" || !strings.Contains(string(typ.In), `"Z":{"type":"string"}`)) {
				t.Errorf("the input of %s is %s", route.Workflow, typ.In)
			}
		}
		if strings.HasPrefix(route.Workflow, "reprise.") {
			t.Errorf("workflow %s has types", route.Workflow)
		}
	}
	leave()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if bytes > journal.TypesBytesMax || described < 20 || described >= many {
		t.Errorf("%d inputs are described in %d bytes", described, bytes)
	}
}
