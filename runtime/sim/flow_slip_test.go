//go:build !race

package sim

import (
	"slices"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/replay/workflow/flow"
)

// TestSlipsOfFlows: random flows notice what they are there for. A slip changes one node of the
// flow that is declared, so that the flow does what a slip in the code of flows would come to.
func TestSlipsOfFlows(t *testing.T) {
	for _, c := range []struct {
		name string
		of   func(n *dagNode) bool // the node that it changes, the first one
		slip func(n *dagNode)
		want string
	}{
		{"a child of a skipped node is started",
			func(n *dagNode) bool { return n.cascade && n.reason != flow.ReasonParent },
			func(n *dagNode) { n.unmet, n.failing = flow.Skip, flow.Skip }, "is completed , want skipped dependency_skipped"},
		{"a node does not wait for a parent",
			func(n *dagNode) bool { return len(n.after) > 0 && n.status == flow.StatusCompleted && !n.isMap },
			func(n *dagNode) { n.after = nil }, "begins before node"},
	} {
		found := uint64(0)
		for seed := uint64(1); seed <= plantedMax && found == 0; seed++ {
			wrong := simulateFlow(t, seed, 2+int(seed*7%59), func(d *dag) {
				if i := slices.IndexFunc(d.nodes, func(n dagNode) bool { return c.of(&n) }); i >= 0 {
					c.slip(&d.nodes[i])
				}
			})
			if slices.ContainsFunc(wrong, func(text string) bool { return strings.Contains(text, c.want) }) {
				found = seed
			}
		}
		if found == 0 {
			t.Errorf("%s: %d seeds have not found it", c.name, plantedMax)
		}
		t.Logf("%s: found by seed %d", c.name, found)
	}
}
