package journaltest

import (
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A generation ends and the next begins in one commit. History, numbers and route begin anew;
// inbox, keys, task and children stay. These checks are about what must not be mixed up: answers,
// carried messages, and commits of the generation before.
var continueChecks = []check{
	{"J1_AGenerationBeginsAnew", generationBegins},
	{"J1_AGenerationSealsTheOneBefore", generationSeals},
	{"J3_AGenerationMayChangeItsRoute", generationRoute},
	{"J4_AResubmittedContinueIsRecognised", continueOnce},
	{"J5_CarriedMessagesComeFirst", carriedFirst},
	{"J5_UnreadMessagesFollow", unreadFollow},
	{"J5_AnUpdateAnsweredAtTheEndDoesNotComeBack", answeredAtTheEnd},
	{"J5_KeysDeduplicateAcrossGenerations", keysAcrossGenerations},
	{"J5_SendsRaceContinues", sendsRaceContinues},
	{"J6_AGenerationIsWokenByWhatItHasNotSeen", generationWakes},
	{"J7_AGenerationClosesItsRun", generationCloses},
	{"List_RunsThatHaveNotTakenAChange", listUnchanged},
}

// continued builds the last commit of a generation. The next one carries messages over.
func (o *owner) continued(next driver.Next, carried []journal.InboxSeq, events ...journal.Event) driver.Commit {
	ev := journal.Event{Kind: journal.RunContinued, Payload: journal.Payload{Data: []byte("old")}}
	c := o.build(next, append(events, ev)...)
	c.Continue = &journal.Continue{Input: journal.Payload{Encoding: "x", Data: fmt.Appendf(nil, "of generation %d", o.gen+1)}, Version: 1,
		Seen: c.InboxSeen, Carried: carried}
	return c
}

// The next generation begins with an empty history, its own input and seq 1, under the same id and
// task.
func generationBegins(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.takeStarted(node, journal.Start{Key: "key", Labels: map[string]string{"l": "v"}, Input: journal.Payload{Data: []byte("first")}, Priority: 2})
	first := o.build(keep, started("a"))
	first.Attempts = []journal.Attempt{{Cmd: 1, Name: "a", Made: 3}}
	first.Waiting = []string{"step a"}
	o.submit(first)
	before := k.row(o.run)
	c := o.continued(keep, nil, stepDone(1, "a", "1"))
	o.submit(c)
	after := k.row(o.run)
	want := before
	task := *before.Task
	task.Generation, task.Turn, task.Attempts, task.Waiting = 2, 2, nil, nil
	want.Generation, want.Input, want.Continued, want.Task = 2, c.Continue.Input, &journal.Continue{}, &task
	k.same("row", after, want)
	h := k.history(o.run)
	k.same("events of the new generation", len(h.Events), 0)
	k.same("input", h.Run.Input, c.Continue.Input)
	k.same("what it began with", h.Run.Continued, &journal.Continue{})
	if again := k.starts(journal.Start{Key: "key"})[0]; again.Created || again.Run != o.run {
		k.t.Errorf("the key leads to %+v", again)
	}

	second := o.build(release, started("b"))
	k.same("first seq", second.Events[0].Seq, journal.Seq(1))
	o.submit(second)
	claim := k.claim(node, 1).Tasks[0]
	if claim.Task.Generation != 2 || claim.Run.Generation != 2 || claim.Run.Continued == nil {
		k.t.Errorf("claimed %+v", claim)
	}
	o = k.owner(node, claim)
	k.same("events", k.history(o.run).Events, second.Events)
	o.submit(o.continued(release, nil, stepDone(1, "b", "2")))
	o = k.take(node, 1)[0]
	if o.gen != 3 || o.head.Seq != 0 {
		k.t.Errorf("generation %d has %d events", o.gen, o.head.Seq)
	}
	o.commit(closed, started(), completed("1"))
}

// generationSeals: the past of a run is out of reach for its owners.
func generationSeals(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	stale := *o
	o.submit(o.continued(keep, nil, started("a")))
	k.unchanged("the generation before", func() {
		stale.refused(stale.build(keep, started("a")), "a turn of the generation before", func(err error) bool { return err == nil || fenced(err) })
	})
	o.commit(keep, started("b"))
	k.unchanged("the generation before", func() {
		stale.refused(stale.build(keep, started("c")), "a turn of the generation before", fenced)
	})
}

// A generation may belong to another version of the workflow. From that commit on only nodes of
// the new route are offered the run.
func generationRoute(k *kit) {
	second := journal.Route{Queue: journal.DefaultQueue, Workflow: flow, Version: 2}
	old, young := k.join(leaseLong).ID(), k.join(leaseLong, second).ID()
	claim := func(node journal.NodeID, route journal.Route) driver.Claim {
		k.t.Helper()
		c, err := k.j.Claim(k.ctx, driver.ClaimRequest{Node: node, Routes: []journal.Route{route}, Max: 5})
		k.ok(err)
		return c
	}
	for _, next := range []driver.Next{release, keep} {
		o := k.one(old)
		c := o.continued(next, nil, started())
		c.Continue.Version = 2
		o.submit(c)
		if next.Kind == driver.NextKeep {
			k.same("sent", k.send(o.run, "s", "1"), journal.Sent{Number: 1, Owner: old, Route: second})
			o.commit(release, started(), received(k.first(o.run)))
		}
		k.nothingDue(old)
		got := claim(young, second).Tasks
		if len(got) != 1 || got[0].Task.Version != 2 || got[0].Run.Version != 2 {
			k.t.Fatalf("claimed %+v", got)
		}
		k.same("version", k.row(o.run).Version, int32(2))
		k.same("listed by version", len(k.listAll(journal.ListFilter{IDs: []journal.RunID{o.run}, Workflow: flow, Version: 2})), 1)
		o = k.owner(young, got[0])
		o.commit(closed, ended(journal.RunCompleted))
	}
}

// A continue whose answer was lost is recognised when it is submitted again: it does not begin a
// second generation.
func continueOnce(k *kit) {
	node := k.join(leaseLong).ID()
	for _, next := range []driver.Next{release, keep} {
		o := k.one(node)
		k.send(o.run, "s", "1")
		c := o.continued(next, []journal.InboxSeq{1}, started(), received(k.first(o.run)))
		o.submit(c)
		k.unchanged("a second try", func() {
			for range 2 {
				out, err := k.commits(c)
				k.ok(err)
				k.ok(out[0].Err)
			}
		})
		k.same("generation", k.row(o.run).Generation, journal.Generation(2))
		k.takeAll(node)
	}
}

// Messages that were consumed but not received come first in the next generation, in their order.
func carriedFirst(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	for n := range 5 {
		k.send(o.run, fmt.Sprint("s", n+1), "")
	}
	inbox := k.waits(o.run, 5)
	o.submit(o.continued(release, []journal.InboxSeq{1, 3}, started(), received(inbox[0]), received(inbox[1]), received(inbox[2])))
	k.inboxIs(o.run, "1 s1 1", "1 s3 3", "1 s4 4", "1 s5 5")
	k.same("what waits", k.history(o.run).Inbox, []journal.Message{inbox[0], inbox[2], inbox[3], inbox[4]})
	k.same("what waits behind 1", len(k.load(driver.LoadRequest{Run: o.run, AfterInbox: 1}).Inbox), 3)
	k.same("what waits behind 3", len(k.load(driver.LoadRequest{Run: o.run, AfterInbox: 3, InboxOnly: true}).Inbox), 2)
	want := &journal.Continue{Seen: 3, Carried: []journal.InboxSeq{1, 3}}
	claim := k.claim(node, 1).Tasks[0]
	k.same("claimed", claim.Run.Continued, want)
	k.same("loaded", k.history(o.run).Run.Continued, want)
	k.same("listed", k.row(o.run).Continued, want)
	o = k.owner(node, claim)
	o.commit(keep, started(), received(inbox[0]))
	k.inboxIs(o.run, "1 s3 3", "1 s4 4", "1 s5 5")
	o.commit(release, received(inbox[2]), received(inbox[3]))
	k.inboxIs(o.run, "1 s5 5")
	o = k.take(node, 1)[0]
	k.same("seen", o.seen, journal.InboxSeq(4))
	events := k.history(o.run).Events
	k.same("payload of a message that was carried", events[2].Payload, inbox[2].Payload)
	// A message may be carried again and again; one that was left behind never comes back.
	o.submit(o.continued(keep, []journal.InboxSeq{3, 4}))
	k.inboxIs(o.run, "1 s3 3", "1 s4 4", "1 s5 5")
	o.submit(o.continued(release, []journal.InboxSeq{4}, started(), received(inbox[2])))
	k.inboxIs(o.run, "1 s4 4", "1 s5 5")
	o = k.take(node, 1)[0]
	o.commit(park, started(), received(inbox[3]), received(inbox[4]))
	k.nothingDue(node)
	k.inboxIs(o.run)
}

// An update that the end of its generation answers is consumed for good: it does not come to the
// next one, its answer stays, and its key is taken.
func answeredAtTheEnd(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	k.sends(update(o.run, "u", "key"), signal(o.run, "s", "other"))
	inbox := k.waits(o.run, 2)
	o.submit(o.build(keep, started(), received(inbox[0]), received(inbox[1])))
	why := journal.EncodeFailure(&journal.Failure{Type: journal.FailureAborted, Message: "over"})
	c := o.continued(keep, []journal.InboxSeq{2})
	c.Replies = []journal.Reply{{Number: 1, Payload: why}}
	o.submit(c)
	k.inboxIs(o.run, "1 s 2")
	for range 2 {
		k.same("answer", k.answer(o.run, 1).Answer, &journal.Answer{Payload: why})
		if s := k.sends(update(o.run, "u", "key"))[0]; !s.Duplicate || s.Number != 1 {
			k.t.Errorf("sent again: %+v, want the number to ask for", s)
		}
		o.submit(o.continued(keep, []journal.InboxSeq{2}, started()))
	}
}

// Messages that no generation has seen follow those that were carried over. None is lost between
// two generations.
func unreadFollow(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	k.sends(signal(o.run, "a", "1"), update(o.run, "u", "2"), update(o.run, "u", "3"), signal(o.run, "b", "4"))
	inbox := k.waits(o.run, 4)
	c := o.reject(keep, []journal.InboxSeq{2}, started(), received(inbox[0]), received(inbox[2]))
	o.submit(c)
	o.submit(o.continued(keep, []journal.InboxSeq{3})) // an update whose handler has not begun
	k.inboxIs(o.run, "3 u 3", "1 b 4")
	if a := k.answer(o.run, 2).Answer; a == nil || !a.Rejected {
		k.t.Errorf("the rejection of the generation before: %+v", a)
	}
	c = o.build(keep, started())
	c.Replies = []journal.Reply{{Number: 3, Rejected: true}} // now nobody handles it
	o.submit(c)
	k.inboxIs(o.run, "1 b 4")
	k.send(o.run, "c", "5")
	k.inboxIs(o.run, "1 b 4", "1 c 5")
	if s := k.sends(update(o.run, "u", "3"))[0]; s.Duplicate || s.Number != 6 {
		k.t.Errorf("sent with a key that was freed: %+v", s)
	}
	o.commit(closed, received(inbox[3]), completed("1"))
}

// A message's key holds for the life of the run: a sender that repeats itself after a continue-as-
// new finds its message.
func keysAcrossGenerations(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	cancel := journal.Message{Run: o.run, Kind: journal.MessageCancel}
	k.sends(signal(o.run, "a", "1"), signal(o.run, "a", "2"), cancel)
	inbox := k.waits(o.run, 3)
	o.submit(o.continued(keep, []journal.InboxSeq{2}, started(), received(inbox[0]), received(inbox[1])))
	for range 2 {
		for i, s := range k.sends(signal(o.run, "a", "1"), signal(o.run, "a", "2"), cancel) {
			if !s.Duplicate || int(s.Number) != i+1 {
				k.t.Errorf("message %d: %+v", i, s)
			}
		}
		o.submit(o.continued(keep, []journal.InboxSeq{2}))
	}
	k.inboxIs(o.run, "1 a 2", "2  3")
}

// sendsRaceContinues: however often a run continues, its senders find it, and nothing is lost or
// doubled.
func sendsRaceContinues(k *kit) {
	const senders, each = 6, 30
	node := k.join(leaseLong).ID()
	o := k.one(node)
	o.commit(keep, started())
	sent := make(chan error, senders)
	for s := range senders {
		go func() {
			var err error
			for n := range each {
				out, sendErr := k.j.Send(k.ctx, nil, []journal.Message{signal(o.run, "s", fmt.Sprint(s, n))})
				if err = errors.Join(err, sendErr); sendErr == nil {
					err = errors.Join(err, out[0].Err)
				}
			}
			sent <- err
		}()
	}
	got := map[string]int{}
	generations := 1
	k.eventually("all messages are consumed", func() bool {
		inbox := k.load(driver.LoadRequest{Run: o.run, InboxOnly: true}).Inbox
		var events []journal.Event
		var carried []journal.InboxSeq
		if o.head.Seq == 0 {
			events = append(events, started())
		}
		for i, m := range inbox {
			events = append(events, received(m))
			if i == len(inbox)-1 && len(inbox) > 1 {
				carried = append(carried, m.Number)
			} else {
				got[m.Key]++
			}
		}
		o.submit(o.continued(keep, carried, events...))
		generations++
		return len(got) == senders*each
	})
	for range senders {
		k.ok(<-sent)
	}
	for key, n := range got {
		if n != 1 {
			k.t.Errorf("message %s came %d times", key, n)
		}
	}
	k.same("generation", k.row(o.run).Generation, journal.Generation(generations))
}

// A generation that begins with messages it has not seen is visible, although nobody has sent it
// anything.
func generationWakes(k *kit) {
	node := k.join(leaseLong).ID()
	for _, next := range parks(k) {
		o := k.one(node)
		k.sends(signal(o.run, "a", "1"), signal(o.run, "a", "2"))
		inbox := k.waits(o.run, 2)
		o.submit(o.continued(keep, nil, started(), received(inbox[0]))) // message 2 came too late to be seen
		k.same("attention", k.claim(node, 0).Attention, []journal.RunID{o.run})
		o.commit(next, started())
		o = k.take(node, 1)[0]
		o.submit(o.continued(keep, nil, received(inbox[1])))
		o.commit(next, started()) // has consumed nothing itself
		k.nothingDue(node)
		k.send(o.run, "a", "3")
		o = k.take(node, 1)[0]
		o.submit(o.continued(keep, []journal.InboxSeq{3}, received(k.first(o.run))))
		o.commit(next, started(), received(k.first(o.run)))
		k.nothingDue(node)
	}
	o := k.one(node)
	o.submit(o.continued(release, nil, started()))
	o = k.take(node, 1)[0] // whatever its inbox says
	k.same("generation", o.gen, journal.Generation(2))
}

// A run closes in any of its generations, and its terminal event is the newest of that one.
func generationCloses(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	o.submit(o.continued(keep, nil, started("a", "b"), stepDone(1, "a", "1")))
	c := o.build(closed, started(), completed("of the second"))
	o.submit(c)
	r := k.row(o.run)
	k.same("terminal event", r.Terminal, c.Terminal())
	k.same("generation", r.Generation, journal.Generation(2))
	k.same("events", k.history(o.run).Events, c.Events)
	k.same("answer", k.answer(o.run, 1).Run.Terminal, c.Terminal())

	o = k.one(node)
	o.submit(o.continued(keep, nil, started("a", "b"), stepDone(1, "a", "1")))
	k.ok(k.admin(o.run, driver.AdminTerminate))
	r = k.row(o.run)
	if r.Terminal == nil || r.Terminal.Seq != 1 || r.Terminal.Kind != journal.RunTerminated {
		k.t.Errorf("terminated before its first event: %+v", r.Terminal)
	}
	o.refused(o.build(keep, started()), "the owner of a terminated run", fenced)
	k.ok(k.admin(o.run, driver.AdminDelete))
	k.gone(o.run)
	fresh := k.starts(journal.Start{ID: o.run, Delay: time.Hour})[0] // the old generations are gone too
	if !fresh.Created || len(k.history(o.run).Events) > 0 {
		k.t.Errorf("started again: %+v", fresh)
	}
}

// The filter finds open runs whose present generation has not taken the new branch of a change. It
// is how one learns that old code may go.
func listUnchanged(k *kit) {
	node := k.join(leaseLong).ID()
	change := func(name string) journal.Issued { return journal.Issued{Kind: journal.CommandChange, Name: name} }
	step := journal.Issued{Kind: journal.CommandStep, Name: "change new"}
	fresh := k.starts(journal.Start{Key: "fresh", Delay: time.Hour})[0].Run
	for key, list := range map[string][]journal.Issued{"without": {step}, "with": {step, change("new"), step}, "other": {change("newer"), change("ne")}} {
		o := k.takeStarted(node, journal.Start{Key: key})
		o.commit(keep, asks(list...))
	}
	first := k.takeStarted(node, journal.Start{Key: "continued"})
	first.submit(first.continued(keep, nil, asks(change("new"))))
	again := k.takeStarted(node, journal.Start{Key: "changed again"})
	again.submit(again.continued(keep, nil, asks(change("new"))))
	later := stepDone(1, "a", "1")
	later.Issued = []journal.Issued{change("new")}
	again.commit(keep, started("a"), later)
	k.takeStarted(node, journal.Start{Key: "closed"}).commit(closed, started(), completed("1"))
	keys := map[string]bool{}
	for _, key := range k.listed(journal.ListFilter{Unchanged: "new"}) {
		keys[key] = true
	}
	k.same("without the change", keys, map[string]bool{"fresh": true, "without": true, "other": true, "continued": true})
	k.same("of them with a key", k.listed(journal.ListFilter{Unchanged: "new", Key: "fresh"}), []string{"fresh"})
	k.same("of them with an id", k.listed(journal.ListFilter{Unchanged: "new", IDs: []journal.RunID{fresh, again.run}}), []string{"fresh"})
	k.same("in pages", len(k.listAll(journal.ListFilter{Unchanged: "new", Limit: 1})), 4)
}
