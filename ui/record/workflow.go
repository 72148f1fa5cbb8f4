package record

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/reprise-run/reprise/journal"
)

// Workflow is what live nodes serve of a workflow.
type Workflow struct {
	Workflow string            `json:"workflow" doc:"name of the workflow"`
	Versions []WorkflowVersion `json:"versions" doc:"the versions that are served, the newest first"`
}

// WorkflowVersion is a version of a workflow with the types that its code has. They are those of
// the node that has joined last.
type WorkflowVersion struct {
	Version  int32           `json:"version" doc:"version of the workflow"`
	Served   []Served        `json:"served" doc:"the queues in which it is served, and by whom"`
	Signals  []string        `json:"signals,omitempty" doc:"all signals that it receives, if its code says so"`
	Input    json.RawMessage `json:"input,omitempty" doc:"JSON Schema of the input; absent if it is not known"`
	Output   json.RawMessage `json:"output,omitempty" doc:"JSON Schema of the output; absent if it is not known"`
	Messages []MessageType   `json:"messages,omitempty" doc:"the signals, updates and queries whose types its code tells"`
}

// MessageType is what a signal, update or query takes and returns.
type MessageType struct {
	Kind   string          `json:"kind" doc:"signal, update or query"`
	Name   string          `json:"name" doc:"its name"`
	Input  json.RawMessage `json:"input,omitempty" doc:"JSON Schema of the payload or argument; absent if it is not known"`
	Output json.RawMessage `json:"output,omitempty" doc:"JSON Schema of the answer; absent if it is not known, and of a signal"`
}

// WorkflowOf returns what live nodes serve of a workflow, nil for nothing.
func WorkflowOf(name string, nodes []journal.Node, pauses []journal.Pause) *Workflow {
	rec := &Workflow{Workflow: name}
	for _, s := range ServedOf(nodes, pauses) {
		if s.Workflow != name || len(s.Nodes) == 0 {
			continue
		}
		i := slices.IndexFunc(rec.Versions, func(v WorkflowVersion) bool { return v.Version == s.Version })
		if i < 0 {
			rec.Versions = append(rec.Versions, WorkflowVersion{Version: s.Version})
			i = len(rec.Versions) - 1
		}
		rec.Versions[i].Served = append(rec.Versions[i].Served, s)
	}
	newest := slices.SortedFunc(slices.Values(nodes), func(a, b journal.Node) int { return a.StartedAt.Compare(b.StartedAt) })
	for i := range newest {
		for _, r := range newest[i].Routes {
			if at := slices.IndexFunc(rec.Versions, func(v WorkflowVersion) bool { return r.Workflow == name && v.Version == r.Version }); at >= 0 {
				rec.Versions[at].describe(newest[i].Signals[r], newest[i].Types[r])
			}
		}
	}
	slices.SortFunc(rec.Versions, func(a, b WorkflowVersion) int { return cmp.Compare(b.Version, a.Version) })
	if len(rec.Versions) == 0 {
		return nil
	}
	return rec
}

// describe takes what a node says of the version, instead of what one that has joined before it
// said.
func (v *WorkflowVersion) describe(signals []string, types []journal.Type) {
	v.Signals, v.Input, v.Output, v.Messages = signals, nil, nil, nil
	for _, t := range types {
		if t.Kind == journal.TypeWorkflow {
			v.Input, v.Output = t.In, t.Out
			continue
		}
		v.Messages = append(v.Messages, MessageType{Kind: t.Kind, Name: t.Name, Input: t.In, Output: t.Out})
	}
}
