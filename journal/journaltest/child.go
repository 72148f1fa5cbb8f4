package journaltest

import (
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// What a turn does to others is part of its commit (J2). These checks start children with commits
// that are accepted, refused and repeated, and look at both ends of the bond: the child that
// exists or not, and the parent that hears of its end.
var childChecks = []check{
	{"J2_ChildrenStartWithTheCommit", childrenStart},
	{"J2_AChildOwnedFromBirth", childOwned},
	{"J2_J3_ARefusedCommitHasNoEffects", refusedHasNoEffects},
	{"J2_EachMemberHasItsOwnEffects", ownEffects},
	{"J4_AResubmittedCommitHasItsEffectsOnce", effectsOnce},
	{"J8_AChildWhoseKeyIsTakenIsRefused", childKeyTaken},
	{"J8_AChildTakesTheKeyOfAClosedRun", childTakesKey},
	{"J6_ACloseOfAChildWakesItsParent", childCloses},
	{"J6_TheTerminationOfAChildWakesItsParent", childTerminated},
	{"J7_AChildOutlivesItsParent", childOutlives},
	{"J6_ParentAndChildInOneBatch", familyInABatch},
	{"J10_AStepsTransactionHasEffects", txEffects},
}

// Children exist exactly if and when the commit that starts them is accepted, with all that their
// starts say.
func childrenStart(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	c := o.build(park, asksChild(2))
	first, second := o.child(1, journal.CloseTerminate), o.child(2, journal.CloseAbandon)
	first.Key, first.Labels, first.Input = "a key", map[string]string{"l": "v"}, journal.Payload{Data: []byte("in")}
	first.Trace, first.Priority = "00-trace", 1
	first.Headers, first.Timeout, first.OnFailure = map[string]string{"h": "v"}, 1500*time.Nanosecond, "mend"
	second.Delay = time.Hour
	c.Starts = []journal.Start{first, second}
	out := o.submit(c)
	first.Timeout = time.Microsecond
	k.same("number of answers", len(out.Started), 2)
	for i, s := range out.Started {
		if s.Err != nil || !s.Created || s.Owned || s.Run != c.Starts[i].ID || s.StartAt.IsZero() {
			k.t.Errorf("child %d: %+v", i, s)
		}
	}
	k.same("newest message", out.InboxLast, journal.InboxSeq(0))
	r := k.row(first.ID)
	k.same("parent", r.Parent, first.Parent)
	k.same("the rest", []any{r.Key, r.Labels, r.Input, r.Trace, r.Priority, r.Generation, r.Headers, r.Timeout, r.OnFailure},
		[]any{first.Key, first.Labels, first.Input, first.Trace, first.Priority, journal.Generation(1), first.Headers, first.Timeout, first.OnFailure})
	k.same("parent, loaded", k.history(second.ID).Run.Parent, second.Parent)
	k.same("parent of a run without one", k.row(o.run).Parent, (*journal.Parent)(nil))
	children := k.listAll(journal.ListFilter{Parent: o.run})
	if len(children) != 2 || children[0].ID != second.ID || children[1].ID != first.ID {
		k.t.Errorf("children: %+v", children)
	}
	k.same("children of a child", len(k.listAll(journal.ListFilter{Parent: first.ID})), 0)
	claim := k.claim(node, 5) // the parent is parked, the second child is delayed
	if len(claim.Tasks) != 1 || claim.Tasks[0].Run.ID != first.ID {
		k.t.Fatalf("claimed %+v", claim.Tasks)
	}
	k.same("parent, claimed", claim.Tasks[0].Run.Parent, first.Parent)
}

// A child may belong to its parent's node from birth, with the first fence. So it needs no claim,
// and a claim must not return it to anybody else.
func childOwned(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	c := o.build(keep, asksChild(1))
	c.Starts = []journal.Start{o.child(1, 0)}
	c.Starts[0].Owner = node
	if out := o.submit(c); !out.Started[0].Owned {
		k.t.Errorf("started %+v", out.Started[0])
	}
	child := bornOwner(k, node, c.Starts[0].ID, c.Starts[0].Input)
	child.commit(closed, started(), completed("1"))
}

// everything is a commit with every effect there is, to a run that is open, on top of one message
// and one update.
func (o *owner) everything(other journal.RunID) driver.Commit {
	issued := []journal.Issued{{Kind: journal.CommandChild, Name: flow}, {Kind: journal.CommandSend, Name: "news"}}
	c := o.build(release, asks(issued...), received(journal.Message{Kind: journal.MessageUpdate, Number: 1, Name: "u"}),
		journal.Event{Kind: journal.RunContinued})
	c.Replies = []journal.Reply{{Number: 1, Payload: journal.Payload{Data: []byte("answer")}}, {Number: 2, Rejected: true}}
	c.InboxSeen = 2
	c.Starts = []journal.Start{o.child(1, 0)}
	c.Messages = []journal.Message{aimed(2, other, "news", "n"), {Run: other, Kind: journal.MessageCancel}}
	c.Continue = &journal.Continue{Input: journal.Payload{Data: []byte("next")}, Version: 1, Seen: 2}
	return c
}

// withUpdates returns an owned run with two updates in its inbox, and another that is free.
func withUpdates(k *kit, node journal.NodeID) (*owner, journal.RunID) {
	k.t.Helper()
	o := k.one(node)
	k.sends(update(o.run, "u", "1"), update(o.run, "u", "2"))
	return o, k.starts(journal.Start{Delay: time.Hour})[0].Run
}

// A commit that is refused does nothing to others: no child, no message, no reply. A lost owner
// would otherwise act on a history that is not the run's.
func refusedHasNoEffects(k *kit) {
	node := k.join(leaseLong).ID()
	for name, spoil := range map[string]func(c *driver.Commit){
		"the fence before":        func(c *driver.Commit) { c.Fence-- },
		"the turn behind":         func(c *driver.Commit) { c.Turn++ },
		"another node":            func(c *driver.Commit) { c.Node++ },
		"a run that is not there": func(c *driver.Commit) { c.Run = journal.NewRunID(); c.Starts[0].Parent.Run = c.Run },
	} {
		o, other := withUpdates(k, node)
		c := o.everything(other)
		spoil(&c)
		k.unchanged(name, func() { o.refused(c, name, fenced) })
		k.gone(c.Starts[0].ID)
	}
	o, other := withUpdates(k, node)
	o.commit(keep, started())
	late := o.everything(other)
	late.Head = journal.Head{Link: journal.OriginOf(o.run, 1, 0, journal.Payload{})}
	for i := range late.Events {
		late.Events[i].Seq--
	}
	chain(&late)
	k.unchanged("a seq that exists (J1)", func() { o.refused(late, "a seq that exists", fenced) })
	k.gone(late.Starts[0].ID)
}

// In a batch every member gets the outcomes of its own children and messages, in its own order,
// also beside members that are refused.
func ownEffects(k *kit) {
	node := k.join(leaseLong).ID()
	var batch []driver.Commit
	var others []journal.RunID
	for range 4 {
		o, other := withUpdates(k, node)
		batch, others = append(batch, o.everything(other)), append(others, other)
	}
	batch[1].Fence--
	batch[3].Turn++
	out, err := k.commits(batch...)
	k.ok(err)
	for i := range batch {
		if i%2 == 1 {
			if !fenced(out[i].Err) || len(out[i].Started) > 0 || len(out[i].Sent) > 0 {
				k.t.Errorf("member %d: %+v", i, out[i])
			}
			k.gone(batch[i].Starts[0].ID)
			k.inboxIs(others[i])
			k.inboxIs(batch[i].Run, "3 u 1", "3 u 2")
			continue
		}
		if out[i].Err != nil || len(out[i].Started) != 1 || !out[i].Started[0].Created || len(out[i].Sent) != 2 || out[i].InboxLast != 3 {
			k.t.Errorf("member %d: %+v", i, out[i])
		}
		k.same("parent", k.row(batch[i].Starts[0].ID).Parent.Run, batch[i].Run)
		k.inboxIs(others[i], "1 news 1", "2  2")
		k.inboxIs(batch[i].Run, "6 news 3")
		k.same("generation", k.row(batch[i].Run).Generation, journal.Generation(2))
	}
}

// effectsOnce: whatever became of the child and of the other run since, the second try does nothing
// to them.
func effectsOnce(k *kit) {
	node := k.join(leaseLong).ID()
	o, other := withUpdates(k, node)
	c := o.everything(other)
	child := c.Starts[0].ID
	o.submit(c)
	again := func(what string) {
		k.t.Helper()
		k.unchanged(what, func() {
			out, err := k.commits(c)
			k.ok(err)
			k.ok(out[0].Err)
			if len(out[0].Started)+len(out[0].Sent)+len(out[0].Closed) > 0 {
				k.t.Errorf("%s: submitted again, it did %+v", what, out[0])
			}
		})
	}
	again("at once")
	k.ok(k.admin(child, driver.AdminTerminate)) // which tells the parent
	again("after the child closed")
	k.ok(k.admin(child, driver.AdminDelete))
	again("after the child was deleted")
	k.gone(child)
	k.ok(k.admin(other, driver.AdminTerminate))
	again("after the other run closed")
	k.ok(k.admin(other, driver.AdminDelete))
	again("after the other run was deleted")

	last := k.takeRun(node, k.begin(1)[0])
	terminated := last.bears(journal.CloseTerminate, journal.CloseCancel)
	c = last.closing()
	last.submit(c)
	again("a close")
	k.ok(k.admin(terminated[0], driver.AdminDelete))
	again("a close whose child was deleted")
}

// A child whose key belongs to another run does not start; its parent hears of that by a message,
// in the transaction that decided it.
func childKeyTaken(k *kit) {
	node := k.join(leaseLong).ID()
	holder := k.starts(journal.Start{Key: "open", Delay: time.Hour}, journal.Start{Key: "other", Workflow: "other"}, journal.Start{Key: "closed"})
	k.takeRun(node, holder[2].Run).commit(closed, started(), completed("1"))
	o := k.one(node)
	c := o.build(park, asksChild(4))
	for i, key := range []string{"open", "other", "closed", "closed"} {
		st := o.child(journal.Cmd(i+1), 0)
		st.Key = key
		c.Starts = append(c.Starts, st)
	}
	c.Starts[3].Reuse = journal.ReuseAllowIfFailed
	out := o.submit(c)
	k.same("newest message", out.InboxLast, journal.InboxSeq(4))
	for i, s := range out.Started {
		if s.Created {
			k.t.Errorf("child %d was created", i)
		}
		k.gone(c.Starts[i].ID)
	}
	o = k.takeRun(node, o.run) // J6
	events := []journal.Event{}
	for i, m := range k.history(o.run).Inbox {
		if m.Kind != journal.MessageChildFailed || m.Cmd != journal.Cmd(i+1) || m.Generation != 1 || m.Name != flow {
			k.t.Errorf("message %+v", m)
		}
		if f := k.failure(m.Payload); f.Type != journal.FailureKeyExists {
			k.t.Errorf("failure %+v", f)
		}
		events = append(events, received(m))
	}
	o.commit(park, events...)
	k.nothingDue(node)
	k.same("children", len(k.listAll(journal.ListFilter{Parent: o.run})), 0)

	o = k.one(node) // a run that closes is not told
	c = o.build(closed, asksChild(1), completed("1"))
	c.Starts = []journal.Start{o.child(1, 0)}
	c.Starts[0].Key = "open"
	o.submit(c)
	k.same("status", k.row(o.run).Status, journal.Completed)
}

// A child's reuse policy is that of any start: it takes over the key of a closed run if the policy
// says so.
func childTakesKey(k *kit) {
	node := k.join(leaseLong).ID()
	for i, kind := range []journal.Kind{journal.RunCompleted, journal.RunFailed} {
		key := fmt.Sprint("key ", i)
		k.takeRun(node, k.starts(journal.Start{Key: key})[0].Run).commit(closed, started(), ended(kind))
		o := k.one(node)
		c := o.build(keep, asksChild(1))
		c.Starts = []journal.Start{o.child(1, 0)}
		c.Starts[0].Key, c.Starts[0].Reuse = key, []journal.Reuse{journal.ReuseAllow, journal.ReuseAllowIfFailed}[i]
		if out := o.submit(c); !out.Started[0].Created || out.InboxLast != 0 {
			k.t.Errorf("after %s: %+v", kind, out)
		}
		if again := k.starts(journal.Start{Key: key})[0]; again.Created || again.Run != c.Starts[0].ID {
			k.t.Errorf("the key leads to %+v", again)
		}
	}
}

// The children and messages of a step's commit are written with the step's own transaction, or not
// at all.
func txEffects(k *kit) {
	node := k.join(leaseLong).ID()
	o, other := withUpdates(k, node)
	try := func(spoil func(c *driver.Commit)) (driver.Commit, driver.Outcome) {
		c := o.everything(other)
		tx, err := k.j.Begin(k.ctx)
		k.ok(err)
		c.Tx = tx
		spoil(&c)
		out, err := k.commits(c)
		k.ok(err)
		return c, out[0]
	}
	k.unchanged("a lost owner's", func() {
		c, out := try(func(c *driver.Commit) { c.Fence-- })
		if !fenced(out.Err) {
			k.t.Errorf("a lost owner's: %+v", out)
		}
		k.gone(c.Starts[0].ID)
	})
	k.unchanged("one that was rolled back", func() {
		c, out := try(func(c *driver.Commit) { k.ok(c.Tx.Rollback(k.ctx)) })
		if !errors.Is(out.Err, journal.ErrTxLost) {
			k.t.Errorf("one that was rolled back: %+v", out)
		}
		k.gone(c.Starts[0].ID)
	})
	c, out := try(func(*driver.Commit) {})
	if out.Err != nil || len(out.Started) != 1 || len(out.Sent) != 2 || out.InboxLast != 3 {
		k.t.Errorf("committed: %+v", out)
	}
	k.same("parent", k.row(c.Starts[0].ID).Parent.Run, o.run)
	k.inboxIs(other, "1 news 1", "2  2")
	k.inboxIs(o.run, "6 news 3")
	k.same("generation", k.row(o.run).Generation, journal.Generation(2))
}
