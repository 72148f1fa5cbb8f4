package flow

// values are what sources read: the input, and the results of nodes that have ended.
type values struct {
	input  any
	states []nodeState // nil while the input is checked
	index  map[*node]int
	made   map[any]any // by source, what it has come to; of one valueOf, see once
}

// result returns what a node has come to, if it has completed.
func (v *values) result(n *node) (any, bool) {
	if v.states == nil {
		return nil, false
	}
	s := &v.states[v.index[n]]
	return s.result, s.status == StatusCompleted
}

// nodeState is where a node of an execution stands.
type nodeState struct {
	status  Status
	cascade bool // what depends on it is skipped, too
	result  any
}
