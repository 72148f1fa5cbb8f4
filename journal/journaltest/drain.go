package journaltest

import (
	"errors"
	"fmt"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A node hears that an operator wants it to leave, and no other one does, until it has left. The
// audit has one row, whoever asks at once.
func drains(k *kit) {
	one, other := k.join(leaseLong), k.join(leaseLong)
	drain := driver.AdminAction{Kind: driver.AdminDrain, Node: one.ID(), Actor: "drainer", Reason: "its disk fails"}
	heard := func(m driver.Membership) bool {
		orders, err := m.Heed(k.ctx, 0)
		k.ok(err)
		nodes, err := k.j.Nodes(k.ctx)
		k.ok(err)
		i := slices.IndexFunc(nodes, func(n journal.Node) bool { return n.ID == m.ID() })
		k.same("the list of nodes says so", nodes[i].Draining, orders.Drain)
		return orders.Drain
	}
	k.same("it leaves before it is asked", heard(one), false)
	k.together(8, func(int) error { _, err := k.j.Admin(k.ctx, drain); return err })
	k.same("it hears that it is to leave", heard(one), true)
	k.same("the other one hears it", heard(other), false)
	list, err := k.j.Audit(k.ctx, journal.AuditFilter{Actor: "drainer"})
	k.ok(err)
	var said []string
	for _, e := range list {
		said = append(said, fmt.Sprint(e.Verb, " ", e.Detail, " ", e.Reason, " ", e.Workflow, e.Run.IsZero()))
	}
	name := nodeName(k, one.ID())
	k.same("rows", said, []string{fmt.Sprintf("drain node %d, %s its disk fails true", one.ID(), name)})
	k.ok(one.Leave(k.ctx))
	if _, err := k.j.Admin(k.ctx, drain); !errors.Is(err, journal.ErrNoNode) {
		k.t.Errorf("drain of a node that has left: %v", err)
	}
	for _, a := range []driver.AdminAction{
		{Kind: driver.AdminDrain},
		{Kind: driver.AdminDrain, Node: -1},
		{Kind: driver.AdminDrain, Node: other.ID(), Run: journal.NewRunID()},
		{Kind: driver.AdminDrain, Node: other.ID(), Scope: &journal.Scope{Queue: "q"}},
		{Kind: driver.AdminPause, Node: other.ID()},
	} {
		if _, err := k.j.Admin(k.ctx, a); !errors.Is(err, journal.ErrInvalid) {
			k.t.Errorf("%+v: %v", a, err)
		}
	}
	k.same("the other one hears it in the end", heard(other), false)
}

// nodeName returns the name of a live node.
func nodeName(k *kit, id journal.NodeID) string {
	nodes, err := k.j.Nodes(k.ctx)
	k.ok(err)
	for _, n := range nodes {
		if n.ID == id {
			return n.Name
		}
	}
	return ""
}
