package journaltest

import (
	"errors"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// An update is answered beside its message. A rejected one must be as if it had never come (J5),
// which touches every place where a message leaves a trace: number, key, wake-up.
var replyChecks = []check{
	{"J2_AReplyIsReadBack", replyReadBack},
	{"J5_ARejectedUpdateLeavesNoTrace", rejectedUpdate},
	{"J5_ARejectedUpdateAmongOthers", rejectedAmongOthers},
	{"J6_ARejectedUpdateDoesNotWakeAgain", rejectedDoesNotWake},
	{"J7_AnUpdateThatACloseLeavesUnanswered", updateOfClosedRun},
}

// answer asks for the reply to an update.
func (k *kit) answer(run journal.RunID, number journal.InboxSeq) driver.History {
	k.t.Helper()
	h := k.load(driver.LoadRequest{Run: run, Answer: number})
	k.ok(h.Err)
	if h.Run.ID != run || len(h.Events) > 0 || len(h.Inbox) > 0 {
		k.t.Errorf("the answer to message %d comes with %+v", number, h)
	}
	if h.Run.Status.Closed() != (h.Run.Terminal != nil) || h.Run.Status.Closed() != (h.Run.Task == nil) {
		k.t.Errorf("the answer to message %d: the run is %s, its terminal event %+v, its task %+v", number, h.Run.Status, h.Run.Terminal, h.Run.Task)
	}
	return h
}

// A reply is kept with its update: whoever asks for it, now or later, gets the same.
func replyReadBack(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	k.sends(update(o.run, "u", "1"), update(o.run, "u", "2"), update(o.run, "v", "3"))
	inbox := k.waits(o.run, 3)
	k.same("kind of the event", received(inbox[0]), journal.Event{Kind: journal.UpdateReceived, Inbox: 1, Name: "u", Payload: inbox[0].Payload})
	for n := range journal.InboxSeq(5) {
		if h := k.answer(o.run, n+1); h.Answer != nil {
			k.t.Errorf("message %d is answered: %+v", n+1, h.Answer)
		}
	}
	c := o.build(keep, started(), received(inbox[0]), received(inbox[1]))
	c.Replies = []journal.Reply{{Number: 1, Payload: journal.Payload{Encoding: "x", Data: []byte{0, 255, '\n'}}}}
	o.submit(c)
	k.same("first answer", k.answer(o.run, 1).Answer, &journal.Answer{Payload: c.Replies[0].Payload})
	k.same("second answer", k.answer(o.run, 2).Answer, (*journal.Answer)(nil))
	failed := journal.EncodeFailure(&journal.Failure{Type: "T", Message: "ü"})
	c = o.build(keep, received(inbox[2]))
	c.Replies = []journal.Reply{{Number: 3}, {Number: 2, Payload: failed}} // in any order
	o.submit(c)
	k.same("second answer", k.answer(o.run, 2).Answer, &journal.Answer{Payload: failed})
	k.same("third answer", k.answer(o.run, 3).Answer, &journal.Answer{})
	k.same("events", len(k.history(o.run).Events), 4)
	if s := k.sends(update(o.run, "u", "1"))[0]; !s.Duplicate || s.Number != 1 {
		k.t.Errorf("sent again: %+v", s)
	}
	o.commit(closed, completed("1"))
	for n, want := range []journal.Answer{{Payload: journal.Payload{Encoding: "x", Data: []byte{0, 255, '\n'}}}, {Payload: failed}, {}} {
		k.same("answer of a closed run", k.answer(o.run, journal.InboxSeq(n+1)).Answer, &want)
	}
	if s := k.sends(update(o.run, "u", "1"))[0]; s.Err != nil || !s.Duplicate || s.Number != 1 {
		k.t.Errorf("sent again to the closed run: %+v, want the number to ask for", s)
	}
	if h := k.load(driver.LoadRequest{Run: journal.NewRunID(), Answer: 1}); !errors.Is(h.Err, journal.ErrNotFound) {
		k.t.Errorf("answer of an unknown run: %+v", h)
	}
}

// reject builds a commit that rejects messages.
func (o *owner) reject(next driver.Next, numbers []journal.InboxSeq, events ...journal.Event) driver.Commit {
	c := o.build(next, events...)
	for _, n := range numbers {
		why := journal.EncodeFailure(&journal.Failure{Type: journal.FailureRejected, Message: "no"})
		c.Replies = append(c.Replies, journal.Reply{Number: n, Payload: why, Rejected: true})
		c.InboxSeen = max(c.InboxSeen, n)
	}
	return c
}

// An update that was rejected leaves no event, no wake-up and no key. It may be sent again as if
// it were new.
func rejectedUpdate(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	k.sends(update(o.run, "u", "key"))
	c := o.reject(keep, []journal.InboxSeq{1}, started())
	if out := o.submit(c); out.InboxLast != 1 {
		k.t.Errorf("newest message %d, want 1", out.InboxLast)
	}
	k.same("answer", k.answer(o.run, 1).Answer, &journal.Answer{Payload: c.Replies[0].Payload, Rejected: true})
	h := k.history(o.run)
	k.same("events", len(h.Events), 1)
	k.inboxIs(o.run)

	again := k.sends(update(o.run, "u", "key"), update(o.run, "u", "key"))
	k.same("sent again", again, []journal.Sent{{Number: 2, Owner: node, Route: flowRoute}, {Number: 2, Owner: node, Route: flowRoute, Duplicate: true}})
	k.inboxIs(o.run, "3 u 2")
	c = o.build(keep, received(k.first(o.run)))
	c.Replies = []journal.Reply{{Number: 2, Payload: journal.Payload{Data: []byte("yes")}}}
	o.submit(c)
	k.same("the new answer", string(k.answer(o.run, 2).Answer.Payload.Data), "yes")
	if a := k.answer(o.run, 1).Answer; a == nil || !a.Rejected {
		k.t.Errorf("the old answer: %+v", a)
	}
	if s := k.sends(update(o.run, "u", "key"))[0]; !s.Duplicate || s.Number != 2 {
		k.t.Errorf("sent a third time: %+v", s)
	}
	o.commit(closed, completed("1"))
	if a := k.answer(o.run, 1).Answer; a == nil || !a.Rejected {
		k.t.Errorf("the rejection after the close: %+v", a)
	}
}

// A rejection consumes its message in order, between others that become events.
func rejectedAmongOthers(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	k.sends(signal(o.run, "a", "1"), update(o.run, "u", "2"), update(o.run, "u", "3"), signal(o.run, "b", "4"), update(o.run, "u", "5"), signal(o.run, "c", "6"))
	inbox := k.waits(o.run, 6)
	o.submit(o.reject(keep, []journal.InboxSeq{2, 3}, started(), received(inbox[0]), received(inbox[3])))
	k.inboxIs(o.run, "3 u 5", "1 c 6")
	k.same("what waits behind 5", len(k.load(driver.LoadRequest{Run: o.run, InboxOnly: true, AfterInbox: 5}).Inbox), 1)
	o.submit(o.reject(release, []journal.InboxSeq{5}))
	k.inboxIs(o.run, "1 c 6")
	o = k.take(node, 1)[0]
	k.same("what the next owner has seen", o.seen, journal.InboxSeq(5))
	o.commit(park, received(inbox[5]))
	k.nothingDue(node)
	k.inboxIs(o.run)
	events := k.history(o.run).Events
	k.same("payloads", []string{string(events[1].Payload.Data), string(events[2].Payload.Data), string(events[3].Payload.Data)},
		[]string{"a/1", "b/4", "c/6"})
}

// A run that is parked after rejecting its last message is not visible: nothing waits.
func rejectedDoesNotWake(k *kit) {
	node := k.join(leaseLong).ID()
	for _, next := range parks(k) {
		o := k.one(node)
		k.sends(update(o.run, "u", "1"))
		o.submit(o.reject(next, []journal.InboxSeq{1}, started()))
		k.nothingDue(node)
		k.ok(k.admin(o.run, driver.AdminResume))
		o = k.take(node, 1)[0]
		o.commit(next)
		k.nothingDue(node)
		k.sends(update(o.run, "u", "1")) // new, as its key was freed
		o = k.take(node, 1)[0]
		o.submit(o.reject(keep, []journal.InboxSeq{2}))
		k.same("attention", len(k.claim(node, 0).Attention), 0)
	}
}

// An update that a close leaves unanswered has no reply, and a reader can tell that it never will.
func updateOfClosedRun(k *kit) {
	node := k.join(leaseLong).ID()
	for _, read := range []bool{true, false} {
		o := k.one(node)
		k.sends(update(o.run, "u", "1"))
		events := []journal.Event{started()}
		if read {
			events = append(events, received(k.first(o.run)))
		}
		c := o.build(closed, append(events, completed("1"))...)
		o.submit(c)
		h := k.answer(o.run, 1)
		k.same("answer", h.Answer, (*journal.Answer)(nil))
		k.same("status", h.Run.Status, journal.Completed)
		k.same("terminal event", h.Run.Terminal, c.Terminal())
		if s := k.sends(update(o.run, "u", "2"))[0]; !errors.Is(s.Err, journal.ErrClosed) {
			k.t.Errorf("another update: %+v, want ErrClosed", s)
		}
	}
	both := k.one(node) // the last turn answers, and closes the run
	k.sends(update(both.run, "u", "1"), update(both.run, "u", "2"))
	c := both.reject(closed, []journal.InboxSeq{2}, started(), received(k.first(both.run)), completed("1"))
	c.Replies = append(c.Replies, journal.Reply{Number: 1, Payload: journal.Payload{Data: []byte("last")}})
	both.submit(c)
	k.same("last answer", string(k.answer(both.run, 1).Answer.Payload.Data), "last")
	k.same("last rejection", k.answer(both.run, 2).Answer.Rejected, true)
}
