package journaltest

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A commit is accepted onto one state of its run only: the one that it was built on (J1). These
// checks give the right owner, fence and turn, as a store has them that went back in time, and
// another state.
var headChecks = []check{
	{"J1_CommitFollowsItsHead", commitFollowsHead},
	{"J1_LinksAreKept", linksAreKept},
	{"J1_FreedTaskTellsTheLink", freedTaskTellsLink},
	{"J3_AppendOnlyLeavesTheTask", appendLeavesTask},
	{"J3_AppendOnlyOfALostNode", appendOfLostNode},
	{"J3_AppendOnlyAfterATakeover", appendAfterTakeover},
	{"J3_AppendOnlyAfterATermination", appendAfterTermination},
	{"J3_AppendOnlyInAMixedBatch", appendMixed},
	{"J4_OwnWriteIsKnownByItsLink", ownWriteByLink},
	{"J5_ConsumedMessageIsCompared", consumedIsCompared},
}

// append returns a commit that only adds events.
func (o *owner) append(events ...journal.Event) driver.Commit {
	c := o.build(keep, events...)
	c.AppendOnly = true
	return c
}

// commitFollowsHead tries every kind of commit on a history that is not there.
func commitFollowsHead(k *kit) {
	o := k.one(k.join(leaseLong).ID())
	o.commit(keep, started("a", "b"))
	o.commit(keep, stepDone(1, "a", "1"))
	other := *o // has seen another outcome of the step, which the store has lost
	other.head.Link++
	longer := *o // and one event more
	longer.head.Seq++
	shorter := *o
	shorter.head = journal.Head{Link: journal.OriginOf(o.run, 1, 0, journal.Payload{})}
	for name, z := range map[string]*owner{"another outcome": &other, "a longer history": &longer, "no history": &shorter} {
		k.unchanged(name, func() {
			for kind, c := range everyWrite(k, z) {
				z.refused(c, name+", "+kind, fenced)
			}
			z.refused(z.append(stepDone(2, "b", "2")), name+", append", fenced)
		})
	}
	o.commit(closed, stepDone(2, "b", "2"), completed("1"))
}

// linksAreKept: what is loaded has the links that were committed; the audit checks that they are
// those of what is loaded.
func linksAreKept(k *kit) {
	o := k.one(k.join(leaseLong).ID())
	first := o.build(keep, started("a"))
	o.submit(first)
	second := o.build(closed, stepDone(1, "a", "1"), completed("2"))
	o.submit(second)
	want := append(first.Events, second.Events...)
	for i, ev := range k.history(o.run).Events {
		if ev.Link != want[i].Link || ev.Link == 0 {
			k.t.Errorf("event %d has the link %x, want %x", ev.Seq, uint64(ev.Link), uint64(want[i].Link))
		}
	}
	if end := k.row(o.run).Terminal; end.Link != want[2].Link {
		k.t.Errorf("the terminal event has the link %x, want %x", uint64(end.Link), uint64(want[2].Link))
	}
}

// freedTaskTellsLink: whoever claims a task learns in which state its owner has left it, and learns
// nothing if the owner did not free it itself.
func freedTaskTellsLink(k *kit) {
	a, b := k.join(leaseTiny), k.join(leaseLong)
	claimed := func(node journal.NodeID) journal.Task {
		k.t.Helper()
		c := k.claim(node, 1)
		if len(c.Tasks) != 1 {
			k.t.Fatalf("claimed %d tasks", len(c.Tasks))
		}
		return c.Tasks[0].Task
	}
	o := k.one(b.ID())
	for _, next := range []driver.Next{release, parkUntil(k.j.Now().Add(-1)), block("p", k.j.Now().Add(-1))} {
		if o.head.Seq == 0 {
			o.commit(next, started("a"))
		} else {
			o.commit(next)
		}
		if at := k.row(o.run).Task.Link; at != o.head.Link {
			k.t.Errorf("the freed task has the link %x, want %x", uint64(at), uint64(o.head.Link))
		}
		t := claimed(b.ID())
		if t.Link != o.head.Link {
			k.t.Errorf("claimed with the link %x, want %x", uint64(t.Link), uint64(o.head.Link))
		}
		if at := k.row(o.run).Task.Link; at != 0 {
			k.t.Errorf("the owned task has the link %x", uint64(at))
		}
		o.fence, o.turn = t.Fence, t.Turn
	}
	o.commit(release)
	o = k.take(a.ID(), 1)[0]
	o.commit(keep, stepDone(1, "a", "1"))
	k.lose(a, b)
	if t := claimed(b.ID()); t.Link != 0 {
		k.t.Errorf("the task of a dead node has the link %x", uint64(t.Link))
	}
}

// appendLeavesTask: nothing of the task changes, and the turn goes on from where it was.
func appendLeavesTask(k *kit) {
	o := k.one(k.join(leaseLong).ID())
	o.commit(keep, started("a", "b", "c"))
	k.send(o.run, "s", "1")
	before := k.row(o.run).Task
	o.submit(o.append(stepDone(1, "a", "1")))
	o.submit(o.append(stepDone(2, "b", "2")))
	k.same("task", k.row(o.run).Task, before)
	if n := len(k.history(o.run).Events); n != 3 {
		k.t.Errorf("%d events, want 3", n)
	}
	o.commit(park, stepDone(3, "c", "3"))
	if k.row(o.run).Task.VisibleAt.IsZero() {
		k.t.Error("parked without a look at the message (J6)")
	}
}

// appendOfLostNode: a node that was declared dead adds nothing, although its commit does not name
// the task.
func appendOfLostNode(k *kit) {
	a, b := k.join(leaseTiny), k.join(leaseLong)
	z := k.one(a.ID())
	z.commit(keep, started("a", "b"))
	c := z.append(stepDone(1, "a", "1"))
	k.lose(a, b)
	lost := func(err error) bool { return fencedOrLost(err) }
	k.unchanged("free", func() { z.refused(c, "while the run is free", lost) })
	o := k.take(b.ID(), 1)[0]
	k.unchanged("claimed", func() { z.refused(c, "while the run is another's", lost) })
	o.commit(keep, stepDone(1, "a", "2"))
	k.unchanged("went on", func() { z.refused(c, "after the other's commit", lost) })
}

// appendAfterTakeover: a late duplicate of a commit whose node handed the run back since.
func appendAfterTakeover(k *kit) {
	a, b := k.join(leaseLong).ID(), k.join(leaseLong).ID()
	z := k.one(a)
	z.commit(keep, started("a", "b"))
	late := z.append(stepDone(1, "a", "1"))
	z.submit(late)
	z.commit(release)
	o := k.take(b, 1)[0]
	k.unchanged("a late duplicate", func() {
		out, err := k.commits(late)
		k.ok(err)
		if out[0].Err != nil && !fenced(out[0].Err) { // it was written, so either answer is true
			k.t.Error(out[0].Err)
		}
	})
	o.commit(closed, stepDone(2, "b", "2"), completed("1"))
}

// appendAfterTermination: a run that was taken away accepts nothing, and its node's other runs go
// on as before.
func appendAfterTermination(k *kit) {
	m := k.join(leaseLong)
	owners := k.own(m.ID(), 3)
	batch := make([]driver.Commit, len(owners))
	for i, o := range owners {
		o.commit(keep, started("a", "b"))
		batch[i] = o.append(stepDone(1, "a", "1"))
	}
	k.ok(acts(k, driver.AdminAction{Run: owners[1].run, Kind: driver.AdminTerminate, Reason: "stop"}))
	if r, err := m.Renew(k.ctx); err != nil || !r.Compare {
		k.t.Errorf("the node is not asked to compare: %+v, %v", r, err)
	}
	for range 2 { // the second time the node has heard of it
		out, err := k.commits(batch...)
		k.ok(err)
		for i := range owners {
			if (out[i].Err == nil) == (i == 1) || i == 1 && !fenced(out[1].Err) {
				k.t.Errorf("member %d: %v", i, out[i].Err)
			}
		}
		list, err := m.Owned(k.ctx)
		k.ok(err)
		if len(list) != 2 {
			k.t.Errorf("the node owns %d runs, want 2", len(list))
		}
	}
	for i := range owners {
		if i != 1 {
			owners[i].accept(&batch[i])
			owners[i].submit(owners[i].append(stepDone(2, "b", "2")))
		}
	}
	if r, err := m.Renew(k.ctx); err != nil || r.Compare {
		k.t.Errorf("the node is asked to compare again: %+v, %v", r, err)
	}
}

// appendMixed: members that add events stand beside others, some of them refused.
func appendMixed(k *kit) {
	owners := k.own(k.join(leaseLong).ID(), 8)
	batch := make([]driver.Commit, len(owners))
	for i, o := range owners {
		o.commit(keep, started("a", "b"))
		batch[i] = o.append(stepDone(1, "a", "1"))
		switch i % 4 {
		case 1:
			batch[i] = o.build(park, stepDone(1, "a", "1"))
		case 2:
			batch[i] = o.build(closed, stepDone(1, "a", "1"), completed("1"))
		}
	}
	batch[3].Head.Link++ // built on another state
	chain(&batch[3])
	batch[5].Fence-- // lost
	out, err := k.commits(batch...)
	k.ok(err)
	for i, o := range owners {
		refused := i == 3 || i == 5
		if (out[i].Err != nil) != refused || refused && !fenced(out[i].Err) || out[i].Err == nil && out[i].Now.IsZero() {
			k.t.Errorf("member %d: %+v", i, out[i])
		}
		want := 2
		if refused {
			want = 1
		} else if i%4 == 2 {
			want = 3
		}
		if n := len(k.history(o.run).Events); n != want {
			k.t.Errorf("member %d has %d events, want %d", i, n, want)
		}
	}
}

// ownWriteByLink: a commit that was written is known as that whatever the run has done since, and
// one that differs in nothing but an outcome is not.
func ownWriteByLink(k *kit) {
	a, b := k.join(leaseLong).ID(), k.join(leaseLong).ID()
	for name, first := range map[string]func(o *owner) driver.Commit{
		"keep":   func(o *owner) driver.Commit { return o.build(keep, stepDone(1, "a", "1")) },
		"append": func(o *owner) driver.Commit { return o.append(stepDone(1, "a", "1")) },
		"park":   func(o *owner) driver.Commit { return o.build(park, stepDone(1, "a", "1")) },
		"close":  func(o *owner) driver.Commit { return o.build(closed, stepDone(1, "a", "1"), completed("1")) },
	} {
		o := k.one(a)
		o.commit(keep, started("a", "b"))
		c := first(o)
		o.submit(c)
		k.unchanged(name, func() {
			out, err := k.commits(c)
			k.ok(err)
			k.ok(out[0].Err)
			other := c
			other.Events = append([]journal.Event(nil), c.Events...)
			other.Events[0].Payload = journal.Payload{Data: []byte("other")}
			chain(&other)
			o.refused(other, name+" with another outcome", fenced)
		})
		switch c.Next.Kind {
		case driver.NextKeep:
			o.commit(closed, completed("1"))
		case driver.NextPark:
			k.ok(acts(k, driver.AdminAction{Run: o.run, Kind: driver.AdminResume}))
			k.take(b, 1)[0].commit(closed, completed("1"))
		}
		out, err := k.commits(c)
		k.ok(err)
		if out[0].Err != nil && c.Next.Kind != driver.NextKeep {
			k.t.Errorf("%s, after the run went on: %v", name, out[0].Err)
		}
	}
}

// consumedIsCompared: a message is consumed by what was in it, not by its number alone.
func consumedIsCompared(k *kit) {
	node := k.join(leaseLong).ID()
	o, other := k.one(node), k.one(node)
	k.send(o.run, "s", "1")
	m := k.history(o.run).Inbox[0]
	c := o.build(keep, started(), m.Event())
	for name, consumed := range map[string]driver.Consumed{
		"another message": {Number: 1, Digest: m.Digest() + 1}, "a message that is not there": {Number: 2, Digest: m.Digest()},
	} {
		c.Consumed = []driver.Consumed{consumed}
		k.unchanged(name, func() { o.refused(c, name, fenced) })
	}
	closes := o.build(closed, started(), m.Event(), completed("1"))
	closes.Consumed = c.Consumed
	out, err := k.commits(other.build(closed, started(), completed("1")), closes)
	if k.ok(err); out[0].Err != nil || !fenced(out[1].Err) || k.row(o.run).Task == nil {
		k.t.Errorf("a batch of closes, one of which consumes what is not there: %+v", out)
	}
	c.Consumed = []driver.Consumed{{Number: 1, Digest: m.Digest()}}
	o.submit(c)
	o.commit(closed, completed("1"))
}
