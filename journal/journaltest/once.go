package journaltest

import (
	"errors"
	"strings"
	"sync/atomic"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Of several callers that try one action, of which none knows of the others, one carries it out
// (J12).
var onceChecks = []check{
	{"J12_AnActionOfSeveralCallersIsDoneOnce", actsOnce},
	{"J12_AnActionOfSeveralCallersOnAClosedRun", actsOnceOnClosed},
	{"J12_OfManyCallersAtOnceOneActs", actsOnceAtOnce},
	{"J5_ARequestToCancelOfSeveralCallersArrivesOnce", cancelsOnce},
	{"J12_WhatTheAuditWouldNotShowIsRefused", onceRefused},
}

// newest is the number of the newest entry of the audit, 0 if there is none.
func newest(k *kit) int64 {
	k.t.Helper()
	list, err := k.j.Audit(k.ctx, journal.AuditFilter{Limit: 1})
	k.ok(err)
	if len(list) == 0 {
		return 0
	}
	return list[0].Number
}

// deed is an action of several callers, and what an operator does between them.
type deed struct {
	kind   driver.AdminKind
	action func(run journal.RunID) driver.AdminAction // nil for one that needs no more than its kind
	undo   func(run journal.RunID)
}

// goingBack is the action that goes back behind the first event of a run.
func goingBack(k *kit, kind driver.AdminKind) func(journal.RunID) driver.AdminAction {
	return func(run journal.RunID) driver.AdminAction {
		h := k.history(run)
		return driver.AdminAction{Kind: kind, Rewind: driver.NewRewind(&h.Run, h.Events, 1, kind != driver.AdminRetry)}
	}
}

// deeds are the actions on an open run.
func deeds(k *kit) []deed {
	undo := func(kind driver.AdminKind) func(journal.RunID) {
		return func(run journal.RunID) { k.ok(k.admin(run, kind)) }
	}
	fork := journal.NewRunID()
	return []deed{
		{driver.AdminPause, nil, undo(driver.AdminResume)},
		{driver.AdminInterrupt, nil, undo(driver.AdminResume)},
		{driver.AdminResume, nil, undo(driver.AdminPause)},
		{driver.AdminSetLabels, func(journal.RunID) driver.AdminAction {
			return driver.AdminAction{Kind: driver.AdminSetLabels, Labels: changes("a", "1")}
		}, func(run journal.RunID) { k.ok(relabels(k, run, "a", "2")) }},
		{driver.AdminSetPriority, func(journal.RunID) driver.AdminAction {
			return driver.AdminAction{Kind: driver.AdminSetPriority, Priority: 1}
		}, func(run journal.RunID) { k.ok(prioritizes(k, run, 5)) }},
		{driver.AdminTerminate, nil, func(run journal.RunID) { k.ok(back(k, driver.AdminRetry, run, 1)) }},
		{driver.AdminReset, goingBack(k, driver.AdminReset), func(journal.RunID) {}},
		{driver.AdminSkip, goingBack(k, driver.AdminSkip), func(journal.RunID) {}},
		{driver.AdminEdit, goingBack(k, driver.AdminEdit), func(journal.RunID) {}},
		{driver.AdminFork, func(run journal.RunID) driver.AdminAction {
			a := forking(k, run, 1)
			a.Fork.Run = fork
			return a
		}, func(journal.RunID) {
			k.ok(k.admin(fork, driver.AdminTerminate))
			k.ok(k.admin(fork, driver.AdminDelete))
		}},
	}
}

// once is the action as one of several callers tries it.
func (d *deed) once(run journal.RunID, mark string, after int64) driver.AdminAction {
	a := driver.AdminAction{Kind: d.kind}
	if d.action != nil {
		a = d.action(run)
	}
	a.Run, a.Actor, a.Reason, a.Once = run, "eva", mark+": why", &driver.Once{Mark: mark, After: after}
	return a
}

// try tells whether another caller has carried an action out.
func try(k *kit, a driver.AdminAction) bool {
	k.t.Helper()
	out, err := k.j.Admin(k.ctx, a)
	if err != nil {
		k.t.Errorf("%s: %v", a.Kind, err)
	}
	return out.Acted
}

// The second caller changes nothing, whatever an operator has made of the run since the first one,
// and hears that it is done. Another action of the same verb is another one, and so is one that is
// older than what its callers may have done.
func actsOnce(k *kit) {
	node := k.join(leaseLong).ID()
	for _, d := range deeds(k) {
		what := d.kind.String()
		o := k.one(node)
		o.commit(keep, started("a"))
		if d.kind == driver.AdminResume {
			k.ok(k.admin(o.run, driver.AdminPause))
		}
		after := newest(k)
		k.same(what+": the first caller finds it done", try(k, d.once(o.run, "job 1", after)), false)
		d.undo(o.run)
		k.unchanged(what, func() {
			k.same(what+": the second caller finds it done", try(k, d.once(o.run, "job 1", after)), true)
		})
		k.same(what+": entries", entriesOf(k, o.run, "job 1"), 1)
		if d.kind != driver.AdminFork { // which its id makes another one
			k.same(what+": another action finds it done", try(k, d.once(o.run, "job 2", after)), false)
			d.undo(o.run)
			k.same(what+": a later action finds it done", try(k, d.once(o.run, "job 1", newest(k))), false)
		}
		closes(k, o.run)
	}
}

// closes ends a run, so that the next claim finds another one.
func closes(k *kit, run journal.RunID) {
	k.t.Helper()
	if k.row(run).Status == journal.Open {
		k.ok(k.admin(run, driver.AdminTerminate))
	}
}

// A retry and a deletion are of a closed run. What is known of a run that is deleted is the audit.
func actsOnceOnClosed(k *kit) {
	o := k.one(k.join(leaseLong).ID())
	o.commit(keep, started("a"))
	k.ok(k.admin(o.run, driver.AdminTerminate))
	after, retry, deletion := newest(k), deed{kind: driver.AdminRetry, action: goingBack(k, driver.AdminRetry)}, deed{kind: driver.AdminDelete}
	k.same("the first retry finds it done", try(k, retry.once(o.run, "job 1", after)), false)
	k.ok(k.admin(o.run, driver.AdminTerminate))
	again := retry.once(o.run, "job 1", after)
	k.same("the second retry finds it done", try(k, again), true)
	k.same("status", k.row(o.run).Status, journal.Terminated)
	k.same("the first deletion finds it done", try(k, deletion.once(o.run, "job 1", after)), false)
	k.same("the second deletion finds it done", try(k, deletion.once(o.run, "job 1", after)), true)
	k.same("a retry of what is deleted finds it done", try(k, again), true)
	k.same("verbs", audited(k, o.run), []string{"terminate", "retry", "terminate", "delete"})
	terminate := deed{kind: driver.AdminTerminate}
	if _, err := k.j.Admin(k.ctx, terminate.once(o.run, "job 1", after)); !errors.Is(err, journal.ErrNotFound) {
		k.t.Errorf("a termination of what is deleted: %v", err)
	}
}

// entriesOf counts the entries of a run whose reasons begin with a mark.
func entriesOf(k *kit, run journal.RunID, mark string) (n int) {
	k.t.Helper()
	list, err := k.j.Audit(k.ctx, journal.AuditFilter{Run: run})
	k.ok(err)
	for _, e := range list {
		if strings.HasPrefix(e.Reason, mark) {
			n++
		}
	}
	return n
}

// Callers that come at the same time find out by the lock of the run who is first.
func actsOnceAtOnce(k *kit) {
	node := k.join(leaseLong).ID()
	for _, d := range deeds(k) {
		o := k.one(node)
		o.commit(keep, started("a"))
		a := d.once(o.run, "job 1", newest(k))
		var acted atomic.Int32
		k.together(8, func(int) error {
			out, err := k.j.Admin(k.ctx, a)
			if out.Acted {
				acted.Add(1)
			}
			return err
		})
		k.same(d.kind.String()+": entries", entriesOf(k, o.run, "job 1"), 1)
		k.same(d.kind.String()+": callers that find it done", acted.Load(), int32(7))
		closes(k, o.run)
		if d.kind == driver.AdminFork {
			closes(k, a.Fork.Run)
		}
	}
}

// A request to cancel has a key of its callers. An operator lets the run go on without it, and the
// second caller's request is a duplicate still; those of everybody else are not.
func cancelsOnce(k *kit) {
	o := k.one(k.join(leaseLong).ID())
	o.commit(keep, started("a"))
	request, others := journal.OrphanCancel(o.run), journal.OrphanCancel(o.run)
	request.Key = (&driver.Once{Mark: "job 1"}).CancelKey()
	for range 2 {
		k.sends(request, others)
	}
	inbox := k.waits(o.run, 2)
	o.commit(closed, received(inbox[0]), received(inbox[1]), ended(journal.RunCancelled))
	k.ok(back(k, driver.AdminRetry, o.run, 1))
	k.inboxIs(o.run)
	if s := k.sends(request)[0]; s.Err != nil || !s.Duplicate {
		k.t.Errorf("the request of the second caller: %+v", s)
	}
	k.inboxIs(o.run)
	if s := k.sends(others)[0]; s.Err != nil || s.Duplicate {
		k.t.Errorf("a request of somebody else: %+v", s)
	}
}

// An action whose reason does not begin with its mark would be done again and again.
func onceRefused(k *kit) {
	run := k.begin(1)[0]
	for what, a := range map[string]driver.AdminAction{
		"no mark":        {Run: run, Kind: driver.AdminPause, Reason: "why", Once: &driver.Once{}},
		"another reason": {Run: run, Kind: driver.AdminPause, Reason: "why", Once: &driver.Once{Mark: "job"}},
		"no run":         {Kind: driver.AdminPause, Reason: "job", Once: &driver.Once{Mark: "job"}, Scope: &journal.Scope{Queue: "q"}},
	} {
		k.unchanged(what, func() {
			if err := acts(k, a); !errors.Is(err, journal.ErrInvalid) {
				k.t.Errorf("%s: %v", what, err)
			}
		})
	}
}
