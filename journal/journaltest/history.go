package journaltest

import (
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A history is what a run is: whatever a commit wrote must come back field by field, in order and
// without gaps (J1), and a batch must not share a fate (J2). These checks write every field once,
// read it back, and write what an owner with an old history would write.
var historyChecks = []check{
	{"J1_HistoryComesBackAsItWasCommitted", historyComesBack},
	{"J1_StaleSeqIsRefused", staleSeqIsRefused},
	{"J2_BatchWithOneStaleMember", batchWithOneStaleMember},
	{"J3_ABatchOfClosesDecidesForEach", batchOfCloses},
	{"J2_EveryMemberOfABatchHasItsOwnOutcome", everyMemberItsOwnOutcome},
	{"J2_LargeBatchAndLargeCommit", largeBatchAndLargeCommit},
}

// Every field of every event comes back as it was committed. A field that is lost would be seen
// years later, by a replay.
func historyComesBack(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	due := k.j.Now().Add(time.Hour)
	k.send(o.run, "sig", "a")
	first := o.build(keep, journal.Event{Kind: journal.RunStarted, Issued: []journal.Issued{
		{Kind: journal.CommandStep, Name: "charge ünïcode 🙂"},
		{Kind: journal.CommandTimer, Due: due, Name: "wait for it"},
		{Kind: journal.CommandTimer, Due: due},
		{Kind: journal.CommandCancel, Target: 2},
	}})
	o.submit(first)
	second := o.build(keep,
		received(journal.Message{Kind: journal.MessageSignal, Name: "sig", Number: 1}),
		journal.Event{Kind: journal.StepFailed, Cmd: 1, Name: "charge ünïcode 🙂", Attempt: 7,
			Payload: journal.EncodeFailure(&journal.Failure{Type: "T", Message: "no"})},
		journal.Event{Kind: journal.TimerFired, Cmd: 3})
	o.submit(second)
	third := o.build(closed, completed("null"))
	o.submit(third)

	want := append(append(first.Events, second.Events...), third.Events...)
	k.same("history", k.history(o.run).Events, want)
	k.same("history after seq 2", k.load(driver.LoadRequest{Run: o.run, AfterSeq: 2}).Events, want[2:])
}

// A commit that writes a seq which exists is refused, even if fence and turn are right.
func staleSeqIsRefused(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	first := o.build(keep, started("a"), stepDone(1, "a", "1", "b"))
	o.submit(first)
	stale := o.build(keep, stepDone(2, "b", "2"))
	stale.Head = journal.Head{Seq: 1, Link: first.Events[0].Link}
	stale.Events[0].Seq = 2
	chain(&stale)
	o.refused(stale, "an event with a seq that exists", fenced)
	k.same("history", k.history(o.run).Events, first.Events)
	o.commit(keep, stepDone(2, "b", "2")) // the owner still owns it
}

// One member that is refused leaves the others of its batch as they are.
func batchWithOneStaleMember(k *kit) {
	node := k.join(leaseLong).ID()
	owners := k.own(node, 5)
	batch := make([]driver.Commit, len(owners))
	for i, o := range owners {
		o.commit(keep, started("a"))
		batch[i] = o.build(keep, stepDone(1, "a", fmt.Sprint(i)))
	}
	batch[1].Fence--                                                                             // lost its run
	batch[3].Head = journal.Head{Link: journal.OriginOf(owners[3].run, 1, 0, journal.Payload{})} // built on a stale history
	batch[3].Events[0].Seq = 1
	chain(&batch[3])
	out, err := k.commits(batch...)
	k.ok(err)
	for i, o := range owners {
		want := 2
		if i == 1 || i == 3 {
			want = 1
		}
		if (out[i].Err == nil) != (want == 2) {
			k.t.Errorf("member %d: %v", i, out[i].Err)
		}
		if got := len(k.history(o.run).Events); got != want {
			k.t.Errorf("member %d has %d events, want %d", i, got, want)
		}
	}
	if !errors.Is(out[1].Err, journal.ErrFenced) {
		k.t.Errorf("member 1: got %v, want ErrFenced", out[1].Err)
	}
	if !fenced(out[3].Err) {
		k.t.Errorf("member 3: got %v, want ErrFenced", out[3].Err)
	}
}

// batchOfCloses: stores may have a statement of their own for a batch that only closes runs. It
// decides for each member like any other.
func batchOfCloses(k *kit) {
	node := k.join(leaseLong).ID()
	faults := []func(c *driver.Commit){
		nil,
		func(c *driver.Commit) { c.Fence-- },
		func(c *driver.Commit) { c.Turn++ },
		func(c *driver.Commit) { c.Node++ },
		nil,
		func(c *driver.Commit) { c.Head.Link++ },
		func(c *driver.Commit) { c.Head.Seq++; c.Events[0].Seq++; c.Events[1].Seq++ },
		func(c *driver.Commit) { c.Run = journal.NewRunID() },
		func(c *driver.Commit) { *c = firstOf(c, 2) },
		nil,
	}
	owners := k.own(node, len(faults))
	batch := make([]driver.Commit, len(owners))
	for i, o := range owners {
		o.commit(keep, started("a"))
		batch[i] = o.build(closed, stepDone(1, "a", "1"), completed("1"))
		if faults[i] != nil {
			faults[i](&batch[i])
			chain(&batch[i])
		}
	}
	out, err := k.commits(batch...)
	k.ok(err)
	for i, o := range owners {
		events, r := len(k.history(o.run).Events), k.row(o.run)
		if faults[i] == nil {
			k.ok(out[i].Err)
			if r.Status != journal.Completed || r.Task != nil || events != 3 || r.Terminal.Seq != 3 || out[i].Now.IsZero() {
				k.t.Errorf("member %d, which was accepted: %+v, %d events, outcome %+v", i, r, events, out[i])
			}
			continue
		}
		if !fenced(out[i].Err) || r.Status != journal.Open || r.Task == nil || r.Task.Owner != node || events != 1 {
			k.t.Errorf("member %d, which was refused: %+v, %d events, outcome %+v", i, r, events, out[i])
		}
	}
}

// firstOf is a commit with other events, the first ones of a generation.
func firstOf(c *driver.Commit, g journal.Generation) driver.Commit {
	out := *c
	out.Generation, out.Head = g, journal.Head{Link: journal.OriginOf(c.Run, g, 0, journal.Payload{})}
	out.Events = []journal.Event{started(), completed("1")}
	for i := range out.Events {
		out.Events[i].Seq, out.Events[i].Time = journal.Seq(i+1), c.Events[0].Time
	}
	return out
}

// everyMemberItsOwnOutcome mixes all next states, refused members and a run that nobody knows.
func everyMemberItsOwnOutcome(k *kit) {
	node := k.join(leaseLong).ID()
	owners := k.own(node, 6)
	due := k.j.Now().Add(time.Hour)
	nexts := []driver.Next{keep, park, release, block("code changed", due), closed, parkUntil(due)}
	var batch []driver.Commit
	for i, o := range owners {
		events := []journal.Event{started()}
		if nexts[i].Kind == driver.NextClose {
			events = append(events, completed("1"))
		}
		batch = append(batch, o.build(nexts[i], events...))
	}
	unknown := batch[0]
	unknown.Run = journal.NewRunID()
	batch = append(batch, unknown)
	out, err := k.commits(batch...)
	k.ok(err)
	for i := range owners {
		k.ok(out[i].Err)
		if out[i].Now.IsZero() {
			k.t.Errorf("outcome %d has no time", i)
		}
	}
	if err := out[len(owners)].Err; err == nil {
		k.t.Error("a commit for a run that does not exist was accepted")
	}
	for i, o := range owners {
		task := k.row(o.run).Task
		if nexts[i].Kind == driver.NextClose {
			if task != nil {
				k.t.Errorf("closed run has task %+v (J7)", task)
			}
			continue
		}
		owned := journal.NodeID(0)
		if nexts[i].Kind == driver.NextKeep {
			owned = node
		}
		if task.Owner != owned || task.Turn != 1 || task.Fence.Count() != 1 {
			k.t.Errorf("after %v: owner %d, turn %d, fence %d", nexts[i], task.Owner, task.Turn, task.Fence)
		}
	}
	blocked := k.row(owners[3].run).Task
	k.same("state", blocked.State, journal.Blocked)
	k.same("problem", blocked.Problem, "code changed")
	k.same("visible", blocked.VisibleAt.UTC(), due)
	k.same("visible", k.row(owners[5].run).Task.VisibleAt.UTC(), due)
	if at := k.row(owners[1].run).Task.VisibleAt; !at.IsZero() {
		k.t.Errorf("a run parked for a message only is visible at %s", at)
	}
}

// The largest batch and the largest commit are accepted: drivers cut them into statements without
// anybody noticing.
func largeBatchAndLargeCommit(k *kit) {
	node := k.join(leaseLong).ID()
	owners := k.own(node, journal.BatchMax)
	batch := make([]driver.Commit, len(owners))
	for i, o := range owners {
		batch[i] = o.build(closed, started(), completed(fmt.Sprint(i)))
	}
	out, err := k.commits(batch...)
	k.ok(err)
	for i := range out {
		k.ok(out[i].Err)
	}
	for _, i := range []int{0, 500, 999} {
		k.same("history", k.history(owners[i].run).Events, batch[i].Events)
	}

	o := k.one(node)
	events := make([]journal.Event, 0, journal.CommitEventsMax)
	events = append(events, started("s"))
	for cmd := journal.Cmd(1); len(events) < journal.CommitEventsMax; cmd++ {
		events = append(events, stepDone(cmd, "s", fmt.Sprint(cmd), "s"))
	}
	c := o.build(keep, events...)
	o.submit(c)
	k.same("history", k.history(o.run).Events, c.Events)
}
