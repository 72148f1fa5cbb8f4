package runtime

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// HandleOptions of a registration.
type HandleOptions struct {
	Version int32  // default 1
	Queue   string // default journal.DefaultQueue
}

type definitionKey struct {
	workflow string
	version  int32
}

// Handle registers a workflow function under its durable name. It must be called before Run; a name that is registered twice or
// invalid is a programming error and panics, as http.Handle does. A version of a workflow is one function, in however many queues it is
// served: the first registration's is used for all.
func Handle[In, Out any](n *Node, name workflow.Name[In, Out], fn func(workflow.Context, In) (Out, error), o *HandleOptions) {
	version, queue := int32(1), journal.DefaultQueue
	if o != nil && o.Version != 0 {
		version = o.Version
	}
	if o != nil && o.Queue != "" {
		queue = o.Queue
	}
	if err := n.register(workflow.Define(name, version, fn), queue); err != nil {
		panic("runtime: " + err.Error())
	}
}

func (n *Node) register(def *replay.Definition, queue string) error {
	if err := journal.CheckName("workflow", def.Name); err != nil {
		return err
	}
	if err := journal.CheckName("queue", queue); err != nil {
		return err
	}
	if def.Version < 1 {
		return fmt.Errorf("workflow %q: version %d: versions start at 1", def.Name, def.Version)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.running {
		return fmt.Errorf("workflow %q is registered after the node began to run", def.Name)
	}
	route := journal.Route{Queue: queue, Workflow: def.Name, Version: def.Version}
	for _, r := range n.routes {
		if r == route {
			return fmt.Errorf("workflow %q version %d is registered twice for queue %q", def.Name, def.Version, queue)
		}
	}
	key := definitionKey{def.Name, def.Version}
	if n.definitions[key] == nil {
		n.definitions[key] = def
	}
	n.routes = append(n.routes, route)
	return nil
}

func (n *Node) lookup(name string, version int32) *replay.Definition {
	return n.definitions[definitionKey{name, version}]
}
