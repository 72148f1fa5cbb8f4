package flow

import (
	"encoding/json"
	"fmt"
)

// Results are results of nodes by their names, as JSON: the output of a flow, which has those of
// its leaves that completed, or what [Gather] collects. A node that was skipped has no key. The
// output of a flow none of whose leaves completed is nil, and null in JSON.
type Results map[string]json.RawMessage

// keep adds the result of a node, if it has completed.
func (r Results) keep(v *values, n *node) error {
	result, ok := v.result(n)
	if !ok {
		return nil
	}
	data, err := json.Marshal(result)
	if err != nil {
		return mistyped("node "+n.name, "JSON", nil, err)
	}
	r[n.name] = data
	return nil
}

// decode returns one of the results.
func decode[T any](r Results, name string) (v T, ok bool, err error) {
	data, ok := r[name]
	if !ok {
		return v, false, nil
	}
	if err := json.Unmarshal(data, &v); err != nil {
		return v, true, fmt.Errorf("result of node %s: %w", name, err)
	}
	return v, true, nil
}

// In returns the node's result from the output of a run of the flow. ok is false if the node is no
// leaf, or was skipped.
func (n *Node[T]) In(r Results) (v T, ok bool, err error) { return decode[T](r, n.name) }
