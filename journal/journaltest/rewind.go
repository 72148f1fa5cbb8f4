package journaltest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A retry and a reset make the next generation out of the beginning of the present one (J13).
var rewindChecks = []check{
	{"J13_ARetryOpensARun", retryOpens},
	{"J13_ARetryOfWhatIsNotAsItWas", retryRefused},
	{"J13_OneOfManyRetriesOpensTheRun", retriedOnce},
	{"J13_AKeyThatIsTaken", retryKey},
	{"J13_AResetTakesARunFromItsOwner", resetOwned},
	{"J13_AResetOfARunThatStandsStill", resetHeld},
	{"J13_AResetBeginsAnew", resetAnew},
	{"J13_GenerationsOfGenerations", rewoundTwice},
	{"J13_MessagesComeAgain", messagesAgain},
	{"J13_MessagesByName", messagesByName},
	{"J13_RequestsToCancelDoNotComeAgain", cancelsDoNot},
	{"J13_UpdatesAreAnsweredAgain", updatesAgain},
	{"J13_WhatWasRejectedStaysRejected", rejectedStays},
	{"J13_ChildrenOfTheBranch", childrenOfBranch},
	{"J13_ChildrenOfEarlierGenerations", childrenOfAll},
	{"J13_ChildrenThatEndedMeanwhile", childrenEnded},
	{"J13_AChildGoesOn", childRetried},
}

// back makes a run go on behind its event seq.
func back(k *kit, kind driver.AdminKind, run journal.RunID, seq journal.Seq, change ...func(*driver.Rewind)) error {
	k.t.Helper()
	h := k.history(run)
	w := driver.NewRewind(&h.Run, h.Events, seq, kind != driver.AdminRetry)
	for _, fn := range change {
		fn(w)
	}
	return acts(k, driver.AdminAction{Run: run, Kind: kind, Rewind: w, Reason: "mended", Actor: "eva"})
}

func stepFailed(cmd journal.Cmd, name string) journal.Event {
	return journal.Event{Kind: journal.StepFailed, Cmd: cmd, Name: name, Attempt: 3, Payload: journal.EncodeFailure(&journal.Failure{Message: "no"})}
}

// fails executes a run of two steps whose second one fails.
func (o *owner) fails() {
	o.k.t.Helper()
	c := o.build(keep, started("a"))
	c.Attempts = []journal.Attempt{{Cmd: 1, Name: "a", Made: 2}}
	o.submit(c)
	o.commit(keep, stepDone(1, "a", "1", "b"))
	o.commit(closed, stepFailed(2, "b"), ended(journal.RunFailed))
}

// A failed run goes on before its failure, with its id and key, from the same events. A node claims
// it like any other, and it ends once more. What came behind the point stays.
func retryOpens(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.takeStarted(node, journal.Start{Key: "key", Labels: map[string]string{"l": "v"}, Input: journal.Payload{Data: []byte("in")}, Priority: 2, Timeout: time.Hour})
	o.fails()
	was := k.history(o.run)
	k.ok(back(k, driver.AdminRetry, o.run, 2))
	h, r := k.history(o.run), k.row(o.run)
	k.same("events", h.Events, was.Events[:2])
	if r.Status != journal.Open || !r.ClosedAt.IsZero() || r.Terminal != nil || r.Generation != 2 || r.Task == nil {
		k.t.Errorf("the row: %+v", r)
	}
	want := was.Run
	want.Status, want.ClosedAt, want.Generation, want.Continued, want.Task = journal.Open, time.Time{}, 2, &journal.Continue{}, r.Task
	want.Rewound = &journal.Rewound{From: 1, Seq: 2, Origin: 1, Issued: []journal.IssuedIn{{Generation: 1, Through: 2, Seq: 2}}}
	k.same("the row", r, want)
	if t := r.Task; t.Owner != 0 || t.State != journal.Ready || len(t.Attempts) > 0 || t.Generation != 2 || t.Priority != 2 || t.Turn == 0 {
		k.t.Errorf("the task: %+v", t)
	}
	k.same("listed by status", k.listed(journal.ListFilter{Where: "status = open"}), []string{"key"})
	k.same("listed as failed", len(k.listAll(journal.ListFilter{Where: "status = failed"})), 0)
	ends, err := k.j.Ends(k.ctx, []journal.RunID{o.run})
	k.ok(err)
	k.same("ends", len(ends), 0)
	k.same("audit", details(k, o.run), []string{"retry: generation 2 begins with events 1 to 2 of generation 1"})
	if s := k.starts(journal.Start{Key: "key", Reuse: journal.ReuseAllow})[0]; s.Run != o.run || s.Created {
		k.t.Errorf("the key of the open run: %+v", s)
	}
	o.refused(o.build(keep, stepDone(2, "b", "2")), "the owner that it had", fenced)
	next := k.take(node, 1)[0]
	k.same("generation of the claim", next.gen, journal.Generation(2))
	next.commit(keep, stepDone(2, "b", "2"))
	next.commit(closed, completed("2"))
	r = k.row(o.run)
	k.same("status", r.Status, journal.Completed)
	k.same("outcome", string(r.Terminal.Payload.Data), "2")
	k.same("events", len(k.history(o.run).Events), 4)
	k.ok(k.admin(o.run, driver.AdminDelete))
	k.gone(o.run)
}

// What has changed since the point was chosen is refused, and so is a run that is none for the
// verb. Nothing is stored then.
func retryRefused(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	o.commit(keep, started("a"))
	if err := back(k, driver.AdminRetry, o.run, 1); !errors.Is(err, journal.ErrOpen) {
		k.t.Errorf("a retry of an open run: %v", err)
	}
	o.commit(closed, stepFailed(1, "a"), ended(journal.RunFailed))
	for what, change := range map[string]func(*driver.Rewind){
		"another generation": func(w *driver.Rewind) { w.Generation, w.Next.From = 2, 2 },
		"another history":    func(w *driver.Rewind) { w.Head.Link++ },
		"a longer history":   func(w *driver.Rewind) { w.Head.Seq, w.Next.Seq = 9, 9 },
	} {
		for _, kind := range []driver.AdminKind{driver.AdminRetry, driver.AdminReset} {
			k.unchanged(what, func() {
				if err := back(k, kind, o.run, 1, change); !errors.Is(err, driver.ErrMoved) || !strings.Contains(fmt.Sprint(err), o.run.String()) {
					k.t.Errorf("%s of %s: %v", kind, what, err)
				}
			})
		}
	}
	for what, w := range map[string]*driver.Rewind{
		"no point": nil, "no beginning": {Generation: 1},
		"a version beside events": {Generation: 1, Head: journal.Head{Seq: 1}, Next: &journal.Rewound{From: 1, Seq: 1}, Version: 2},
		"messages in no order":    {Generation: 1, Head: journal.Head{Seq: 1}, Next: &journal.Rewound{From: 1, Seq: 1}, Consumed: []journal.InboxSeq{2, 1}},
	} {
		if err := acts(k, driver.AdminAction{Run: o.run, Kind: driver.AdminReset, Rewind: w}); !errors.Is(err, journal.ErrInvalid) {
			k.t.Errorf("%s: %v", what, err)
		}
	}
	unknown := &driver.Rewind{Generation: 1, Next: &journal.Rewound{From: 1}}
	for _, kind := range []driver.AdminKind{driver.AdminRetry, driver.AdminReset} {
		err := acts(k, driver.AdminAction{Run: journal.NewRunID(), Kind: kind, Rewind: unknown})
		if !errors.Is(err, journal.ErrNotFound) {
			k.t.Errorf("%s of an unknown run: %v", kind, err)
		}
	}
	k.same("audit", details(k, o.run), nil)
}

// Of many who retry at once one opens the run, and the run goes back once.
func retriedOnce(k *kit) {
	o := k.one(k.join(leaseLong).ID())
	o.fails()
	h := k.history(o.run)
	k.together(8, func(int) error {
		w := driver.NewRewind(&h.Run, h.Events, 2, false)
		err := acts(k, driver.AdminAction{Run: o.run, Kind: driver.AdminRetry, Rewind: w, Actor: "eva"})
		if errors.Is(err, driver.ErrMoved) || errors.Is(err, journal.ErrOpen) {
			return nil
		}
		return err
	})
	k.same("generation", k.row(o.run).Generation, journal.Generation(2))
	k.same("rows of the audit", len(details(k, o.run)), 1)
}

// A run whose key another one has stays closed. If nobody has the key any more, it gets it back.
func retryKey(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.takeStarted(node, journal.Start{Key: "key"})
	o.fails()
	other := k.takeStarted(node, journal.Start{Key: "key", Reuse: journal.ReuseAllow})
	refused := func(what string) {
		k.t.Helper()
		k.unchanged(what, func() {
			err := back(k, driver.AdminRetry, o.run, 2)
			if c, ok := errors.AsType[*journal.KeyConflictError](err); !ok || c.Key != "key" || c.Run != other.run || c.Workflow != flow {
				k.t.Errorf("%s: %v", what, err)
			}
		})
	}
	refused("the other one is open")
	other.commit(closed, started(), completed("1"))
	refused("the other one is closed")
	k.ok(k.admin(other.run, driver.AdminDelete))
	k.ok(back(k, driver.AdminRetry, o.run, 2))
	if s := k.starts(journal.Start{Key: "key", Reuse: journal.ReuseAllow})[0]; s.Run != o.run {
		k.t.Errorf("the key leads to %+v, want run %s", s, o.run)
	}
}

// An owner loses a run that is reset, whatever it was about to write, and hears of it.
func resetOwned(k *kit) {
	m := k.join(leaseLong)
	for _, plain := range []bool{false, true} {
		o := k.one(m.ID())
		o.commit(keep, started("a"))
		o.commit(keep, stepDone(1, "a", "1", "b"))
		k.ok(back(k, driver.AdminReset, o.run, 1))
		if r, err := m.Renew(k.ctx); err != nil || !r.Compare {
			k.t.Errorf("a renewal of the owner says %+v, %v: nothing tells it of the reset", r, err)
		}
		c := o.build(keep, stepDone(2, "b", "2"))
		c.AppendOnly = plain
		o.refused(c, "the owner of a run that was reset", fenced)
		o.refused(o.build(closed, stepDone(2, "b", "2"), completed("2")), "the owner closes it", fenced)
		for _, next := range []driver.Next{keep, release, park} { // the reset has left the turn that these would leave
			o.refused(o.build(next), "the owner keeps or frees it without an event", fenced)
		}
		owned, err := m.Owned(k.ctx)
		k.ok(err)
		k.same("owned", len(owned), 0)
		r := k.row(o.run)
		k.same("steps", r.Rewound.Steps, journal.Generation(2))
		next := k.take(m.ID(), 1)[0]
		if next.fence <= o.fence {
			k.t.Errorf("fence %d after %d", next.fence, o.fence)
		}
		next.commit(closed, stepDone(1, "a", "again"), completed("1"))
	}
}

// A reset is a way out for a run that is blocked or quarantined. One that is paused stays so (J11).
func resetHeld(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	o.commit(block("differs", k.j.Now().Add(time.Hour)), started("a"))
	k.ok(back(k, driver.AdminReset, o.run, 1))
	if t := k.row(o.run).Task; t.State != journal.Ready || t.Problem != "" {
		k.t.Errorf("a blocked run: %+v", t)
	}
	o = k.take(node, 1)[0]
	o.commit(park)
	k.ok(k.admin(o.run, driver.AdminPause))
	k.ok(back(k, driver.AdminReset, o.run, 1))
	k.nothingDue(node)
	k.same("a paused run", k.row(o.run).Task.State, journal.Paused)
	k.ok(k.admin(o.run, driver.AdminResume))
	o = k.take(node, 1)[0]
	k.ok(k.admin(o.run, driver.AdminPause))
	k.same("a run that is to be paused", k.row(o.run).Task.State, journal.Pausing)
	k.ok(back(k, driver.AdminReset, o.run, 1))
	k.same("after its reset", k.row(o.run).Task.State, journal.Paused)
	k.nothingDue(node)
	k.ok(k.admin(o.run, driver.AdminResume))
	k.take(node, 1)[0].commit(closed, stepDone(1, "a", "1"), completed("1"))
}

// A reset to the beginning keeps no event, and may have another input and version. That is the
// beginning of the generation, unless the reset says that it is the run's.
func resetAnew(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.takeStarted(node, journal.Start{Input: journal.Payload{Data: []byte("in")}})
	k.send(o.run, "sig", "1")
	o.submit(o.continued(keep, nil, started(), received(k.first(o.run))))
	k.send(o.run, "late", "2")
	o.commit(closed, started("a"), received(k.first(o.run)), ended(journal.RunFailed))
	k.ok(back(k, driver.AdminReset, o.run, 0))
	r := k.row(o.run)
	k.same("input", string(r.Input.Data), "of generation 2")
	k.same("how it began", r.Rewound, &journal.Rewound{From: 2})
	k.inboxIs(o.run, "1 late 2")
	o = k.take(node, 1)[0]
	o.commit(release, started("a"), received(k.first(o.run)))
	k.ok(back(k, driver.AdminReset, o.run, 0, func(w *driver.Rewind) {
		w.Whole, w.Input, w.Version = true, journal.Payload{Encoding: "x", Data: []byte("first")}, 2
	}))
	r = k.row(o.run)
	k.same("input", r.Input, journal.Payload{Encoding: "x", Data: []byte("first")})
	k.same("versions", []int32{r.Version, r.Task.Version}, []int32{2, 2})
	k.inboxIs(o.run, "1 sig 1", "1 late 2")
	k.same("events", len(k.history(o.run).Events), 0)
	k.nothingDue(node) // another version
	k.same("audit", details(k, o.run), []string{"reset: generation 3 begins anew", "reset: generation 4 begins anew"})
}

// A generation that was made of another one goes back too, and continues as new. The number of the
// generation that issued a command stays known.
func rewoundTwice(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	o.fails()
	k.ok(back(k, driver.AdminRetry, o.run, 2))
	o = k.take(node, 1)[0]
	o.commit(keep, stepDone(2, "b", "2", "c"))
	o.commit(closed, stepFailed(3, "c"), ended(journal.RunFailed))
	k.ok(back(k, driver.AdminReset, o.run, 3))
	r := k.row(o.run)
	k.same("how it began", r.Rewound, &journal.Rewound{From: 2, Seq: 3, Origin: 1, Steps: 3,
		Issued: []journal.IssuedIn{{Generation: 1, Through: 2, Seq: 2}, {Generation: 2, Through: 3, Seq: 3}}})
	k.ok(back(k, driver.AdminReset, o.run, 1))
	k.same("how it began", k.row(o.run).Rewound, &journal.Rewound{From: 3, Seq: 1, Origin: 1, Steps: 4, Issued: []journal.IssuedIn{{Generation: 1, Through: 1, Seq: 1}}})
	o = k.take(node, 1)[0]
	o.submit(o.continued(keep, nil, stepDone(1, "a", "1")))
	if r = k.row(o.run); r.Rewound != nil || r.Generation != 5 {
		k.t.Errorf("the generation behind it: %+v", r)
	}
	o.commit(closed, started(), completed("1"))
}
