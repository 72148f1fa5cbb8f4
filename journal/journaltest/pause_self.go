package journaltest

import (
	"errors"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A run whose step may not be tried again pauses itself (J11), and the audit says so (J12).
var selfPauseChecks = []check{
	{"J11_ARunPausesItself", pausesItself},
	{"J12_ARunThatPausesItselfHasOneRow", selfPauseIsAudited},
}

// exhausts is a commit that pauses its run, because the step of a command is exhausted.
func (o *owner) exhausts(cmd journal.Cmd, events ...journal.Event) driver.Commit {
	c := o.hold(events...)
	c.Pause = "step a is exhausted"
	c.Attempts = []journal.Attempt{{Cmd: cmd, Name: "a", Made: 3, Earlier: 1, Panics: 2, Failure: &journal.Failure{Message: "down"},
		Exhausted: true, Since: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)}}
	return c
}

// An owner may pause its run by the commit that says why, whatever state the task is in, alone and
// in a batch, with effects and without. The run is on hold from there on, and nobody is called for
// the messages that it has not read.
func pausesItself(k *kit) {
	node := k.join(leaseLong).ID()
	for _, several := range []bool{false, true} {
		for _, kind := range []driver.AdminKind{0, driver.AdminPause, driver.AdminInterrupt} {
			for _, heard := range []bool{false, true} { // of the interruption
				o, beside := k.one(node), k.one(node)
				o.commit(keep, started("a", "b"))
				beside.commit(keep, started())
				k.send(o.run, "sig", "1")
				if kind != 0 {
					k.ok(k.admin(o.run, kind))
				}
				c := o.exhausts(1, stepDone(2, "b", "1"))
				c.Interrupted = heard
				list := []driver.Commit{c}
				if several {
					list = append(list, beside.build(keep))
				}
				outs, err := k.commits(list...)
				k.ok(errors.Join(err, outs[0].Err))
				want := journal.Paused
				if kind == driver.AdminInterrupt && !heard {
					want = journal.Interrupting
				}
				k.same("the outcome", outs[0].State, want)
				stateIs(k, "paused by itself", o.run, want)
				k.same("attention", k.claim(node, 0).Attention, nil)
				row := k.row(o.run).Task
				k.same("attempts", row.Attempts, c.Attempts)
				k.same("owner", row.Owner, node)
				again, err := k.commits(list[0])
				k.ok(errors.Join(err, again[0].Err))
				k.same("the outcome again (J4)", again[0].State, want)
				o.accept(&list[0])
				if several {
					beside.accept(&list[1])
				}
				last := o.build(park)
				last.Attempts = c.Attempts
				o.submit(last)
				stateIs(k, "parked", o.run, journal.Paused)
				k.nothingDue(node)
				k.ok(k.admin(o.run, driver.AdminResume))
				next := k.take(node, 1)[0]
				k.same("attempts of the next owner", k.row(o.run).Task.Attempts, c.Attempts)
				k.ok(k.admin(next.run, driver.AdminTerminate))
				k.ok(k.admin(beside.run, driver.AdminTerminate))
			}
		}
	}
	o := k.one(node)
	for what, spoil := range map[string]func(c *driver.Commit){
		"does not hold": func(c *driver.Commit) { c.Hold = false },
		"parks":         func(c *driver.Commit) { c.Next = park },
		"closes":        func(c *driver.Commit) { *c = o.build(closed, started(), completed("1")); c.Pause = "x" },
	} {
		c := o.exhausts(1, started("a"))
		spoil(&c)
		if outs, err := k.commits(c); err == nil && !errors.Is(outs[0].Err, journal.ErrInvalid) {
			k.t.Errorf("a commit that pauses its run and %s: %v", what, outs[0].Err)
		}
	}
	o.commit(closed, started(), completed("1"))
}

// The pause of a run by itself has one row of the audit, however often its commit is submitted, and
// none if the commit is refused.
func selfPauseIsAudited(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	o.commit(keep, started("a"))
	c := o.exhausts(1)
	c.Pause = "two\nlines \x00 and \xff " + strings.Repeat("ü", journal.AuditTextBytesMax)
	stale := c
	stale.Fence--
	o.refused(stale, "a commit of another owner", fenced)
	k.same("rows of a refused pause", len(audited(k, o.run)), 0)
	o.submit(c)
	outs, err := k.commits(c)
	k.ok(errors.Join(err, outs[0].Err))
	list, err := k.j.Audit(k.ctx, journal.AuditFilter{Run: o.run})
	k.ok(err)
	k.same("rows", len(list), 1)
	k.same("entry", list[0], journal.AuditEntry{Number: list[0].Number, Time: list[0].Time, Actor: journal.ActorRuntime, Verb: "pause",
		Run: o.run, Workflow: flow, Reason: (&driver.AdminAction{Reason: c.Pause}).AuditReason()})
	k.ok(k.admin(o.run, driver.AdminPause)) // it is paused
	k.same("verbs", audited(k, o.run), []string{"pause"})
	k.ok(k.admin(o.run, driver.AdminResume))
	o.submit(o.exhausts(1))
	k.same("verbs", audited(k, o.run), []string{"pause", "resume", "pause"})
	k.ok(k.admin(o.run, driver.AdminTerminate))
}
