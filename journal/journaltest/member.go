package journaltest

import (
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A node's lease protects its runs until it is declared dead, and no longer. Deaths are counted
// once each, so that a run which kills its nodes is found and no other is blamed (quarantine).
var memberChecks = []check{
	{"Member_JoinListsTheNode", joinLists},
	{"Member_RenewExtendsTheLease", renewExtends},
	{"Member_LeaveFreesItsTasks", leaveFrees},
	{"Member_NothingIsOwnedByANodeThatHasLeft", leftOwnsNothing},
	{"Member_LostNodeIsToldAndItsTasksMove", lostNode},
	{"Member_ConcurrentReapsFreeEachTaskOnce", concurrentReaps},
	{"Member_QuarantineAfterStrikes", quarantineAfterStrikes},
	{"Member_CommitForgivesStrikes", commitForgives},
}

// A node is listed from its join until it leaves or its lease is over, with what it serves.
func joinLists(k *kit) {
	routes := []journal.Route{flowRoute, {Queue: "q ü", Workflow: "w/x", Version: 9}}
	a, b := k.join(leaseLong, routes...), k.join(leaseLong)
	if a.ID() < 1 || b.ID() < 1 || a.ID() == b.ID() {
		k.t.Fatalf("node ids %d and %d", a.ID(), b.ID())
	}
	nodes, err := k.j.Nodes(k.ctx)
	k.ok(err)
	k.same("nodes", len(nodes), 2)
	for _, n := range nodes {
		if n.ID != a.ID() {
			continue
		}
		k.same("routes", n.Routes, routes)
		types := n.Types[flowRoute]
		k.same("types", len(types), 2)
		for i := range types {
			var has map[string]any
			if types[i].In != nil {
				k.ok(json.Unmarshal(types[i].In, &has))
				k.same("the schema", has, map[string]any{"title": "ü<", "type": []any{"string", "null"}})
			}
			k.same("the other one", len(types[i].Out) > 0, i == 0)
		}
		k.same("kinds", []string{types[0].Kind, types[1].Kind, types[1].Name}, []string{journal.TypeWorkflow, journal.TypeSignal, "höh"})
		k.same("signals", n.Signals, map[journal.Route][]string{flowRoute: {"go", "höh"}})
		if n.Name != "node" || n.Lease != leaseLong || n.Grace != graceOfNodes || n.ExpiresAt.Sub(n.StartedAt) < leaseLong-time.Second {
			k.t.Errorf("node %+v", n)
		}
	}
}

func (k *kit) node(id journal.NodeID) journal.Node {
	k.t.Helper()
	nodes, err := k.j.Nodes(k.ctx)
	k.ok(err)
	for _, n := range nodes {
		if n.ID == id {
			return n
		}
	}
	k.t.Fatalf("node %d is not listed", id)
	return journal.Node{}
}

// A renewal extends the lease from the store's now. A node that renews in time is never a suspect.
func renewExtends(k *kit) {
	m := k.join(leaseLong)
	before := k.node(m.ID()).ExpiresAt
	k.eventually("a renewal moves the end of the lease", func() bool {
		r, err := m.Renew(k.ctx)
		k.ok(err)
		after := k.node(m.ID()).ExpiresAt
		l, err := m.Look(k.ctx)
		k.ok(err)
		if len(l.Suspects) > 0 || r.Now.IsZero() {
			k.t.Fatalf("renewal %+v, look %+v", r, l)
		}
		return after.After(before) && !after.Before(r.Now.Add(leaseLong-time.Second))
	})
}

// A node that leaves frees its tasks at once, and nobody counts that as a death.
func leaveFrees(k *kit) {
	m, other := k.join(leaseLong), k.join(leaseLong)
	owners := k.own(m.ID(), 3)
	owners[0].commit(keep, started())
	owners[1].commit(park, started())
	k.ok(m.Leave(k.ctx))
	for _, o := range k.take(other.ID(), 2) {
		if o.fence.Count() != 2 {
			k.t.Errorf("fence %d, want 2", o.fence)
		}
		if task := k.row(o.run).Task; task.Strikes != 0 {
			k.t.Errorf("an orderly leave left %d strikes", task.Strikes)
		}
	}
	owners[0].refused(owners[0].build(keep), "a commit after the node left", fenced)
	nodes, err := k.j.Nodes(k.ctx)
	k.ok(err)
	if len(nodes) != 1 || nodes[0].ID != other.ID() {
		k.t.Errorf("nodes %+v", nodes)
	}
	k.ok(m.Leave(k.ctx))
	if _, err := m.Renew(k.ctx); !errors.Is(err, journal.ErrNodeLost) {
		k.t.Errorf("renewal after leaving: %v", err)
	}
}

// leftOwnsNothing: claims and starts that arrive late find no member.
func leftOwnsNothing(k *kit) {
	left, lost, other := k.join(leaseLong), k.join(leaseTiny), k.join(leaseLong)
	k.begin(2)
	k.ok(left.Leave(k.ctx))
	k.lose(lost, other)
	for _, m := range []driver.Membership{left, lost} {
		if c := k.claim(m.ID(), 1); len(c.Tasks) > 0 {
			k.t.Errorf("node %d is gone and claimed %+v", m.ID(), c.Tasks[0].Task)
		}
		for _, n := range []int{1, 3} { // a store may have a statement for a single start, and another one for many
			for _, o := range k.starts(slices.Repeat([]journal.Start{{Owner: m.ID()}}, n)...) {
				if o.Owned {
					k.t.Errorf("run %s of a batch of %d was started in the ownership of node %d, which is gone", o.Run, n, m.ID())
				}
			}
		}
	}
	k.take(other.ID(), 2+2*(1+3))
}

// A node that was declared dead hears so from its next renewal, and its tasks can be claimed by
// others.
func lostNode(k *kit) {
	a, b := k.join(leaseTiny), k.join(leaseLong)
	k.own(a.ID(), 10)
	k.expire(a.ID())
	r, err := b.Reap(k.ctx, nil)
	k.ok(err)
	k.same("reaped nodes", r.Nodes, []journal.NodeID{a.ID()})
	if r.Tasks != 10 || r.Quarantined != 0 {
		k.t.Errorf("reaped %+v", r)
	}
	if _, err := a.Renew(k.ctx); !errors.Is(err, journal.ErrNodeLost) {
		k.t.Errorf("renewal of a lost node: %v", err)
	}
	for _, o := range k.take(b.ID(), 10) {
		if o.fence.Count() != 2 || k.row(o.run).Task.Strikes != 1 {
			k.t.Errorf("taken over with fence %d, task %+v", o.fence, k.row(o.run).Task)
		}
	}
	again, err := b.Reap(k.ctx, []journal.NodeID{b.ID(), a.ID(), 99999})
	k.ok(err)
	if len(again.Nodes) > 0 || again.Tasks > 0 {
		k.t.Errorf("reaped again: %+v", again)
	}
}

// Several nodes that reap the same dead node free each task once: a death is one strike.
func concurrentReaps(k *kit) {
	const reapers, runs = 6, 60
	a := k.join(leaseTiny)
	k.own(a.ID(), runs)
	members := make([]driver.Membership, reapers)
	for i := range members {
		members[i] = k.join(leaseLong)
	}
	k.expire(a.ID())
	var mu sync.Mutex
	nodes, tasks := 0, 0
	k.together(reapers, func(i int) error {
		r, err := members[i].Reap(k.ctx, nil)
		mu.Lock()
		defer mu.Unlock()
		nodes, tasks = nodes+len(r.Nodes), tasks+r.Tasks
		return err
	})
	r, err := members[0].Reap(k.ctx, nil) // what the others left to each other
	k.ok(err)
	if tasks += r.Tasks; nodes+len(r.Nodes) != 1 || tasks != runs {
		k.t.Errorf("%d nodes and %d tasks were reaped, want 1 and %d", nodes+len(r.Nodes), tasks, runs)
	}
	for _, o := range k.take(members[0].ID(), runs) {
		k.same("strikes", k.row(o.run).Task.Strikes, 1)
	}
}

// strikeRun lets a node take the one due run and die, and returns what the reaper did.
func strikeRun(k *kit, reaper driver.Membership, before func(*owner)) driver.Reaped {
	k.t.Helper()
	victim := k.join(leaseTiny)
	o := k.takeSoon(victim.ID())
	if before != nil {
		before(o)
	}
	k.expire(victim.ID())
	r, err := reaper.Reap(k.ctx, nil)
	k.ok(err)
	return r
}

// quarantine kills the owner of a run again and again. No other run may be due.
func (k *kit) quarantine(run journal.RunID) {
	k.t.Helper()
	reaper := k.join(leaseLong)
	for n := 1; n <= driver.QuarantineStrikes; n++ {
		r := strikeRun(k, reaper, nil)
		if last := n == driver.QuarantineStrikes; (r.Quarantined == 1) != last || (r.Tasks == 1) == last {
			k.t.Fatalf("after strike %d: %+v", n, r)
		}
		k.rush(run)
	}
	if task := k.row(run).Task; task.State != journal.Quarantined || task.Owner != 0 || task.Problem == "" {
		k.t.Fatalf("after %d strikes: %+v", driver.QuarantineStrikes, task)
	}
}

// A run whose owners keep dying under it is quarantined after so many deaths and says why.
func quarantineAfterStrikes(k *kit) {
	run := k.begin(1)[0]
	k.quarantine(run)
	node := k.join(leaseLong).ID()
	k.nothingDue(node)
	if c := k.claim(node, 1); !c.NextDue.IsZero() {
		k.t.Errorf("a quarantined run is due at %s", c.NextDue)
	}
	state := journal.Quarantined
	k.same("listed", len(k.listAll(journal.ListFilter{State: &state})), 1)
	k.ok(k.admin(run, driver.AdminResume))
	o := k.take(node, 1)[0]
	if task := k.row(run).Task; task.Strikes != 0 || task.State != journal.Ready {
		k.t.Errorf("resumed: %+v", task)
	}
	o.commit(closed, started(), completed("1"))
}

// One commit wipes the strikes out: a run that makes progress is not what kills nodes.
func commitForgives(k *kit) {
	run := k.begin(1)[0]
	reaper := k.join(leaseLong)
	strikeRun(k, reaper, nil)
	strikeRun(k, reaper, nil)
	k.same("strikes", k.row(run).Task.Strikes, 2)
	strikeRun(k, reaper, func(o *owner) {
		o.commit(keep, started())
		k.same("strikes after a commit", k.row(run).Task.Strikes, 0)
	})
	k.same("strikes", k.row(run).Task.Strikes, 1)
}
