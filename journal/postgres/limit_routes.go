package postgres

import (
	"sync"

	"github.com/reprise-run/reprise/journal"
)

// knownRoutes are the routes of nodes, which a node does not change once it has joined. Their rows
// are large, because they describe types too, so a round reads those of a node that it does not
// know and no others.
type knownRoutes struct {
	mu sync.Mutex
	of map[nodeKey]journal.Node // guarded by mu; of live nodes
}

// nodeKey is one node: an id may come again in a database that has gone back in time.
type nodeKey struct {
	id          int32
	incarnation [16]byte
}

// known returns the live nodes that are known, and the ids of the others. It forgets the rest.
func (r *knownRoutes) known(live []nodeKey) (nodes []journal.Node, missing []int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := map[nodeKey]journal.Node{}
	for _, k := range live {
		if n, known := r.of[k]; known {
			of[k], nodes = n, append(nodes, n)
		} else {
			missing = append(missing, k.id)
		}
	}
	r.of = of
	return nodes, missing
}

func (r *knownRoutes) learn(k nodeKey, routes []journal.Route) journal.Node {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := journal.Node{ID: journal.NodeID(k.id), Routes: routes}
	r.of[k] = n
	return n
}
