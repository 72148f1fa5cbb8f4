package journaltest

import (
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A fork begins another run at a point of a run's history (J13).
var forkChecks = []check{
	{"J13_AForkBeginsAtAPoint", forkBegins},
	{"J13_AForkIsMadeOnce", forkedOnce},
	{"J13_AForkThatIsRefused", forkRefused},
	{"J13_AForkBeginsAnew", forkAnew},
	{"J13_AForkHasOtherResults", forkEdited},
	{"J13_AForkHasGivenResults", forkGiven},
	{"J13_TheInboxOfAFork", forkInbox},
	{"J13_AForkOfAForkGoesBack", forkOfFork},
	{"J13_ABranchIsReadable", branchReadable},
}

// forking is the action that forks a run behind its event seq.
func forking(k *kit, of journal.RunID, seq journal.Seq, results ...driver.Result) driver.AdminAction {
	k.t.Helper()
	h := k.history(of)
	w, f, _ := driver.NewFork(&h.Run, h.Events, seq, journal.NewRunID(), results)
	return driver.AdminAction{Run: of, Kind: driver.AdminFork, Rewind: w, Fork: f, Reason: "what if", Actor: "eva"}
}

// A fork has the first events of the run as they are, and what its row says, but for key, queue,
// version and parent. Nothing happens to the run, owned or closed, nor to its children. A node
// claims the fork like any other run, and it outlives the other one.
func forkBegins(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.takeStarted(node, journal.Start{Key: "key", Labels: map[string]string{"l": "v"}, Headers: map[string]string{"h": "w"},
		Input: journal.Payload{Data: []byte("in")}, Priority: 2, Timeout: time.Hour, Trace: "trace", OnFailure: "undo"})
	c := o.build(keep, started("a"))
	c.Labels = map[string]*string{"l": nil, "m": new("new")}
	o.submit(c)
	k.send(o.run, "sig", "1")
	var forks []journal.RunID
	for _, at := range []string{"the run is owned", "the run is closed"} {
		was := k.history(o.run)
		a := forking(k, o.run, 1)
		a.Fork.Key, a.Fork.Queue, a.Fork.Version = "key of "+at, "other", 7
		k.ok(acts(k, a))
		k.same("the run", k.history(o.run), was)
		h := k.history(a.Fork.Run)
		k.same("events", h.Events, was.Events[:1])
		k.inboxIs(a.Fork.Run, "1 sig 1")
		want := was.Run
		want.ID, want.Key, want.Queue, want.Version, want.Generation, want.Continued = a.Fork.Run, a.Fork.Key, "other", 7, 2, &journal.Continue{}
		want.Status, want.ClosedAt, want.CreatedAt, want.StartAt, want.Task = journal.Open, time.Time{}, h.Run.CreatedAt, h.Run.StartAt, h.Run.Task
		want.Rewound = &journal.Rewound{Run: o.run, From: 1, Seq: 1, Origin: 1, Steps: 2, Issued: []journal.IssuedIn{{Run: o.run, Generation: 1, Through: 1, Seq: 1}},
			Forks: []journal.Forked{{Run: o.run, Key: "key", Version: was.Run.Version, Queue: was.Run.Queue, StartAt: was.Run.StartAt, Through: 1}}}
		k.same("the row of the fork", h.Run, want)
		if h.Run.CreatedAt.Before(was.Run.CreatedAt) || !h.Run.StartAt.Equal(h.Run.CreatedAt) {
			k.t.Errorf("the fork began at %s, created %s", h.Run.StartAt, h.Run.CreatedAt)
		}
		if t := h.Run.Task; t.Owner != 0 || t.State != journal.Ready || t.Queue != "other" || t.Version != 7 || t.Generation != 2 || t.Priority != 2 || t.InboxLast != 1 || t.Turn == 0 {
			k.t.Errorf("the task of the fork: %+v", t)
		}
		k.same("audit of the fork", details(k, a.Fork.Run), []string{fmt.Sprintf("fork: of run %s, generation 1: begins with events 1 to 1", o.run)})
		if at == "the run is owned" {
			o.commit(closed, received(k.first(o.run)), ended(journal.RunFailed))
		}
		forks = append(forks, a.Fork.Run)
	}
	k.same("audit of the run", details(k, o.run), []string{
		fmt.Sprintf("fork: of generation 1: run %s begins with events 1 to 1", forks[0]),
		fmt.Sprintf("fork: of generation 1: run %s begins with events 1 to 1", forks[1]),
	})
	k.ok(k.admin(o.run, driver.AdminDelete))
	k.nothingDue(node)
	c2, err := k.j.Claim(k.ctx, driver.ClaimRequest{Node: node, Routes: []journal.Route{{Queue: "other", Workflow: flow, Version: 7}}, Max: 3})
	k.ok(err)
	k.same("claimed", len(c2.Tasks), 2)
	for _, task := range c2.Tasks {
		next := k.owner(node, task)
		next.commit(keep, received(k.first(next.run)))
		next.commit(closed, stepDone(1, "a", "1"), completed("1"))
		k.same("status", k.row(next.run).Status, journal.Completed)
		k.same("events", len(k.history(next.run).Events), 4)
	}
}

// A fork that is repeated, because the answer was lost, is made once, also if it has gone on.
func forkedOnce(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	o.commit(keep, started("a"))
	a := forking(k, o.run, 1)
	a.Fork.Key = "key"
	k.together(4, func(int) error { return acts(k, a) })
	k.same("audit of the fork", len(details(k, a.Fork.Run)), 1)
	k.same("audit of the run", len(details(k, o.run)), 1)
	k.take(node, 1)[0].commit(closed, stepDone(1, "a", "1"), completed("1"))
	o.commit(closed, stepDone(1, "a", "1"), completed("1"))
	k.unchanged("a fork that is there", func() { k.ok(acts(k, a)) })
}

// What has changed since the point was chosen is refused, and so is a key that somebody has.
// Nothing is stored then.
func forkRefused(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.takeStarted(node, journal.Start{Key: "key"})
	o.commit(keep, started("a"))
	o.commit(keep, stepDone(1, "a", "1"))
	refused := func(what string, want error, change func(*driver.AdminAction)) {
		k.t.Helper()
		a := forking(k, o.run, 2, driver.Result{Seq: 2})
		change(&a)
		k.unchanged(what, func() {
			if err := acts(k, a); !errors.Is(err, want) {
				k.t.Errorf("%s: %v, want %v", what, err, want)
			}
		})
		k.gone(a.Fork.Run)
	}
	refused("another generation", driver.ErrMoved, func(a *driver.AdminAction) { a.Rewind.Generation, a.Rewind.Next.From = 2, 2 })
	refused("another history", driver.ErrMoved, func(a *driver.AdminAction) { a.Rewind.Head.Link++ })
	refused("no run", journal.ErrNotFound, func(a *driver.AdminAction) { a.Run = journal.NewRunID() })
	refused("no version", journal.ErrInvalid, func(a *driver.AdminAction) { a.Fork.Version = 0 })
	refused("no queue", journal.ErrInvalid, func(a *driver.AdminAction) { a.Fork.Queue = "" })
	refused("a reserved key", journal.ErrInvalid, func(a *driver.AdminAction) { a.Fork.Key = "~k" })
	refused("a result behind the point", journal.ErrInvalid, func(a *driver.AdminAction) { a.Fork.Results[0].Seq = 3 })
	refused("links that are missing", journal.ErrInvalid, func(a *driver.AdminAction) { a.Fork.Links = nil })
	refused("links of nothing", journal.ErrInvalid, func(a *driver.AdminAction) { a.Fork.Results = nil })
	refused("a fork of nobody", journal.ErrInvalid, func(a *driver.AdminAction) { a.Rewind.Next.Run = journal.RunID{} })
	a := forking(k, o.run, 1)
	a.Fork.Key = "key"
	k.unchanged("a key that is taken", func() {
		if c, ok := errors.AsType[*journal.KeyConflictError](acts(k, a)); !ok || c.Run != o.run || c.Key != "key" {
			k.t.Errorf("a key that is taken: %v", c)
		}
	})
	a.Fork = nil
	if err := acts(k, a); !errors.Is(err, journal.ErrInvalid) {
		k.t.Errorf("no fork: %v", err)
	}
	k.same("audit", details(k, o.run), nil)
}

// A fork that keeps no event may have another input.
func forkAnew(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.takeStarted(node, journal.Start{Input: journal.Payload{Data: []byte("in")}})
	k.send(o.run, "sig", "1")
	o.commit(closed, started("a"), received(k.first(o.run)), ended(journal.RunFailed))
	a := forking(k, o.run, 0)
	a.Rewind.Whole, a.Rewind.Input, a.Rewind.Version = true, journal.Payload{Encoding: "x", Data: []byte("other")}, 1
	k.ok(acts(k, a))
	r := k.row(a.Fork.Run)
	k.same("input", r.Input, a.Rewind.Input)
	k.same("how it began", r.Rewound, &journal.Rewound{Run: o.run, From: 1})
	k.same("the input of the run", string(k.row(o.run).Input.Data), "in")
	k.inboxIs(a.Fork.Run, "1 sig 1")
	next := k.take(node, 1)[0]
	next.commit(closed, started(), received(k.first(a.Fork.Run)), completed("1"))
	k.same("audit", details(k, a.Fork.Run), []string{fmt.Sprintf("fork: of run %s, generation 1: begins anew", o.run)})
}

// Results of kept events are replaced in the fork alone, whatever outcome the steps had, and the
// events from there on have other links. So whoever has the fork commits onto what it has.
func forkEdited(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	o.commit(keep, started("a", "b"))
	o.commit(keep, stepDone(1, "a", "1", "c"))
	k.send(o.run, "sig", "1")
	o.commit(keep, stepFailed(2, "b"), received(k.first(o.run)))
	was := k.history(o.run)
	a := forking(k, o.run, 4, driver.Result{Seq: 2, Output: journal.Payload{Data: []byte("other")}}, driver.Result{Seq: 3, Output: journal.Payload{Encoding: "x", Data: []byte("good")}})
	k.ok(acts(k, a))
	k.same("the run", k.history(o.run), was)
	h := k.history(a.Fork.Run)
	want := append([]journal.Event(nil), was.Events[:4]...)
	want[1].Payload, want[2].Payload, want[2].Kind = a.Fork.Results[0].Output, a.Fork.Results[1].Output, journal.StepCompleted
	link := want[0].Link
	for i := 1; i < len(want); i++ {
		want[i].Link = want[i].LinkAfter(link)
		link = want[i].Link
	}
	k.same("events", h.Events, want)
	k.same("edited", h.Run.Rewound.Edited, []journal.Seq{2, 3})
	k.same("audit", details(k, a.Fork.Run), []string{fmt.Sprintf("fork: of run %s, generation 1: begins with events 1 to 4; results are given for event 2, event 3", o.run)})
	o.commit(closed, completed("1"))
	next := k.take(node, 1)[0]
	next.commit(closed, stepDone(3, "c", "3"), completed("2"))
}

// A fork has the inbox as the kept events have left it. Requests to cancel are left out, updates
// are answered again, and nothing of it is told to those who wait at the run.
func forkInbox(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	k.send(o.run, "a", "a")
	k.sends(update(o.run, "up", "up"), journal.OrphanCancel(o.run))
	k.send(o.run, "b", "b")
	inbox := k.waits(o.run, 4)
	o.commit(keep, started(), received(inbox[0]))
	c := o.build(keep, received(inbox[1]), received(inbox[2]))
	c.Replies = []journal.Reply{{Number: 2, Payload: journal.Payload{Data: []byte("first")}}}
	o.submit(c)
	a, only := forking(k, o.run, 2), forking(k, o.run, 2)
	only.Rewind.Messages = driver.Again{None: true, Names: []string{"b"}}
	k.ok(acts(k, a))
	k.ok(acts(k, only))
	k.inboxIs(a.Fork.Run, "3 up 2", "1 b 4")
	k.inboxIs(only.Fork.Run, "1 b 4")
	k.inboxIs(o.run, "1 b 4")
	k.same("the answer at the run", string(k.answer(o.run, 2).Answer.Payload.Data), "first")
	if got := k.answer(a.Fork.Run, 2).Answer; got != nil {
		k.t.Errorf("the fork has an answer: %+v", got)
	}
	k.same("the answer of the other fork", string(k.answer(only.Fork.Run, 2).Answer.Payload.Data), "first")
	if s := k.sends(journal.OrphanCancel(a.Fork.Run))[0]; s.Duplicate || s.Number != 5 {
		k.t.Errorf("a request to cancel the fork: %+v", s)
	}
	if s := k.send(a.Fork.Run, "a", "a"); !s.Duplicate || s.Number != 1 {
		k.t.Errorf("a message that the kept events have, sent again: %+v", s)
	}
	k.same("the run has the payload", k.history(a.Fork.Run).Events[1].Payload, inbox[0].Payload)
	o.commit(closed, received(k.first(o.run)), completed("1"))
}

// A fork is forked, reset and continued like any run, and the names of all that have issued its
// commands stay known.
func forkOfFork(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	o.fails()
	a := forking(k, o.run, 2)
	k.ok(acts(k, a))
	first := k.take(node, 1)[0]
	first.commit(keep, stepDone(2, "b", "2", "c"))
	b := forking(k, first.run, 3)
	k.ok(acts(k, b))
	first.commit(closed, completed("1"))
	ofRun, ofFork := k.row(o.run), k.row(first.run)
	want := &journal.Rewound{Run: first.run, From: 2, Seq: 3, Origin: 1, Steps: 3,
		Issued: []journal.IssuedIn{{Run: o.run, Generation: 1, Through: 2, Seq: 2}, {Run: first.run, Generation: 2, Through: 3, Seq: 3}},
		Forks: []journal.Forked{{Run: o.run, Version: 1, Queue: ofRun.Queue, StartAt: ofRun.StartAt, Through: 2},
			{Run: first.run, Version: 1, Queue: ofRun.Queue, StartAt: ofFork.StartAt, Through: 3}}}
	k.same("how it began", k.row(b.Fork.Run).Rewound, want)
	second := k.take(node, 1)[0]
	second.commit(keep, stepDone(3, "c", "3", "d"))
	k.ok(back(k, driver.AdminReset, second.run, 1))
	want = &journal.Rewound{From: 3, Seq: 1, Origin: 1, Steps: 4, Issued: want.Issued[:1], Forks: want.Forks[:1]}
	want.Issued[0].Through, want.Issued[0].Seq, want.Forks[0].Through = 1, 1, 1
	k.same("how it began", k.row(second.run).Rewound, want)
	second = k.take(node, 1)[0]
	second.submit(second.continued(keep, nil, stepDone(1, "a", "1")))
	if r := k.row(second.run); r.Rewound != nil || r.Generation != 5 {
		k.t.Errorf("the generation behind it: %+v", r)
	}
	second.commit(closed, started(), completed("1"))
}

// A result that is given to a step which the kept events have asked for waits in the fork's task,
// whoever claims it.
func forkGiven(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	o.commit(keep, started("a", "b"))
	o.commit(closed, stepFailed(1, "a"), stepDone(2, "b", "2"), ended(journal.RunFailed))
	other := driver.Result{Seq: 2, Output: journal.Payload{Encoding: "x", Data: []byte("good")}}
	a := forking(k, o.run, 1, other, driver.Result{Seq: 3})
	k.ok(acts(k, a))
	want := []journal.Attempt{{Cmd: 1, Name: "a", Given: &other.Output}, {Cmd: 2, Name: "b", Given: &journal.Payload{}}}
	for range 2 {
		k.same("given", k.row(a.Fork.Run).Task.Attempts, want)
		next := k.take(node, 1)[0]
		c := next.build(release)
		c.Attempts = want
		next.submit(c)
	}
	k.same("events", len(k.history(a.Fork.Run).Events), 1)
	k.same("audit", details(k, a.Fork.Run), []string{fmt.Sprintf("fork: of run %s, generation 1: begins with events 1 to 1; results are given for step a (command 1), step b (command 2)", o.run)})
	a = forking(k, o.run, 1, other)
	a.Rewind.Given[0].Cmd = 0
	if err := acts(k, a); !errors.Is(err, journal.ErrInvalid) {
		k.t.Errorf("a result of no command: %v", err)
	}
	a.Rewind.Given[0].Cmd, a.Rewind.Given[0].Output.Data = 1, make([]byte, journal.CommitBytesMax/2+1)
	if limit, ok := errors.AsType[*journal.LimitError](acts(k, a)); !ok || limit.Max != journal.CommitBytesMax/2 {
		k.t.Errorf("too many bytes: %v", limit)
	}
	k.take(node, 1)[0].commit(closed, stepDone(1, "a", "good"), completed("1"))
}

// The events of an earlier generation are read by its number, in pages too, with the payloads of
// the messages that they have consumed. Nothing else comes with them.
func branchReadable(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	k.send(o.run, "sig", "1")
	o.commit(keep, started("a"))
	o.commit(keep, stepDone(1, "a", "1"), received(k.first(o.run)))
	was := k.history(o.run).Events
	k.ok(back(k, driver.AdminReset, o.run, 1))
	k.inboxIs(o.run, "1 sig 1")
	read := func(q driver.LoadRequest, want ...journal.Event) {
		k.t.Helper()
		q.Run = o.run
		h := k.load(q)
		k.ok(h.Err)
		k.same(fmt.Sprintf("events of %+v", q), h.Events, want)
		if len(h.Inbox) > 0 || h.MoreInbox || h.Run.Generation != 2 || h.More != (q.Limit == 1) {
			k.t.Errorf("%+v comes with %+v", q, h)
		}
	}
	read(driver.LoadRequest{Generation: 1}, was...)
	read(driver.LoadRequest{Generation: 1, AfterSeq: 1, Limit: 1}, was[1])
	read(driver.LoadRequest{Generation: 2}, was[0])
	read(driver.LoadRequest{Generation: 3})
	a := forking(k, o.run, 1)
	k.ok(acts(k, a))
	o.run = a.Fork.Run
	for g := range journal.Generation(4) {
		if h := k.load(driver.LoadRequest{Run: o.run, Generation: g + 1}); (len(h.Events) > 0) != (g+1 == h.Run.Generation) {
			k.t.Errorf("a fork of generation %d has %d events of generation %d", h.Run.Generation, len(h.Events), g+1)
		}
	}
	k.ok(back(k, driver.AdminReset, o.run, 0))
	k.same("the branch of a fork", k.load(driver.LoadRequest{Run: o.run, Generation: 3}).Events, was[:1])
	k.take(node, 2)
}
