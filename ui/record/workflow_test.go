package record_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/ui/record"
)

// TestWorkflowOf: the types are those of the node that has joined last, for each version, and the
// newest version comes first.
func TestWorkflowOf(t *testing.T) {
	t.Parallel()
	at := time.Now()
	node := func(name string, ago time.Duration, routes ...journal.Route) journal.Node {
		n := journal.Node{Name: name, StartedAt: at.Add(-ago), Routes: routes, Types: map[journal.Route][]journal.Type{}}
		for _, r := range routes {
			n.Types[r] = []journal.Type{{Kind: journal.TypeWorkflow, In: json.RawMessage(fmt.Sprintf("%q", name))}}
		}
		return n
	}
	one, two, other := journal.Route{Queue: "a", Workflow: "w", Version: 1}, journal.Route{Queue: "b", Workflow: "w", Version: 2}, journal.Route{Queue: "a", Workflow: "x", Version: 2}
	nodes := []journal.Node{node("newest", 0, one, other), node("oldest", time.Hour, one, two), node("middle", time.Minute, one, two)}
	w := record.WorkflowOf("w", nodes, nil)
	if len(w.Versions) != 2 || w.Versions[0].Version != 2 || string(w.Versions[0].Input) != `"middle"` || string(w.Versions[1].Input) != `"newest"` || len(w.Versions[1].Served[0].Nodes) != 3 {
		t.Errorf("the workflow is %+v", w)
	}
	if none := record.WorkflowOf("v", nodes, nil); none != nil {
		t.Errorf("a workflow that nobody serves is %+v", none)
	}
}
