package journaltest

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// without leaves messages out, but for those of some names.
func without(names ...string) func(*driver.Rewind) {
	return func(w *driver.Rewind) { w.Messages = driver.Again{None: true, Names: names} }
}

// What the kept events have not consumed comes again, in the order in which it came: what the
// branch has consumed, what came later, and what an earlier generation had carried over.
func messagesAgain(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	for _, name := range []string{"a", "b", "c"} {
		k.send(o.run, name, name)
	}
	inbox := k.waits(o.run, 3)
	o.submit(o.continued(keep, []journal.InboxSeq{1, 2}, started(), received(inbox[0]), received(inbox[1])))
	o.commit(keep, started(), received(inbox[0]))
	o.commit(keep, received(inbox[1]), received(inbox[2]))
	k.send(o.run, "d", "d")
	k.ok(back(k, driver.AdminReset, o.run, 2))
	k.inboxIs(o.run, "1 b 2", "1 c 3", "1 d 4")
	o = k.take(node, 1)[0]
	o.commit(keep, received(inbox[1]), received(inbox[2]))
	k.inboxIs(o.run, "1 d 4")
	o.commit(closed, received(k.first(o.run)), ended(journal.RunFailed))
	k.ok(back(k, driver.AdminRetry, o.run, 4))
	k.inboxIs(o.run, "1 d 4")
	k.send(o.run, "e", "e")
	k.inboxIs(o.run, "1 d 4", "1 e 5")
	if s := k.send(o.run, "a", "a"); !s.Duplicate || s.Number != 1 {
		k.t.Errorf("a message that was consumed, sent again: %+v", s)
	}
	o = k.take(node, 1)[0]
	inbox = k.waits(o.run, 2)
	o.commit(closed, received(inbox[0]), received(inbox[1]), completed("1"))
}

// None of the messages comes again, or only those of some names. They are left out for good, their
// keys stay known, and what is sent later comes behind.
func messagesByName(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	for _, name := range []string{"kept", "a", "b", "a"} {
		k.sends(signal(o.run, name, ""))
	}
	inbox := k.waits(o.run, 4)
	o.commit(keep, started(), received(inbox[0]))
	o.commit(keep, received(inbox[1]))
	k.ok(back(k, driver.AdminReset, o.run, 2, without("a")))
	k.inboxIs(o.run, "1 a 2", "1 a 4")
	k.same("carried", k.row(o.run).Continued, &journal.Continue{Seen: 3, Carried: []journal.InboxSeq{1, 2}})
	k.send(o.run, "late", "late")
	o = k.take(node, 1)[0]
	inbox = k.waits(o.run, 3)
	o.commit(keep, received(inbox[0]))
	o.commit(keep, received(inbox[1]), received(inbox[2]))
	k.ok(back(k, driver.AdminReset, o.run, 3, without()))
	k.inboxIs(o.run)
	k.send(o.run, "last", "last")
	k.inboxIs(o.run, "1 last 6")
	o = k.take(node, 1)[0]
	o.commit(closed, received(k.first(o.run)), completed("1"))
}

// A request to cancel that the kept events do not have is left out, and another one can be sent.
func cancelsDoNot(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	o.commit(keep, started("a"))
	request := journal.OrphanCancel(o.run)
	k.sends(request)
	k.send(o.run, "sig", "1")
	inbox := k.waits(o.run, 2)
	o.commit(closed, received(inbox[0]), ended(journal.RunCancelled))
	k.ok(back(k, driver.AdminRetry, o.run, 1))
	k.inboxIs(o.run, "1 sig 2")
	if s := k.sends(request)[0]; s.Err != nil || s.Duplicate || s.Number != 3 {
		k.t.Errorf("another request: %+v", s)
	}
	if s := k.sends(request)[0]; !s.Duplicate || s.Number != 3 {
		k.t.Errorf("a third one: %+v", s)
	}
	o = k.take(node, 1)[0]
	inbox = k.waits(o.run, 2)
	o.commit(keep, received(inbox[0]))
	o.commit(keep, received(inbox[1]))
	k.ok(back(k, driver.AdminReset, o.run, 3)) // the kept events have it
	if s := k.sends(request)[0]; !s.Duplicate {
		k.t.Errorf("a request that is kept, sent again: %+v", s)
	}
	k.take(node, 1)[0].commit(closed, ended(journal.RunCancelled))
}

// An update that comes again is answered again, and so is one whose handler had not ended at the
// point. One that is left out is answered at once if nobody has answered it.
func updatesAgain(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	for _, name := range []string{"done", "open", "again", "out"} {
		k.sends(update(o.run, name, name))
	}
	replies := func(o *owner, c driver.Commit, text string, numbers ...journal.InboxSeq) {
		k.t.Helper()
		for _, n := range numbers {
			c.Replies = append(c.Replies, journal.Reply{Number: n, Payload: journal.Payload{Data: []byte(text)}})
		}
		o.submit(c)
	}
	inbox := k.waits(o.run, 4)
	first := received(inbox[0])
	first.Issued = []journal.Issued{{Kind: journal.CommandReply, Name: "done", Detail: "1"}}
	replies(o, o.build(keep, started(), first, received(inbox[1])), "first", 1)
	replies(o, o.build(keep, received(inbox[2])), "first", 2, 3)
	k.ok(back(k, driver.AdminReset, o.run, 3, without("again")))
	k.same("answered in the kept events", string(k.answer(o.run, 1).Answer.Payload.Data), "first")
	for _, n := range []journal.InboxSeq{2, 3} {
		if a := k.answer(o.run, n).Answer; a != nil {
			k.t.Errorf("update %d has an answer: %+v", n, a)
		}
	}
	if a := k.answer(o.run, 4).Answer; a == nil || a.Rejected || k.failure(a.Payload).Type != journal.FailureAborted {
		k.t.Errorf("the update that is left out: %+v", a)
	}
	k.inboxIs(o.run, "3 again 3")
	o = k.take(node, 1)[0]
	replies(o, o.build(keep, received(k.first(o.run))), "second", 2, 3)
	for _, n := range []journal.InboxSeq{2, 3} {
		k.same("the second answer", string(k.answer(o.run, n).Answer.Payload.Data), "second")
	}
	o.commit(closed, completed("1"))
}

// A rejected update does not come again.
func rejectedStays(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	k.sends(signal(o.run, "a", "1"), update(o.run, "u", "2"), signal(o.run, "b", "3"))
	inbox := k.waits(o.run, 3)
	o.submit(o.reject(keep, []journal.InboxSeq{2}, started(), received(inbox[0]), received(inbox[2])))
	k.ok(back(k, driver.AdminReset, o.run, 1))
	k.inboxIs(o.run, "1 a 1", "1 b 3")
	if a := k.answer(o.run, 2).Answer; a == nil || !a.Rejected {
		k.t.Errorf("the rejection: %+v", a)
	}
	o = k.take(node, 1)[0]
	o.commit(keep, received(inbox[0]))
	k.inboxIs(o.run, "1 b 3")
	o.commit(closed, received(inbox[2]), completed("1"))
}

// Children that the branch has started are asked to cancel, but for those that outlive their
// parent, or are left alone. Those of the kept events go on.
func childrenOfBranch(k *kit) {
	node := k.join(leaseLong).ID()
	for _, leave := range []bool{false, true} {
		o := k.one(node)
		kept := o.bears(journal.CloseCancel)[0]
		var list [3]journal.Start
		k.send(o.run, "sig", "1")
		sig := received(k.first(o.run))
		sig.Issued = asksChild(3).Issued
		c := o.build(keep, sig)
		for i, policy := range []journal.ClosePolicy{journal.CloseCancel, journal.CloseTerminate, journal.CloseAbandon} {
			list[i] = o.child(journal.Cmd(2+i), policy)
		}
		c.Starts = list[:]
		o.submit(c)
		k.ok(back(k, driver.AdminReset, o.run, 1, func(w *driver.Rewind) { w.KeepChildren = leave }))
		k.inboxIs(kept)
		for i := range list {
			if i < 2 && !leave {
				k.inboxIs(list[i].ID, "2  1")
			} else {
				k.inboxIs(list[i].ID)
			}
		}
		owners := k.takeAll(node)
		family := owners[kept]
		family.submit(family.withOutcome(family.build(closed, started(), completed("1"))))
		k.inboxIs(o.run, "1 sig 1", "4 flow 2")
		k.same("the answer", k.waits(o.run, 2)[1].Generation, journal.Generation(1))
		for _, child := range list {
			k.ok(k.admin(child.ID, driver.AdminTerminate))
		}
		k.ok(k.admin(o.run, driver.AdminTerminate))
	}
}

// Children of all generations are behind the point if the run begins anew, and those of the present
// one if that begins anew.
func childrenOfAll(k *kit) {
	node := k.join(leaseLong).ID()
	for _, whole := range []bool{false, true} {
		o := k.one(node)
		children := o.bears(journal.CloseCancel, journal.CloseTerminate, journal.CloseAbandon)
		k.send(o.run, "sig", "1")
		o.submit(o.continued(keep, nil, received(k.first(o.run))))
		c := o.build(keep, asksChild(1))
		child := o.child(1, journal.CloseCancel)
		c.Starts = []journal.Start{child}
		o.submit(c)
		k.ok(back(k, driver.AdminReset, o.run, 0, func(w *driver.Rewind) { w.Whole = whole }))
		k.inboxIs(child.ID, "2  1")
		for i := range children {
			if whole && i < 2 {
				k.inboxIs(children[i], "2  1")
			} else {
				k.inboxIs(children[i])
			}
		}
		for _, run := range append(children, child.ID, o.run) {
			k.ok(k.admin(run, driver.AdminTerminate))
		}
	}
}

// A child of the kept events that has ended while its parent was closed answers it now. One that
// answered before does not do so twice.
func childrenEnded(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	children := o.bears(journal.CloseAbandon, journal.CloseAbandon, journal.CloseAbandon)
	owners := k.takeAll(node)
	end := func(i int) {
		k.t.Helper()
		c := owners[children[i]]
		c.submit(c.withOutcome(c.build(closed, started(), completed(`"done"`))))
	}
	end(0)
	answer := received(k.first(o.run))
	answer.Issued = []journal.Issued{{Kind: journal.CommandStep, Name: "a"}}
	o.commit(keep, answer)
	o.commit(closed, stepFailed(4, "a"), ended(journal.RunFailed))
	end(1)
	k.ok(back(k, driver.AdminRetry, o.run, 2))
	k.inboxIs(o.run, "4 flow 2")
	m := k.first(o.run)
	k.same("the answer", []any{m.Cmd, m.Generation, string(m.Payload.Data)}, []any{journal.Cmd(2), journal.Generation(1), `"done"`})
	end(2)
	k.inboxIs(o.run, "4 flow 2", "4 flow 3")
	k.ok(back(k, driver.AdminReset, o.run, 1))
	k.inboxIs(o.run, "4 flow 1", "4 flow 2", "4 flow 3")
	k.ok(k.admin(o.run, driver.AdminTerminate))
}

// A child that goes on has told its parent already, which hears no more of it. It is a child all
// the same: it goes with its parent.
func childRetried(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	child := o.bears(journal.CloseTerminate)[0]
	c := k.takeRun(node, child)
	c.submit(c.withOutcome(c.build(closed, started("a"), stepFailed(1, "a"), ended(journal.RunFailed))))
	k.inboxIs(o.run, "5 flow 1")
	k.ok(back(k, driver.AdminRetry, child, 1))
	c = k.takeAll(node)[child]
	c.submit(c.withOutcome(c.build(closed, stepDone(1, "a", "1"), completed("1"))))
	k.inboxIs(o.run, "5 flow 1")
	k.ok(back(k, driver.AdminReset, child, 1))
	o.submit(o.closing(received(k.first(o.run))))
	k.same("the child", k.row(child).Status, journal.Terminated)
}
