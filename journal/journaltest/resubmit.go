package journaltest

import (
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// An unknown outcome is resolved by doing the same again (J4). These checks repeat starts,
// messages, commits and claims as a caller does that got no answer, at every state in which the
// first try can have left things, and compare what is stored with one try's.
var resubmitChecks = []check{
	{"J4_ResubmittedCommitIsRecognised", resubmittedCommit},
	{"J4_ResubmittedBatchIsRecognised", resubmittedBatch},
	{"J4_ResubmittedCommitRacesItself", resubmittedCommitRaces},
	{"J4_ResubmittedCommitOfALostOwnerIsNotWrittenTwice", resubmittedByLostOwner},
	{"J4_ResubmittedStartIsRecognised", resubmittedStart},
	{"J4_ResubmittedMessageIsRecognised", resubmittedMessage},
	{"J4_LostClaimIsReconciled", lostClaimIsReconciled},
}

// A commit that was written is recognised as written when it comes again, in whatever way it left
// the task.
func resubmittedCommit(k *kit) {
	node := k.join(leaseLong).ID()
	soon := k.j.Now().Add(time.Hour)
	nexts := map[string]driver.Next{
		"keep": keep, "park": park, "park until": parkUntil(soon), "release": release, "block": block("p", soon), "close": closed,
	}
	for name, next := range nexts {
		o := k.one(node)
		k.send(o.run, "sig", "key")
		events := []journal.Event{started("a"), received(journal.Message{Kind: journal.MessageSignal, Name: "sig", Number: 1})}
		if next.Kind == driver.NextClose {
			events = append(events, completed("1"))
		}
		c := o.build(next, events...)
		if next.Kind != driver.NextClose {
			c.Attempts = []journal.Attempt{{Cmd: 1, Name: "a", Made: 1, NextAt: soon}}
		}
		first := o.submit(c)
		before := k.row(o.run)
		for range 2 {
			out, err := k.commits(c)
			k.ok(err)
			if out[0].Err != nil {
				k.t.Errorf("%s, submitted again: %v", name, out[0].Err)
			}
			if next.Kind != driver.NextClose && out[0].InboxLast != first.InboxLast {
				k.t.Errorf("%s, submitted again: newest message %d, was %d", name, out[0].InboxLast, first.InboxLast)
			}
		}
		k.same(name+", submitted again, changed the run", k.row(o.run), before)
		k.same(name+", submitted again, changed the history", len(k.history(o.run).Events), len(c.Events))
		if next.Kind == driver.NextRelease {
			k.take(node, 1)[0].commit(park)
		}
	}
}

// A whole batch can be submitted again: members that were written are recognised, the others are
// written now.
func resubmittedBatch(k *kit) {
	node := k.join(leaseLong).ID()
	owners := k.own(node, 6)
	batch := make([]driver.Commit, len(owners))
	for i, o := range owners {
		batch[i] = o.build(keep, started("a"))
		if i%2 == 1 {
			batch[i] = o.build(closed, started("a"), completed(fmt.Sprint(i)))
		}
	}
	_, err := k.commits(batch[:4]...) // part of it was written by an earlier try
	k.ok(err)
	out, err := k.commits(batch...)
	k.ok(err)
	for i := range out {
		if out[i].Err != nil {
			k.t.Errorf("member %d: %v", i, out[i].Err)
		}
		k.same("history", k.history(owners[i].run).Events, batch[i].Events)
	}
}

// resubmittedCommitRaces: the first try is still on its way when the second arrives.
func resubmittedCommitRaces(k *kit) {
	node := k.join(leaseLong).ID()
	for _, o := range k.own(node, 10) {
		c := o.build(keep, started("a"))
		k.together(4, func(int) error {
			out, err := k.commits(c)
			return errors.Join(err, out[0].Err)
		})
		o.accept(&c)
		k.same("history", k.history(o.run).Events, c.Events)
		o.commit(keep, stepDone(1, "a", "1"))
	}
}

// resubmittedByLostOwner: the run moved on since the first try. Whatever the answer is, nothing is
// written again.
func resubmittedByLostOwner(k *kit) {
	a, b := k.join(leaseLong), k.join(leaseLong)
	o := k.one(a.ID())
	c := o.build(release, started("a"))
	o.submit(c)
	next := k.take(b.ID(), 1)[0]
	check := func(want int) {
		k.t.Helper()
		if _, err := k.commits(c); err != nil {
			k.t.Fatal(err)
		}
		if got := len(k.history(o.run).Events); got != want {
			k.t.Fatalf("%d events, want %d", got, want)
		}
		if task := k.row(o.run).Task; task.Owner != b.ID() || task.Fence != next.fence {
			k.t.Fatalf("the task is %+v, want it owned by %d", task, b.ID())
		}
	}
	check(1)
	next.commit(keep, stepDone(1, "a", "1"))
	check(2)
	next.commit(closed, completed("1"))
	if _, err := k.commits(c); err != nil {
		k.t.Fatal(err)
	}
	k.same("events", len(k.history(o.run).Events), 3)
}

// A start that comes again finds its own run by id, also after that run has been owned or closed.
func resubmittedStart(k *kit) {
	m := k.join(leaseLong)
	plain := journal.Start{ID: journal.NewRunID(), Workflow: flow, Delay: time.Hour}
	keyed := journal.Start{ID: journal.NewRunID(), Workflow: flow, Key: "k", Delay: time.Hour}
	owned := journal.Start{ID: journal.NewRunID(), Workflow: flow, Owner: m.ID()}
	first := k.starts(plain, keyed, owned)
	again := k.starts(plain, keyed, owned)
	for i := range first {
		if !again[i].Created || again[i].Run != first[i].Run || !again[i].StartAt.Equal(first[i].StartAt) {
			k.t.Errorf("start %d, repeated: %+v, was %+v", i, again[i], first[i])
		}
	}
	if !first[2].Owned || !again[2].Owned {
		k.t.Errorf("owned start: %+v, repeated: %+v", first[2], again[2])
	}
	k.same("runs", len(k.listAll(journal.ListFilter{})), 3)

	o := bornOwner(k, m.ID(), owned.ID, owned.Input)
	o.commit(closed, started(), completed("1"))
	late := k.starts(owned)[0]
	if !late.Created || late.Run != owned.ID || late.Owned {
		k.t.Errorf("repeated after the run closed: %+v", late)
	}
}

// A message that comes again finds itself by its key.
func resubmittedMessage(k *kit) {
	run := k.begin(1)[0]
	batch := []journal.Message{
		{Run: run, Kind: journal.MessageSignal, Name: "a", Key: "1"},
		{Run: run, Kind: journal.MessageSignal, Name: "a", Key: "2"},
		{Run: run, Kind: journal.MessageCancel},
	}
	first := k.sends(batch...)
	for i, s := range k.sends(batch...) {
		k.ok(s.Err)
		if !s.Duplicate || s.Number != first[i].Number {
			k.t.Errorf("message %d, repeated: %+v, was %+v", i, s, first[i])
		}
	}
	k.same("inbox", len(k.history(run).Inbox), 3)
}

// Tasks of a claim whose answer was lost come back with a reconciling claim, until their first
// commit.
func lostClaimIsReconciled(k *kit) {
	node, other := k.join(leaseLong).ID(), k.join(leaseLong).ID()
	k.begin(5)
	lost := k.take(node, 5)
	lost[0].commit(keep, started())
	lost[1].commit(closed, started(), completed("1"))
	lost[2].commit(park, started())
	request := driver.ClaimRequest{Node: node, Routes: []journal.Route{flowRoute}, Max: 10}
	if c, err := k.j.Claim(k.ctx, request); err != nil || len(c.Tasks) != 0 {
		k.t.Fatalf("a plain claim returned %d tasks, %v", len(c.Tasks), err)
	}
	request.Reconcile = true
	for range 2 {
		c, err := k.j.Claim(k.ctx, request)
		k.ok(err)
		want := map[journal.RunID]bool{lost[3].run: true, lost[4].run: true}
		for _, task := range c.Tasks {
			if !want[task.Task.Run] || task.Task.Fence.Count() != 1 || task.Task.Owner != node || task.Run.ID != task.Task.Run {
				k.t.Errorf("reconciled %+v", task)
			}
			delete(want, task.Task.Run)
		}
		if len(want) > 0 {
			k.t.Errorf("not reconciled: %v", want)
		}
	}
	request.Node = other
	if c, err := k.j.Claim(k.ctx, request); err != nil || len(c.Tasks) != 0 {
		k.t.Errorf("another node reconciled %d tasks, %v", len(c.Tasks), err)
	}
	lost[3].commit(closed, started(), completed("1"))
}
