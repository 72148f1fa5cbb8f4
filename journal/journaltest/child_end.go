package journaltest

import (
	"errors"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// How children end, and what their parents hear of it.

// The close of a child is a message in its parent's inbox, and it makes a parked parent visible.
func childCloses(k *kit) {
	node := k.join(leaseLong).ID()
	for _, end := range []journal.Kind{journal.RunCompleted, journal.RunFailed, journal.RunCancelled} {
		parent := k.one(node)
		ids := parent.bears(0)
		parent.commit(park)
		child := k.takeRun(node, ids[0])
		c := child.withOutcome(child.build(closed, started(), ended(end)))
		out := child.submit(c)
		k.same("told", out.Sent, []journal.Sent{{Number: 1, Route: flowRoute}})
		parent = k.takeRun(node, parent.run)
		m := k.first(parent.run)
		want := journal.Message{Run: parent.run, Number: 1, Kind: journal.MessageChildFailed, Name: flow, Key: m.Key, Time: m.Time,
			Payload: c.Terminal().Payload, Cmd: 1, Generation: 1}
		if end == journal.RunCompleted {
			want.Kind = journal.MessageChildCompleted
		}
		k.same("message", m, want)
		ev := received(m)
		ev.Payload = journal.Payload{}
		parent.commit(closed, ev, completed("1"))
		k.same("payload of its event", k.history(parent.run).Events[1].Payload, want.Payload)
	}
}

// A parent also hears of a child that was terminated and ran no code of its own at the end.
func childTerminated(k *kit) {
	node := k.join(leaseLong).ID()
	parent := k.one(node)
	ids := parent.bears(0, journal.CloseAbandon)
	parent.commit(park)
	for i, id := range ids {
		k.ok(k.admin(id, driver.AdminTerminate))
		parent = k.takeRun(node, parent.run)
		inbox := k.history(parent.run).Inbox
		if len(inbox) != 1 || inbox[0].Kind != journal.MessageChildFailed || inbox[0].Cmd != journal.Cmd(i+1) {
			k.t.Fatalf("inbox after the termination of child %d: %+v", i, inbox)
		}
		k.same("payload", inbox[0].Payload, k.row(id).Terminal.Payload)
		parent.commit(park, received(inbox[0]))
	}
}

// childOutlives: what a child says to a parent that is closed, or gone, is dropped.
func childOutlives(k *kit) {
	node := k.join(leaseLong).ID()
	parent := k.one(node)
	ids := parent.bears(0, 0, 0, 0)
	parent.commit(closed, completed("1"))
	children := k.takeAll(node)
	for i, id := range ids {
		if i == 2 {
			k.ok(k.admin(parent.run, driver.AdminDelete))
		}
		if i%2 == 0 {
			k.ok(k.admin(id, driver.AdminTerminate))
			continue
		}
		child := children[id]
		child.submit(child.withOutcome(child.build(closed, started(), completed("1"))))
		k.same("status", k.row(id).Status, journal.Completed)
		if i < 2 {
			k.inboxIs(parent.run)
		}
	}
	k.gone(parent.run)
}

// familyInABatch: a message between members of one batch arrives, whichever stands first.
func familyInABatch(k *kit) {
	node := k.join(leaseLong).ID()
	for _, next := range []driver.Next{park, keep, release} {
		for _, childFirst := range []bool{true, false} {
			parent := k.one(node)
			ids := parent.bears(0)
			child := k.takeRun(node, ids[0])
			batch := []driver.Commit{parent.build(next), child.withOutcome(child.build(closed, started(), completed("1")))}
			last := 0
			if childFirst {
				batch[0], batch[1], last = batch[1], batch[0], 1
			}
			out, err := k.commits(batch...)
			k.ok(err)
			k.ok(errors.Join(out[0].Err, out[1].Err))
			k.same("newest message", out[last].InboxLast, journal.InboxSeq(1))
			k.inboxIs(parent.run, "4 flow 1")
			if next.Kind == driver.NextKeep {
				k.same("attention", k.claim(node, 0).Attention, []journal.RunID{parent.run})
				parent.accept(&batch[last])
			} else {
				parent = k.takeRun(node, parent.run)
			}
			parent.commit(closed, received(k.first(parent.run)), completed("1"))
		}
	}
}
