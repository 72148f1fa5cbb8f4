package journaltest

import (
	"bytes"
	"errors"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// An operator leaves a message out, or gives a step its result (J13): the run itself goes back.
var amendChecks = []check{
	{"J13_AMessageIsLeftOut", messageSkipped},
	{"J13_AMessageIsLeftOutAmidMany", skippedAmid},
	{"J13_AStepIsGivenItsResult", stepGiven},
	{"J13_NoEventIsTakenBackUnseen", takenUnseen},
}

// skipping leaves a message out.
func skipping(n journal.InboxSeq) func(*driver.Rewind) {
	return func(w *driver.Rewind) { w.Messages = driver.Again{Skip: n, Cancel: true} }
}

// A message that is left out does not come again, also not with a later reset that keeps less, but
// for one that begins the run anew with all messages that there were. All others come in their
// order, a request to cancel too. Who has sent an update hears that it is left out.
func messageSkipped(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	k.send(o.run, "kept", "")
	k.send(o.run, "poison", "p")
	k.sends(update(o.run, "up", "up"), journal.OrphanCancel(o.run))
	k.send(o.run, "last", "")
	o.commit(keep, started(), received(k.waits(o.run, 5)[0]))
	k.ok(back(k, driver.AdminSkip, o.run, 2, skipping(2)))
	k.inboxIs(o.run, "3 up 3", "2  4", "1 last 5")
	k.ok(back(k, driver.AdminSkip, o.run, 2, skipping(3)))
	k.inboxIs(o.run, "2  4", "1 last 5")
	if a := k.answer(o.run, 3).Answer; a == nil || !bytes.Equal(a.Payload.Data, driver.Discarded().Data) {
		k.t.Errorf("the answer of an update that is left out: %+v", a)
	}
	if s := k.send(o.run, "poison", "p"); !s.Duplicate || s.Number != 2 {
		k.t.Errorf("the message that is left out, sent again: %+v", s)
	}
	k.ok(back(k, driver.AdminReset, o.run, 1, skipping(4)))
	k.inboxIs(o.run, "1 kept 1", "1 last 5")
	if s := k.sends(journal.OrphanCancel(o.run))[0]; s.Duplicate || s.Number != 6 {
		k.t.Errorf("a request to cancel, after one was left out: %+v", s)
	}
	k.same("audit", details(k, o.run), []string{
		"skip: generation 2 begins with events 1 to 2 of generation 1; message 2 is left out",
		"skip: generation 3 begins with events 1 to 2 of generation 2; message 3 is left out",
		"reset: generation 4 begins with events 1 to 1 of generation 3; message 4 is left out",
	})
	if err := back(k, driver.AdminSkip, o.run, 1, skipping(-1)); !errors.Is(err, journal.ErrInvalid) {
		k.t.Errorf("a message that cannot be: %v", err)
	}
	o = k.take(node, 1)[0]
	inbox := k.waits(o.run, 3)
	o.commit(keep, received(inbox[0]))
	if err := back(k, driver.AdminSkip, o.run, 2, skipping(1)); !errors.Is(err, journal.ErrInvalid) {
		k.t.Errorf("a message that the kept events have: %v", err)
	}
	o.commit(closed, received(inbox[1]), received(inbox[2]), ended(journal.RunCancelled))
	k.ok(back(k, driver.AdminReset, o.run, 0, func(w *driver.Rewind) { w.Whole = true }))
	k.inboxIs(o.run, "1 kept 1", "1 poison 2", "3 up 3", "1 last 5")
	o = k.take(node, 1)[0]
	inbox = k.waits(o.run, 4)
	o.commit(closed, started(), received(inbox[0]), received(inbox[1]), received(inbox[2]), received(inbox[3]), completed("1"))
}

// What a run has to remember of its inbox depends on what comes before the message, not after.
func skippedAmid(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	for range 9 {
		k.sends(signal(o.run, "sig", ""))
	}
	o.commit(keep, started(), received(k.waits(o.run, 9)[0]))
	k.ok(back(k, driver.AdminSkip, o.run, 2, skipping(3)))
	k.same("the beginning of its inbox", k.row(o.run).Continued, &journal.Continue{Seen: 3, Carried: []journal.InboxSeq{1, 2}})
	k.ok(back(k, driver.AdminSkip, o.run, 1, skipping(1)))
	k.same("the beginning of its inbox", k.row(o.run).Continued, &journal.Continue{Seen: 3, Carried: []journal.InboxSeq{2}})
	k.inboxIs(o.run, "1 sig 2", "1 sig 4", "1 sig 5", "1 sig 6", "1 sig 7", "1 sig 8", "1 sig 9")
	o = k.take(node, 1)[0]
	inbox := k.waits(o.run, 7)
	o.submit(o.continued(keep, []journal.InboxSeq{2, 4}, received(inbox[0]), received(inbox[1])))
	k.same("carried over", k.row(o.run).Continued, &journal.Continue{Seen: 4, Carried: []journal.InboxSeq{2, 4}})
	k.ok(back(k, driver.AdminSkip, o.run, 0, skipping(2)))
	k.inboxIs(o.run, "1 sig 4", "1 sig 5", "1 sig 6", "1 sig 7", "1 sig 8", "1 sig 9")
	k.take(node, 1)
}

// A step of the run itself is given its result, whether it has none yet or the kept events have not
// got it. The result waits in the task, whoever claims it, and what was tried is forgotten.
func stepGiven(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	c := o.build(keep, started("a", "b"))
	c.Attempts = []journal.Attempt{{Cmd: 2, Name: "b", Made: 3}}
	o.submit(c)
	out := journal.Payload{Encoding: "x", Data: []byte("good")}
	give := func(cmd journal.Cmd, name string) func(*driver.Rewind) {
		return func(w *driver.Rewind) { w.Given = []driver.Given{{Cmd: cmd, Name: name, Output: out}} }
	}
	k.ok(back(k, driver.AdminEdit, o.run, 1, give(2, "b")))
	k.same("given", k.row(o.run).Task.Attempts, []journal.Attempt{{Cmd: 2, Name: "b", Given: &out}})
	o = k.take(node, 1)[0]
	k.same("claimed", k.history(o.run).Run.Task.Attempts, []journal.Attempt{{Cmd: 2, Name: "b", Given: &out}})
	o.commit(closed, stepDone(2, "b", "good"), stepFailed(1, "a"), ended(journal.RunFailed))
	k.ok(back(k, driver.AdminEdit, o.run, 2, give(1, "a"))) // it opens the run
	k.same("given", k.row(o.run).Task.Attempts, []journal.Attempt{{Cmd: 1, Name: "a", Given: &out}})
	k.same("audit", details(k, o.run), []string{
		"edit: generation 2 begins with events 1 to 1 of generation 1; results are given for step b (command 2)",
		"edit: generation 3 begins with events 1 to 2 of generation 2; results are given for step a (command 1)",
	})
	if err := back(k, driver.AdminEdit, o.run, 1, give(0, "a")); !errors.Is(err, journal.ErrInvalid) {
		k.t.Errorf("a result of no command: %v", err)
	}
	k.take(node, 1)[0].commit(closed, stepDone(1, "a", "good"), completed("1"))
}

// Who takes nothing back is refused if events have come that it does not know.
func takenUnseen(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	atEnd := func(w *driver.Rewind) { w.AtEnd = true }
	o.commit(keep, started("a"))
	k.ok(back(k, driver.AdminSkip, o.run, 1, atEnd))
	o = k.take(node, 1)[0]
	o.commit(keep, stepDone(1, "a", "1", "b"))
	was := k.history(o.run)
	if err := back(k, driver.AdminSkip, o.run, 1, atEnd); !errors.Is(err, driver.ErrMoved) {
		k.t.Errorf("an event that came meanwhile: %v", err)
	}
	k.same("the run", k.history(o.run), was)
	k.ok(back(k, driver.AdminSkip, o.run, 1, atEnd, func(w *driver.Rewind) { w.Behind = 1 })) // it knows of one
	o = k.take(node, 1)[0]
	o.commit(closed, stepDone(1, "a", "1"), completed("1"))
}
