package runtime

import (
	"context"
	"fmt"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// DrainNode asks a node to hand back what it has and to leave, as if the context of its [Node.Run]
// had ended, and waits until it has left: the node acquires no more runs, lets running steps
// continue for its NodeOptions.Drain, and its Run returns nil. What the program does then is its
// own business: most end. The request is for this node alone; a program that runs a node again is
// another node. A node whose lease has run out counts as one that has left; if it comes to
// itself in time to renew its lease, it finds the request and leaves.
//
// If ctx ends first, the node leaves all the same. Errors: journal.ErrNoNode if there is no such
// node, and ctx's.
func (c *Client) DrainNode(ctx context.Context, node journal.NodeID) error {
	_, err := intercepted(ctx, c, Call{Kind: DrainCall, Node: node}, func(ctx context.Context, _ *Call) (none struct{}, err error) {
		a := driver.AdminAction{Kind: driver.AdminDrain, Node: node, Actor: c.Actor(ctx), Reason: reasonOf(ctx, "")}
		if _, err = c.j.Admin(ctx, a); err == nil {
			err = awaitLeft(ctx, c, node)
		}
		return none, err
	})
	return err
}

// awaitLeft waits until a node is no member any more.
func awaitLeft(ctx context.Context, c *Client, node journal.NodeID) error {
	err := poll(ctx, func() (bool, error) {
		nodes, err := c.j.Nodes(ctx)
		return !slices.ContainsFunc(nodes, func(n journal.Node) bool { return n.ID == node }), err
	})
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("drain node %d: it is asked to leave, and has not left yet: %w", node, err)
	}
	return err
}
