package record

import (
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow/flow"
	"github.com/reprise-run/reprise/runtime/flows"
)

// Shape is a shape that is stored.
type Shape struct {
	Flow     string    `json:"flow" doc:"name of the flow"`
	Shape    string    `json:"shape" doc:"hash of the shape"`
	StoredAt time.Time `json:"stored_at" doc:"when it was stored"`
	Run      string    `json:"run" doc:"id of the run that keeps it"`
}

// Drawing is a flow, or a run of one.
type Drawing struct {
	Flow   string     `json:"flow" doc:"name of the flow"`
	Shape  string     `json:"shape" doc:"hash of the shape"`
	Run    string     `json:"run,omitempty" doc:"of a run: its id"`
	Status string     `json:"status,omitempty" doc:"of a run: open, completed, failed, cancelled, terminated or continued"`
	Nodes  []FlowNode `json:"nodes" doc:"the nodes, by name"`
	Beside []string   `json:"beside,omitempty" doc:"of a run: steps of its history that no node of the shape has"`

	Differs []string `json:"differs,omitempty" doc:"what the program's own shape has otherwise, if it is another one"`
	Picture string   `json:"picture,omitempty" doc:"the flowchart in the language that was asked for"`
}

// The languages of pictures.
const (
	AsMermaid = "mermaid"
	AsDOT     = "dot"
)

// FlowNode is a node of a flow.
type FlowNode struct {
	Name      string   `json:"name" doc:"name of the node, and of its steps"`
	Kind      string   `json:"kind" doc:"step, map, signal, time, call, flow or code"`
	After     []string `json:"after,omitempty" doc:"the nodes that it comes after"`
	Quorum    int      `json:"quorum,omitempty" doc:"how many of them it awaits, if not all"`
	If        []string `json:"if,omitempty" doc:"its conditions, in words"`
	Unmet     string   `json:"unmet,omitempty" doc:"what an unmet condition means: fail, skip or skip-descendants"`
	Exhausted string   `json:"exhausted,omitempty" doc:"what its failure means, if not that of the run"`
	Since     string   `json:"since,omitempty" doc:"the change that has brought it"`
	Until     string   `json:"until,omitempty" doc:"the change that takes it away"`
	Undo      bool     `json:"undo,omitempty" doc:"whether it has a compensation"`
	Calls     string   `json:"calls,omitempty" doc:"the signal or workflow that it is about"`
	Nested    *Drawing `json:"nested,omitempty" doc:"the flow that it is"`

	Status  string     `json:"status,omitempty" doc:"of a run: waiting, running, completed, skipped, failed, cancelled, or left if the run ended before it began"`
	Reason  string     `json:"reason,omitempty" doc:"why it was skipped: condition_unmet, dependency_skipped, handler_failed or change"`
	BeganAt *time.Time `json:"began_at,omitempty" doc:"when it began"`
	EndedAt *time.Time `json:"ended_at,omitempty" doc:"when it ended, or was skipped"`
	Steps   int        `json:"steps,omitempty" doc:"steps of it that have completed: of a map its progress"`
	Error   string     `json:"error,omitempty" doc:"of the last of its steps that failed"`
	Undone  bool       `json:"undone,omitempty" doc:"whether it was undone"`
}

// DrawingOf returns the record of a flow, and of a run of it if that has an id.
func DrawingOf(st *flow.State, run string) Drawing {
	rec := Drawing{Flow: st.Shape.Flow, Shape: st.Hash, Run: run, Status: st.Run, Beside: st.Beside, Nodes: []FlowNode{}}
	for i := range st.Shape.Nodes {
		n := &st.Shape.Nodes[i]
		node := FlowNode{Name: n.Name, Kind: string(n.Kind), After: n.After, Quorum: n.Quorum, If: n.If, Unmet: string(n.Unmet),
			Exhausted: string(n.Exhausted), Since: n.Since, Until: n.Until, Undo: n.Undo, Calls: n.Calls}
		if n.Nested != nil {
			nested := DrawingOf(&flow.State{Shape: n.Nested, Hash: n.Nested.Hash()}, "")
			node.Nested = &nested
		}
		if i < len(st.Nodes) {
			s := &st.Nodes[i]
			node.Status, node.Reason, node.BeganAt, node.EndedAt = string(s.Status), string(s.Reason), Moment(s.Began), Moment(s.Ended)
			node.Steps, node.Error, node.Undone = s.Steps, s.Error, s.Undone
		}
		rec.Nodes = append(rec.Nodes, node)
	}
	return rec
}

// ShapesOf returns the records of those of some runs that keep shapes.
func ShapesOf(runs []journal.Run) (list []Shape) {
	for i := range runs {
		r := &runs[i]
		if name, ok := strings.CutPrefix(r.Workflow, flows.WorkflowPrefix); ok {
			list = append(list, Shape{name, strings.TrimPrefix(r.Key, flows.KeyPrefix), r.CreatedAt, r.ID.String()})
		}
	}
	return list
}

// Draw draws a flow, or a run of one, in a language. ok is false for a language that is none.
func Draw(st *flow.State, as string) (text string, ok bool) {
	switch as {
	case AsMermaid:
		return st.Mermaid(), true
	case AsDOT:
		return st.DOT(), true
	}
	return "", false
}

// HideErrors leaves in the record of a run what is shown of its errors. A picture has none of them.
func (m *Maker) HideErrors(run journal.RunID, d *Drawing) {
	for i := range d.Nodes {
		n := &d.Nodes[i]
		if n.Error == "" || m.Show == nil {
			continue
		}
		shown := m.failure(Source{run, FromStep, n.Name}, &journal.Failure{Message: n.Error})
		if n.Error = ""; shown != nil {
			n.Error = shown.Message
		}
	}
}
