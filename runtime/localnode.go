package runtime

import (
	"sync/atomic"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime/internal/worker"
)

// localNode is what a node's own client knows of the node. Node and client both hold it, and
// neither needs to know the other. A nil localNode is that of a client without a node.
type localNode struct {
	worker   atomic.Pointer[worker.Worker] // of the present membership; nil while the node is not a member
	registry *registry
}

// starts begins a batch of starts, of which the node may own some.
func (n *localNode) starts() worker.StartBatch {
	if n == nil {
		return worker.StartBatch{}
	}
	return n.worker.Load().Starts()
}

// joined tells whether the node is a member now.
func (n *localNode) joined() bool { return n != nil && n.worker.Load() != nil }

// serves tells whether the node has registered the route.
func (n *localNode) serves(r journal.Route) bool { return n != nil && n.registry.serves(r) }

// receives tells whether a workflow receives a signal of that name, if the node knows.
func (n *localNode) receives(r journal.Route, signal string) (receives, known bool) {
	if n == nil {
		return false, false
	}
	return n.registry.receives(r, signal)
}

// needs adds to a start what its workflow and its queue need of limits, if the node knows them.
func (n *localNode) needs(codec journal.Codec, s *journal.Start) error {
	if n == nil {
		return nil
	}
	route := journal.Route{Queue: s.Queue, Workflow: s.Workflow, Version: s.Version}
	all, err := n.registry.needs(codec, route, s.Input, s.Labels, s.Limits)
	if len(all) > 0 && err == nil {
		s.Limits = all
	}
	return err
}
