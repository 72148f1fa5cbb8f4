package journaltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Spoiler is implemented by a store under test that can make a part of a run unreadable, as a newer
// release might leave it or a hand might change it.
type Spoiler interface {
	// Spoil writes an unreadable value over a part of a run and returns what writes the old value
	// back. mend fails if the part does not hold the unreadable value any more. n is the number of
	// the event, of the run's present generation, or of the message. What the store keeps in no
	// form that can be spoilt is errors.ErrUnsupported.
	Spoil(ctx context.Context, run journal.RunID, part string, n int) (mend func(context.Context) error, err error)
}

// The parts of a run that Spoil makes unreadable. Those up to PartSeen, and PartPolicy, stand in
// the rows of a run and its task.
const (
	PartAttempts    = "attempts"
	PartLabels      = "labels"
	PartCarried     = "carried"
	PartPublished   = "published"
	PartStartLabels = "start_labels"
	PartFreezes     = "freezes"
	PartCreated     = "created_at"
	PartPriority    = "priority"      // of the run: a number that nobody knows
	PartTimeout     = "timeout"       // less than none
	PartMade        = "attempts made" // of a step: less than none
	PartVersion     = "version"       // of the run: below 0, as what follows
	PartSeen        = "inbox_seen"
	PartEventCmd    = "event cmd"
	PartEventInbox  = "event inbox"
	PartAttempt     = "event attempt"
	PartMessageCmd  = "message cmd"
	PartPolicy      = "parent_policy" // of a child: a number that nobody knows
	PartIssued      = "issued"        // of an event: a word that nobody knows
	PartKind        = "kind"          // of an event: a number that nobody knows
	PartTime        = "time"          // of an event
	PartMessage     = "message"       // the kind of a message: a number that nobody knows
	PartMessageTime = "message time"  // of a message
	PartTaskUrgency = "task priority" // a number that nobody knows, so no claim takes the task
	PartTaskState   = "task state"    // likewise
	PartTaskStrikes = "task strikes"  // below 0, as what follows
	PartTaskTurn    = "task turn"
	PartTaskLast    = "task inbox_last"
	PartEnd         = "end" // of a closed run: which event is the terminal one; there is none of that number
)

// J2 holds for what is read too: one run that cannot be read has no effect on what is told of the
// others, and nothing of it is lost.
var unreadableChecks = []check{
	{"J2_UnreadableRunsFailAlone", unreadableAlone},
	{"J2_OperatorsActOnUnreadableRuns", actsOnUnreadable},
	{"J2_UnknownNumbersOfATaskAreTold", unknownTaskNumbers},
	{"J2_NegativeNumbersOfATaskAreTold", negativeTaskNumbers},
	{"J2_UnknownClosePoliciesChangeNothing", unknownPolicy},
	{"J7_AnUnreadableEndIsAnEnd", unreadableEnd},
	{"J7_AMissingEndIsToldAlone", missingEnd},
}

// spoil makes a part unreadable. It returns nil if the store has no such part.
func spoil(k *kit, run journal.RunID, part string, n int) (mend func()) {
	k.t.Helper()
	s, ok := k.store.(Spoiler)
	if !ok {
		k.t.Fatalf("%T is no Spoiler, so nobody knows what it does with a run that it cannot read", k.store)
	}
	undo, err := s.Spoil(k.ctx, run, part, n)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	k.ok(err)
	return func() { k.t.Helper(); k.ok(undo(k.ctx)) }
}

// wantUnreadable reports a difference to the error that is expected about a run.
func wantUnreadable(k *kit, what string, err error, run journal.RunID, part string, newer bool) {
	k.t.Helper()
	e, ok := errors.AsType[*journal.UnreadableError](err)
	if !ok || e.Run != run || e.Part != part || errors.Is(err, journal.ErrNewer) != newer {
		k.t.Errorf("%s: got %v, want an error about %s of run %s, newer %v", what, err, part, run, newer)
	}
}

// unreadablePart is a part that is spoilt, and what is told of it.
type unreadablePart struct {
	part   string
	n      int
	named  string // in the error
	newer  bool   // whether the error says that a newer release wrote it
	row    bool   // whether it stands in the rows of the run
	events int    // before it
}

var unreadableParts = []unreadablePart{
	{PartAttempts, 0, "column attempts", false, true, 3},
	{PartLabels, 0, "column labels", false, true, 3},
	{PartCarried, 0, "column carried", false, true, 3},
	{PartPublished, 0, "column published", false, true, 3},
	{PartStartLabels, 0, "column start_labels", false, true, 3},
	{PartFreezes, 0, "column freezes", false, true, 3},
	{PartCreated, 0, "column created_at", false, true, 3},
	{PartPriority, 0, "column priority", true, true, 3},
	{PartTimeout, 0, "column timeout", false, true, 3},
	{PartMade, 0, "column attempts", false, true, 3},
	{PartVersion, 0, "column version", false, true, 3},
	{PartSeen, 0, "column inbox_seen", false, true, 3},
	{PartEventCmd, 2, "event 2", false, false, 1},
	{PartEventInbox, 2, "event 2", false, false, 1},
	{PartAttempt, 3, "event 3", false, false, 2},
	{PartMessageCmd, 3, "message 3", false, false, 3},
	{PartIssued, 2, "event 2", true, false, 1},
	{PartKind, 2, "event 2", true, false, 1},
	{PartTime, 3, "event 3", false, false, 2},
	{PartMessage, 3, "message 3", true, false, 3},
	{PartMessageTime, 3, "message 3", false, false, 3},
}

// Each part in turn is made unreadable in one of three runs that are due, which is blocked by a
// commit of its own or by one of a batch.
func unreadableAlone(k *kit) {
	node := k.join(leaseLong).ID()
	for i, c := range slices.Concat(unreadableParts, unreadableParts) {
		key := fmt.Sprint(c.part, i)
		owners := []*owner{richRun(k, node, ""), richRun(k, node, key), richRun(k, node, "")}
		runs := make([]journal.RunID, 3)
		for i, o := range owners { // not before all are there: the others would be claimed
			last := o.build(release, stepDone(2, "c", "3", "d"))
			last.Attempts = []journal.Attempt{{Cmd: 3, Name: "d", Made: 2}}
			last.Waiting = []string{"signal sig"}
			last.Labels = changes("m", "w")
			last.Published = []journal.Published{{Name: "p", Value: journal.Payload{Data: []byte("1")}}}
			o.submit(last)
			runs[i] = o.run
		}
		bad, whole := runs[1], k.history(runs[1])
		mend := spoil(k, bad, c.part, c.n)
		if mend == nil {
			for _, o := range k.take(node, 3) {
				o.commit(closed, completed("1"))
			}
			continue
		}

		unreadableInListings(k, runs, key, &c)
		unreadableInLoads(k, runs, whole, &c)
		blocksUnreadable(k, node, bad, &c, i < len(unreadableParts))
		k.join(leaseLong).ID() // a node that joins may have the code for a run that is blocked
		mend()                 // and fails if anybody has written over what could not be read
		o := k.take(node, 1)[0]
		after := k.history(bad)
		k.same("the run when it can be read again", o.run, bad)
		k.same("its history", after.Events, whole.Events)
		k.same("its inbox", after.Inbox, whole.Inbox)
		k.same("what it had waited for", after.Run.Task.Waiting, whole.Run.Task.Waiting)
		k.same("what it had published", after.Run.Published, whole.Run.Published)
		k.same("labels of its start", after.Run.StartLabels, whole.Run.StartLabels)
		k.same("attempts", after.Run.Task.Attempts, whole.Run.Task.Attempts)
		o.commit(closed, completed("1"))
	}
}

// A run of whose rows something cannot be read is paused, resumed, closed and deleted like any
// other: it is what operators have to get rid of. Only what would write over that part may be
// refused.
func actsOnUnreadable(k *kit) {
	k.join(leaseLong)
	for _, c := range unreadableParts {
		if !c.row {
			continue
		}
		run := k.begin(1)[0]
		if spoil(k, run, c.part, c.n) == nil {
			k.ok(k.admin(run, driver.AdminTerminate))
			continue
		}
		err := acts(k, driver.AdminAction{Run: run, Kind: driver.AdminPause, FreezeTimers: true})
		if c.part == PartFreezes && err != nil { // a database that adds to what it has does not read it
			wantUnreadable(k, "a pause that freezes timers", err, run, c.named, c.newer)
		} else {
			k.ok(err)
		}
		for _, kind := range []driver.AdminKind{driver.AdminPause, driver.AdminResume, driver.AdminTerminate, driver.AdminDelete} {
			if err := k.admin(run, kind); err != nil {
				k.t.Errorf("%s of a run whose %s cannot be read: %v", kind, c.part, err)
			}
		}
	}
}

// unreadableInListings lists three runs of which the second cannot be read.
func unreadableInListings(k *kit, runs []journal.RunID, key string, c *unreadablePart) {
	k.t.Helper()
	bad := runs[1]
	for name, f := range map[string]journal.ListFilter{"a listing": {IDs: runs}, "its key": {Key: key}} {
		found := false
		for _, run := range k.listAll(f) {
			if found = found || run.ID == bad; run.ID == bad && c.row {
				wantUnreadable(k, name, run.Unreadable, bad, c.named, c.newer)
			} else if run.Unreadable != nil {
				k.t.Errorf("%s: %v", name, run.Unreadable)
			}
		}
		if !found {
			k.t.Errorf("%s: %s does not bring the run", c.part, name)
		}
	}
}

// unreadableInLoads loads them; whole is the second one as it was.
func unreadableInLoads(k *kit, runs []journal.RunID, whole driver.History, c *unreadablePart) {
	k.t.Helper()
	bad := runs[1]
	list, err := k.j.Load(k.ctx, []driver.LoadRequest{{Run: runs[0]}, {Run: bad}, {Run: runs[2]}})
	k.ok(err)
	k.ok(errors.Join(list[0].Err, list[2].Err))
	wantUnreadable(k, "a load", list[1].Err, bad, c.named, c.newer)
	k.same("events before what cannot be read", list[1].Events, whole.Events[:c.events])
	if c.events < 3 || c.part == PartMessage || c.part == PartMessageTime {
		for _, m := range list[1].Inbox {
			if m.Number >= 3 || c.events < 3 {
				k.t.Errorf("%s: message %d is loaded", c.part, m.Number)
			}
		}
	}
}

// richRun starts a run that has a value in every part but attempts and published: two events in its
// second generation, a message that was carried over, and two that came later.
func richRun(k *kit, node journal.NodeID, key string) *owner {
	k.t.Helper()
	o := k.takeStarted(node, journal.Start{Key: key, Labels: map[string]string{"l": "v"}})
	first := journal.Message{Run: o.run, Number: k.send(o.run, "sig", "1").Number, Kind: journal.MessageSignal, Name: "sig"}
	o.commit(keep, started("a"), received(first))
	o.submit(o.continued(keep, []journal.InboxSeq{1}, stepDone(1, "a", "1")))
	k.send(o.run, "sig", "2")
	k.send(o.run, "sig", "3")
	o.commit(keep, started("b"), stepDone(1, "b", "2", "c"))
	return o
}

// blocksUnreadable claims three runs, ends those that can be read and blocks the other one, each
// alone or all together.
func blocksUnreadable(k *kit, node journal.NodeID, bad journal.RunID, p *unreadablePart, alone bool) {
	k.t.Helper()
	c := k.claim(node, 4)
	if len(c.Tasks) != 3 {
		k.t.Fatalf("%s: claimed %d runs, want 3", p.named, len(c.Tasks))
	}
	var commits []driver.Commit
	for _, t := range c.Tasks {
		if t.Run.ID != bad {
			commits = append(commits, k.owner(node, t).build(closed, completed("1")))
			continue
		}
		if p.row {
			wantUnreadable(k, "a claim", t.Run.Unreadable, bad, p.named, p.newer)
		}
		commits = append(commits, driver.Commit{Run: bad, Node: node, Fence: t.Task.Fence, Turn: t.Task.Turn, Generation: t.Task.Generation,
			Next: driver.Next{Kind: driver.NextBlock, At: k.j.Now().Add(time.Hour), Problem: p.named}})
	}
	size := len(commits)
	if alone {
		size = 1
	}
	for batch := range slices.Chunk(commits, size) {
		out, err := k.commits(batch...)
		k.ok(err)
		for i := range out {
			k.ok(out[i].Err)
		}
	}
	blocked := journal.Blocked
	for _, run := range k.listAll(journal.ListFilter{State: &blocked}) {
		if run.ID == bad && run.Task.Problem == p.named {
			k.same("what a blocked run waits for", run.Task.Waiting, nil)
			return
		}
	}
	k.t.Errorf("%s: the run is not listed as blocked", p.named)
}

// How a run ended can be read although what its last turn asked for cannot.
func unreadableEnd(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	last := completed("1")
	last.Issued = started("never").Issued
	o.commit(closed, started(), last)
	other := k.one(node)
	other.commit(closed, started(), completed("2"))
	mend := spoil(k, o.run, PartIssued, 2)
	if mend == nil {
		return
	}
	runs := k.listAll(journal.ListFilter{IDs: []journal.RunID{o.run, other.run}})
	if len(runs) != 2 || runs[1].Terminal == nil || runs[0].Terminal == nil {
		k.t.Fatalf("listed %+v", runs)
	}
	k.same("the other's end", string(runs[0].Terminal.Payload.Data), "2")
	k.same("the end", string(runs[1].Terminal.Payload.Data), "1")
	wantUnreadable(k, "a listing", runs[1].Unreadable, o.run, "event 2", true)
	h := k.load(driver.LoadRequest{Run: o.run, Answer: 1})
	wantUnreadable(k, "a load of an answer", h.Err, o.run, "event 2", true)
	if h.Run.Terminal == nil || h.Run.Terminal.Kind != journal.RunCompleted {
		k.t.Errorf("the end for a sender of an update: %+v", h.Run.Terminal)
	}
	mend()
}

// A closed run whose terminal event is not there is told of as unreadable, to a listing and to
// those who wait for its end; the others hear of theirs.
func missingEnd(k *kit) {
	node := k.join(leaseLong).ID()
	o, other := k.one(node), k.one(node)
	o.commit(closed, started(), completed("1"))
	other.commit(closed, started(), completed("2"))
	mend := spoil(k, o.run, PartEnd, 0)
	if mend == nil {
		return
	}
	ends := endsOf(k, o.run, other.run)
	if len(ends) != 2 || ends[0].Later || ends[1].Terminal == nil {
		k.t.Fatalf("ends: %+v", ends)
	}
	wantUnreadable(k, "an end", ends[0].Err, o.run, "terminal event", false)
	k.same("the other's end", string(ends[1].Terminal.Payload.Data), "2")
	for _, run := range k.listAll(journal.ListFilter{IDs: []journal.RunID{o.run, other.run}}) {
		if run.ID == o.run {
			wantUnreadable(k, "a listing", run.Unreadable, o.run, "terminal event", false)
		} else if run.Unreadable != nil {
			k.t.Errorf("a listing: %v", run.Unreadable)
		}
	}
	mend()
	k.same("its end when it is there again", string(endsOf(k, o.run)[0].Terminal.Payload.Data), "1")
}
