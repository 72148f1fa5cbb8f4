package sqlite

import (
	"slices"

	"github.com/reprise-run/reprise/journal"
)

// recalls are the nodes from which a call has taken runs away, by terminating them. A try that was
// rolled back may have left some in it: a node that compares for nothing finds nothing.
type recalls []journal.NodeID

// note notes the owner of a run that is terminated; 0 for nobody.
func (r *recalls) note(owner journal.NodeID) {
	if owner != 0 && !slices.Contains(*r, owner) {
		*r = append(*r, owner)
	}
}

// recall has nodes told by their next renewals to compare what they own. Nothing but the speed at
// which they hear of it depends on that: the task of a terminated run is gone, and every commit
// compares the task.
//
// It is called after the end of the transaction that took the runs away, and [nodes.recalled]
// before the snapshot of the node's runs: so a node that has heard a number has seen all that led
// to it.
func (n *nodes) recall(from recalls) {
	if len(from) == 0 {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, id := range from {
		if node := n.live[id]; node != nil {
			node.recalled++
		}
	}
}

// recalled returns the number of a live node's recalls.
func (n *nodes) recalled(id journal.NodeID) (number int, alive bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	node := n.live[id]
	if node == nil {
		return 0, false
	}
	return node.recalled, true
}

// hear notes that a node has seen what led to a number of recalls.
func (n *nodes) hear(id journal.NodeID, number int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if node := n.live[id]; node != nil {
		node.heard = max(node.heard, number)
	}
}
