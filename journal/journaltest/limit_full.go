package journaltest

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// No more runs come to wait for a key than its MaxBacklog says, beyond those for which there are
// places (J14).
var backlogChecks = []check{
	{"J14_AFullLimitRefusesRuns", fullRefuses},
	{"J14_ARepeatedStartIsNotInItsOwnWay", fullRepeats},
	{"J14_ABacklogChangesLive", fullChanges},
	{"J14_AFullLimitCancelsTheOldest", fullCancelsOldest},
	{"J14_AFullLimitSparesWhoHasBegun", fullSparesWhoHasBegun},
	{"J14_AFullLimitCancelsTheNewest", fullCancelsNewest},
	{"J14_AChildOfAFullLimitIsAFailure", fullForChildren},
	{"J14_AParentHearsOfACancelledChild", fullCancelsChildren},
	{"J14_PlacesThatAreFreeAreNoBacklog", fullPlaces},
	{"J14_OneFullLimitOfSeveralIsEnough", fullOfSeveral},
	{"J14_AFullLimitLetsInBeyondItsBacklog", fullLetsInBeyond},
	{"J14_AFullLimitSparesBeyondItsBacklog", fullSparesBeyond},
	{"J14_StartersAtOnceExceedNoBacklog", fullUnderLoad},
}

// comes starts runs that need limits, in one call.
func comes(k *kit, list ...journal.Start) []journal.Started {
	k.t.Helper()
	for i := range list {
		list[i].Workflow = flow
	}
	out, err := k.j.Start(k.ctx, nil, list)
	k.ok(err)
	return out
}

// needing are n starts that need the same.
func needing(n int, needs ...journal.LimitNeed) (list []journal.Start) {
	for i := range n {
		list = append(list, journal.Start{ID: journal.NewRunID(), Key: fmt.Sprintf("%s%d/%s", needs[0].Name, i, journal.NewRunID()), Limits: needs})
	}
	return list
}

// letIn tells which starts were not refused. The others were by a limit that is full, and left
// nothing.
func letIn(k *kit, out []journal.Started) (runs []journal.RunID) {
	k.t.Helper()
	for i := range out {
		_, full := errors.AsType[*journal.LimitFullError](out[i].Err)
		switch {
		case full && !out[i].Created:
			k.gone(out[i].Run)
		case out[i].Err == nil && out[i].Created:
			runs = append(runs, out[i].Run)
		default:
			k.t.Errorf("start %d: %+v", i, out[i])
		}
	}
	return runs
}

// cancelledFor expects that a run was cancelled without running, for a reason that names the limit,
// and that the audit has it.
func cancelledFor(k *kit, run journal.RunID, reason string) {
	k.t.Helper()
	r := k.row(run)
	if r.Status != journal.Cancelled || r.Terminal == nil {
		k.t.Errorf("run %s is %s, want cancelled", run, r.Status)
		return
	}
	if f := k.failure(r.Terminal.Payload); r.Terminal.Kind != journal.RunCancelled || f.Type != journal.FailureCancelled || !strings.Contains(f.Message, reason) {
		k.t.Errorf("run %s ends by %s: %+v", run, r.Terminal.Kind, f)
	}
	list, err := k.j.Audit(k.ctx, journal.AuditFilter{Run: run})
	k.ok(err)
	if len(list) != 1 || list[0].Verb != "cancel" || list[0].Actor != journal.ActorRuntime || list[0].Workflow != flow || !strings.Contains(list[0].Reason, reason) {
		k.t.Errorf("the audit of run %s: %+v", run, list)
	}
	k.same("claims of a run that was cancelled", claimsOf(k, run), nil)
}

// Of five one has a place, two wait and two are refused, in the order of the batch. What closes
// makes room at once, and another key has room of its own.
func fullRefuses(k *kit) {
	setLimit(k, journal.Limit{Name: "full", Concurrency: 1, MaxBacklog: 2})
	n := newLimiter(k)
	starts := needing(5, need("full", "a"))
	starts[0].Key, starts[4].Key = "zz", "aa" // the order of keys is another one
	out := comes(k, starts...)
	runs := letIn(k, out)
	k.same("let in", runs, []journal.RunID{starts[0].ID, starts[1].ID, starts[2].ID})
	want := journal.LimitFullError{Limit: "full", Key: "a", MaxBacklog: 2}
	if e, ok := errors.AsType[*journal.LimitFullError](out[4].Err); !ok || *e != want {
		k.t.Errorf("the error is %v", out[4].Err)
	}
	k.same("begun", takeIn(n), 1)
	k.same("one more", len(letIn(k, comes(k, needing(1, need("full", "a"))...))), 0)
	k.same("of another key", len(letIn(k, comes(k, needing(4, need("full", "b"))...))), 3)
	k.take(n.m.ID(), 1)[0].commit(closed, started(), completed("1"))
	k.same("behind an end", len(letIn(k, comes(k, needing(2, need("full", "a"))...))), 1)
	k.same("begun then", takeIn(n), 2)
	k.same("full again", len(letIn(k, comes(k, needing(1, need("full", "a"))...))), 0)
	k.ok(k.admin(runs[2], driver.AdminTerminate))
	k.same("behind one that has left the line", len(letIn(k, comes(k, needing(2, need("full", "a"))...))), 1)
}

// A start that finds its own run, or the one that has its key, is not refused, and takes no place.
func fullRepeats(k *kit) {
	setLimit(k, journal.Limit{Name: "full", Concurrency: 1, MaxBacklog: 1})
	starts := needing(2, need("full", ""))
	k.same("let in", len(letIn(k, comes(k, starts...))), 2)
	again := append(needing(1, need("full", "")), starts...)
	again = append(again, journal.Start{Key: starts[0].Key, Limits: starts[0].Limits}, starts[1])
	out := comes(k, again...)
	if _, full := errors.AsType[*journal.LimitFullError](out[0].Err); !full {
		k.t.Errorf("a new one: %+v", out[0])
	}
	for i, want := range map[int]journal.RunID{1: starts[0].ID, 2: starts[1].ID, 3: starts[0].ID, 4: starts[1].ID} {
		if out[i].Err != nil || out[i].Run != want || out[i].Created != (i != 3) {
			k.t.Errorf("start %d: %+v", i, out[i])
		}
	}
	// One key twice in a batch: the run is one, and so is the refusal.
	twice := needing(2, need("full", ""))
	twice[1].Key = twice[0].Key
	k.same("of one key", len(letIn(k, comes(k, twice...))), 0)
	linesAre(k, "before a round")
	takeIn(newLimiter(k))
	linesAre(k, "at the end", journal.LimitUse{Name: "full", Held: 1, Waiting: 1})
}

// What waits stays when its backlog is lowered, and a row of a key has a backlog of its own.
func fullChanges(k *kit) {
	setLimit(k, journal.Limit{Name: "full", Concurrency: 1, MaxBacklog: 4})
	n := newLimiter(k)
	k.same("let in", len(letIn(k, comes(k, needing(9, need("full", ""))...))), 5)
	takeIn(n)
	setLimit(k, journal.Limit{Name: "full", Concurrency: 1, MaxBacklog: 2, OnFull: journal.OnFullCancelOldest})
	out := comes(k, needing(1, need("full", ""))...)
	k.same("cancelled for one that comes", len(out[0].Cancelled), 1)
	takeIn(n)
	linesAre(k, "with a lower backlog", journal.LimitUse{Name: "full", Held: 1, Waiting: 4})
	setLimit(k, journal.Limit{Name: "full", Concurrency: 1})
	k.same("without a backlog", len(letIn(k, comes(k, needing(3, need("full", ""))...))), 3)
	setLimit(k, journal.Limit{Name: "full", Key: "paid", Concurrency: 1, MaxBacklog: 1})
	k.same("of a key with a row", len(letIn(k, comes(k, needing(3, need("full", "paid"))...))), 2)
	page, err := k.j.Limits(k.ctx, journal.LimitFilter{Name: "full", Key: "paid"})
	k.ok(err)
	for i := range page.Limits {
		l := &page.Limits[i]
		if (l.Key == "paid") != (l.MaxBacklog == 1 && l.OnFull == journal.OnFullReject) || l.Key == "" && l.OnFull != journal.OnFullWait {
			k.t.Errorf("stored: %+v", *l)
		}
	}
	list, err := k.j.Audit(k.ctx, journal.AuditFilter{Verb: "set-limit", Limit: 1})
	k.ok(err)
	if len(list) != 1 || !strings.Contains(list[0].Detail, "backlog 1, then reject") {
		k.t.Errorf("the audit of a limit: %+v", list)
	}
}

// Each that comes cancels the one that has waited longest, those of its own batch among them.
func fullCancelsOldest(k *kit) {
	setLimit(k, journal.Limit{Name: "full", Concurrency: 1, MaxBacklog: 2, OnFull: journal.OnFullCancelOldest})
	n := newLimiter(k)
	first := comes(k, needing(1, need("full", ""))...)[0].Run
	k.same("begun", takeIn(n), 1)
	var runs []journal.RunID
	for range 2 {
		runs = append(runs, letIn(k, comes(k, needing(1, need("full", ""))...))...)
	}
	takeIn(n)
	out := comes(k, needing(1, need("full", ""))...)
	k.same("cancelled", out[0].Cancelled, runs[:1])
	cancelledFor(k, runs[0], `limit "full" is full: its MaxBacklog of 2 is used up, and it cancels the oldest`)
	k.same("kind of the end", len(k.history(runs[0]).Events), 1)
	batch := comes(k, needing(3, need("full", ""))...)
	k.same("let in", len(letIn(k, batch)), 3)
	var gone, left []journal.RunID
	for i := range batch {
		if gone = append(gone, batch[i].Cancelled...); k.row(batch[i].Run).Status == journal.Open {
			left = append(left, batch[i].Run)
		}
	}
	k.same("cancelled for three", len(gone), 3)
	k.same("left of three", len(left), 2)
	cancelledFor(k, runs[1], "cancels the oldest")
	cancelledFor(k, out[0].Run, "cancels the oldest")
	takeIn(n)
	linesAre(k, "at the end", journal.LimitUse{Name: "full", Held: 1, Waiting: 2})
	k.same("the one that has begun", k.row(first).Status, journal.Open)
	k.same("the audit of what is left", details(k, left[0]), nil)
}

// One that has begun, and was retried, waits for its place again. Nobody who comes cancels it: it
// may have done what only its code can undo.
func fullSparesWhoHasBegun(k *kit) {
	setLimit(k, journal.Limit{Name: "full", Concurrency: 1, MaxBacklog: 1, OnFull: journal.OnFullCancelOldest})
	n := newLimiter(k)
	retried := comes(k, needing(1, need("full", ""))...)[0].Run
	k.same("begun", takeIn(n), 1)
	k.take(n.m.ID(), 1)[0].fails()
	holds := comes(k, needing(1, need("full", ""))...)[0].Run
	k.same("begun when it has failed", takeIn(n), 1)
	k.ok(back(k, driver.AdminRetry, retried, 2))
	stateIs(k, "retried", retried, journal.Limited)
	first := comes(k, needing(1, need("full", ""))...)[0]
	k.same("cancelled for one that comes", first.Cancelled, nil)
	k.same("cancelled for the next", comes(k, needing(1, need("full", ""))...)[0].Cancelled, []journal.RunID{first.Run})
	cancelled := 0
	for _, out := range comes(k, needing(3, need("full", ""))...) {
		cancelled += len(out.Cancelled)
	}
	k.same("cancelled for three at once: the one before, and two of them", cancelled, 3)
	stateIs(k, "retried, behind all of them", retried, journal.Limited)
	takeIn(n)
	o := k.take(n.m.ID(), 1)[0]
	k.same("the one that has the place", o.run, holds)
	o.commit(closed, started(), completed("1"))
	k.same("begun at last", takeIn(n), 1)
	k.same("claimed", k.take(n.m.ID(), 1)[0].run, retried)
}

// One that comes is stored, and is cancelled at once. A message that comes with it finds it closed.
func fullCancelsNewest(k *kit) {
	setLimit(k, journal.Limit{Name: "full", Concurrency: 1, MaxBacklog: 1, OnFull: journal.OnFullCancelNewest})
	n := newLimiter(k)
	starts := needing(4, need("full", ""))
	starts[3].Message = &journal.Message{Kind: journal.MessageSignal, Name: "sig", Payload: journal.Payload{Data: []byte("1")}}
	out := comes(k, starts...)
	k.same("let in", len(letIn(k, out)), 4)
	for i := range out {
		if i < 2 {
			k.same("cancelled", out[i].Cancelled, nil)
			stateIs(k, "that waits", out[i].Run, journal.Limited)
			continue
		}
		k.same("cancelled", out[i].Cancelled, []journal.RunID{out[i].Run})
		cancelledFor(k, out[i].Run, "it cancels the newest")
	}
	if !errors.Is(out[3].Sent.Err, journal.ErrClosed) {
		k.t.Errorf("a message to one that is cancelled: %v", out[3].Sent.Err)
	}
	takeIn(n)
	linesAre(k, "at the end", journal.LimitUse{Name: "full", Held: 1, Waiting: 1})
}

// A parent hears that its child was refused, and can handle that as any failure.
func fullForChildren(k *kit) {
	setLimit(k, journal.Limit{Name: "full", Concurrency: 1, MaxBacklog: 1})
	n := newLimiter(k)
	o := k.one(n.m.ID())
	c := o.build(park, asksChild(3))
	for cmd := range journal.Cmd(3) {
		st := o.child(cmd+1, journal.CloseTerminate)
		st.Limits = []journal.LimitNeed{need("full", "k")}
		c.Starts = append(c.Starts, st)
	}
	out := o.submit(c)
	k.same("let in", len(letIn(k, out.Started)), 2)
	k.same("newest message", out.InboxLast, journal.InboxSeq(1))
	m := k.first(o.run)
	if f := k.failure(m.Payload); m.Kind != journal.MessageChildFailed || m.Cmd != 3 || f.Type != journal.FailureLimitFull || !strings.Contains(f.Message, `limit "full", key "k" is full`) {
		k.t.Errorf("message %+v: %+v", m, f)
	}
	takeIn(n)
	linesAre(k, "of the children", journal.LimitUse{Name: "full", Key: "k", Held: 1, Waiting: 1})
	k.same("children", len(k.listAll(journal.ListFilter{Parent: o.run})), 2)
}

// A child that is cancelled because its parent has started another one is told to the parent, in
// the same commit. So is one for which a run of somebody else's has come.
func fullCancelsChildren(k *kit) {
	setLimit(k, journal.Limit{Name: "full", Concurrency: 1, MaxBacklog: 1, OnFull: journal.OnFullCancelOldest})
	n := newLimiter(k)
	letIn(k, comes(k, needing(1, need("full", ""))...))
	k.same("begun", takeIn(n), 1)
	k.take(n.m.ID(), 1)[0].commit(park, started())
	o := k.one(n.m.ID())
	c := o.build(park, asksChild(2))
	for cmd := range journal.Cmd(2) {
		st := o.child(cmd+1, journal.CloseTerminate)
		st.Key, st.Limits = fmt.Sprint("child ", cmd), []journal.LimitNeed{need("full", "")}
		c.Starts = append(c.Starts, st)
	}
	out := o.submit(c)
	k.same("newest message", out.InboxLast, journal.InboxSeq(1))
	m := k.first(o.run)
	if f := k.failure(m.Payload); m.Kind != journal.MessageChildFailed || m.Cmd != 1 || f.Type != journal.FailureCancelled {
		k.t.Errorf("message %+v: %+v", m, f)
	}
	cancelledFor(k, c.Starts[0].ID, "cancels the oldest")
	other := comes(k, needing(1, need("full", ""))...)[0]
	k.same("cancelled for somebody else's", other.Cancelled, []journal.RunID{c.Starts[1].ID})
	k.same("messages of the parent", len(k.history(o.run).Inbox), 2)
}

// Places that are free are room beside the backlog: of a Total over all keys whatever their
// weights, and of a rate as many as may begin now.
func fullPlaces(k *kit) {
	setLimit(k, journal.Limit{Name: "total", Total: 3, MaxBacklog: 1, Weight: 5})
	n := newLimiter(k)
	k.same("of one key", len(letIn(k, comes(k, needing(3, need("total", "x"))...))), 3)
	k.same("begun", takeIn(n), 3)
	k.same("of another", len(letIn(k, comes(k, needing(3, need("total", "y"))...))), 1)
	o := k.take(n.m.ID(), 3)
	o[0].commit(closed, started(), completed("1"))
	k.same("behind an end", len(letIn(k, comes(k, needing(3, need("total", "z"))...))), 2)
	setLimit(k, journal.Limit{Name: "rate", Rate: journal.Rate{N: 1, Per: time.Hour, Burst: 3}, MaxBacklog: 2})
	k.same("of a rate", len(letIn(k, comes(k, needing(9, need("rate", ""))...))), 5)
	k.same("begun of a rate", takeIn(n) >= 3, true)
	k.same("of a rate that is spent", len(letIn(k, comes(k, needing(2, need("rate", ""))...))), 0)
	costly := need("rate", "costly")
	costly.Cost = 2
	k.same("at a cost of 2", len(letIn(k, comes(k, needing(9, costly)...))), 3)
	setLimit(k, journal.Limit{Name: "later", Concurrency: 1, MaxBacklog: 1})
	delayed := needing(3, need("later", ""))
	for i := range delayed {
		delayed[i].Delay = time.Hour
	}
	k.same("of those that are to start later", len(letIn(k, comes(k, delayed...))), 2)
}

// A run that needs several limits is refused if one of them is full that rejects, whatever the
// others do, and nobody makes room for one that does not wait.
func fullOfSeveral(k *kit) {
	setLimit(k, journal.Limit{Name: "oldest", Concurrency: 1, MaxBacklog: 1, OnFull: journal.OnFullCancelOldest})
	setLimit(k, journal.Limit{Name: "newest", Concurrency: 1, MaxBacklog: 1, OnFull: journal.OnFullCancelNewest})
	setLimit(k, journal.Limit{Name: "reject", Concurrency: 1, MaxBacklog: 1})
	waits := func(name string) []journal.RunID { return letIn(k, comes(k, needing(2, need(name, ""))...)) }
	oldest, _, _ := waits("oldest"), waits("newest"), waits("reject")
	k.same("refused by one of three", len(letIn(k, comes(k, needing(1, need("oldest", ""), need("newest", ""), need("reject", ""))...))), 0)
	out := comes(k, needing(1, need("oldest", ""), need("newest", ""))...)
	k.same("cancelled by the newest", out[0].Cancelled, []journal.RunID{out[0].Run})
	k.same("the oldest of another", k.row(oldest[0]).Status, journal.Open)
	out = comes(k, needing(1, need("free", ""), need("oldest", ""))...)
	k.same("for one that waits", out[0].Cancelled, oldest[:1])
}

// Many callers at once, and turns that start children, come to one key. As many are let in as there
// are places and a backlog.
func fullUnderLoad(k *kit) {
	setLimit(k, journal.Limit{Name: "full", Concurrency: 3, MaxBacklog: 4})
	n := newLimiter(k)
	const callers = 4
	owners := make([]*owner, callers)
	for i := range owners {
		owners[i] = k.one(n.m.ID())
	}
	var in atomic.Int64
	k.together(callers, func(i int) error {
		for range 3 {
			out, err := k.j.Start(k.ctx, nil, []journal.Start{{Workflow: flow, Limits: []journal.LimitNeed{need("full", "")}},
				{Workflow: flow, Limits: []journal.LimitNeed{need("full", "")}}})
			if err != nil {
				return err
			}
			for _, s := range out {
				if s.Created {
					in.Add(1)
				}
			}
		}
		st := owners[i].child(1, journal.CloseAbandon)
		st.Limits = []journal.LimitNeed{need("full", "")}
		c := owners[i].build(park, asksChild(1))
		c.Starts = []journal.Start{st}
		outs, err := k.j.Commit(k.ctx, []driver.Commit{c})
		if err == nil && outs[0].Started[0].Created {
			in.Add(1)
		}
		return err
	})
	k.same("let in", in.Load(), int64(7))
	takeIn(n)
	linesAre(k, "at the end", journal.LimitUse{Name: "full", Held: 3, Waiting: 4})
}
