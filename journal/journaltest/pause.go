package journaltest

import (
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// No step of a paused run starts (J11). What a store has to do for it: nobody claims the run, its
// owner hears of the pause, and whatever writes the task keeps it until somebody resumes the run.
var pauseChecks = []check{
	{"J11_APausedRunIsNotClaimed", pausedIsNotClaimed},
	{"J11_MessagesAndTimeDoNotEndAPause", pauseOutlivesMessages},
	{"J11_AnOwnerHearsOfAPause", ownerHears},
	{"J11_AnOwnerAnswers", ownerAnswers},
	{"J11_WhateverFreesATaskKeepsThePause", freeingKeepsThePause},
	{"J11_PauseBesideCommits", pauseBesideCommits},
	{"J11_PauseBesideClaims", pauseBesideClaims},
	{"J11_ResumeOvertakesTheAnswer", resumeOvertakes},
	{"J11_AQuarantinedRunMayBePaused", pausedQuarantine},
}

// pauses are the two ways to pause, and what an owned task is then.
var pauses = map[driver.AdminKind]journal.TaskState{driver.AdminPause: journal.Pausing, driver.AdminInterrupt: journal.Interrupting}

// stateIs expects the state of an open run.
func stateIs(k *kit, what string, run journal.RunID, want journal.TaskState) {
	k.t.Helper()
	if t := k.row(run).Task; t == nil || t.State != want {
		k.t.Errorf("%s: the task is %+v, want %s", what, t, want)
	}
}

// hold is a commit that keeps the run and answers a pause.
func (o *owner) hold(events ...journal.Event) driver.Commit {
	c := o.build(keep, events...)
	c.Hold = true
	return c
}

// A free run is paused at once, whatever it waits for, and a resume makes it due. A second pause
// changes nothing.
func pausedIsNotClaimed(k *kit) {
	node := k.join(leaseLong).ID()
	hour := k.j.Now().Add(time.Hour)
	for name, next := range map[string]*driver.Next{
		"due": nil, "parked": &park, "until a time": new(parkUntil(hour)), "blocked": new(block("b", hour)),
	} {
		run := k.begin(1)[0]
		if next != nil {
			k.take(node, 1)[0].commit(*next, started())
		}
		for range 2 {
			for kind := range pauses {
				out, err := k.j.Admin(k.ctx, driver.AdminAction{Run: run, Kind: kind})
				k.ok(err)
				k.same(name, out, driver.AdminOutcome{State: journal.Paused})
			}
		}
		stateIs(k, name, run, journal.Paused)
		k.nothingDue(node)
		if c := k.claim(node, 0); c.Waiting != 0 || !c.NextDue.IsZero() {
			k.t.Errorf("%s and paused: %d wait, the next is due at %s", name, c.Waiting, c.NextDue)
		}
		state := journal.Paused
		k.same("listed", len(k.listAll(journal.ListFilter{State: &state})), 1)
		k.ok(k.admin(run, driver.AdminResume))
		stateIs(k, name+", resumed", run, journal.Ready)
		o := k.take(node, 1)[0]
		if next == nil {
			o.commit(closed, started(), completed("1"))
		} else {
			o.commit(closed, completed("1"))
		}
	}
	k.starts(journal.Start{Delay: time.Hour})
	run := k.listAll(journal.ListFilter{})[0].ID
	k.ok(k.admin(run, driver.AdminPause))
	k.ok(k.admin(run, driver.AdminResume))
	k.nothingDue(node) // a run that was not to begin yet does not begin by a pause
	k.rush(run)
	k.take(node, 1)[0].commit(closed, started(), completed("1"))
}

// A message to a paused run is kept for it, and neither it nor a time that comes wakes the run.
func pauseOutlivesMessages(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	o.commit(parkUntil(k.j.Now().Add(time.Hour)), started())
	k.ok(k.admin(o.run, driver.AdminPause))
	k.send(o.run, "sig", "1")
	k.nothingDue(node)
	k.rush(o.run)
	k.nothingDue(node)
	k.join(leaseLong) // which tries blocked runs again
	k.nothingDue(node)
	k.same("messages that wait", len(k.history(o.run).Inbox), 1)
	k.ok(k.admin(o.run, driver.AdminResume))
	k.take(node, 1)[0].commit(closed, received(journal.Message{Kind: journal.MessageSignal, Name: "sig", Number: 1}), completed("1"))
}

// The owner of a run hears of a pause by its next claim, by a load, and by a commit that did not
// know of it. After that commit the claim is silent: whoever has heard of it once need not again.
func ownerHears(k *kit) {
	node := k.join(leaseLong).ID()
	for kind, state := range pauses {
		for _, several := range []bool{false, true} {
			o, beside := k.one(node), k.one(node)
			o.commit(keep, started("a", "b"))
			beside.commit(keep, started())
			out, err := k.j.Admin(k.ctx, driver.AdminAction{Run: o.run, Kind: kind})
			k.ok(err)
			k.same("the pause", out, driver.AdminOutcome{Owner: node, State: state})
			k.same("attention", k.claim(node, 0).Attention, []journal.RunID{o.run})
			for _, q := range []driver.LoadRequest{{}, {InboxOnly: true}, {InboxOnly: true, Owned: true}} {
				q.Run = o.run
				k.same("loaded", k.load(q).Run.Task.State, state)
			}
			o.submit(o.append(stepDone(1, "a", "1")))
			k.same("attention after an append", k.claim(node, 0).Attention, []journal.RunID{o.run})

			list := []driver.Commit{o.build(keep, stepDone(2, "b", "1"))}
			if several {
				list = append(list, beside.build(keep))
			}
			outs, err := k.commits(list...)
			k.ok(errors.Join(err, outs[0].Err))
			k.same("the commit", outs[0].State, state)
			again, err := k.commits(list[0])
			k.ok(errors.Join(err, again[0].Err))
			k.same("the commit again (J4)", again[0].State, state)
			stateIs(k, "kept", o.run, state)
			k.same("attention afterwards", k.claim(node, 0).Attention, nil)
			k.send(o.run, "sig", "1")
			o.accept(&list[0])
			o.commit(keep)
			k.same("attention for a message", k.claim(node, 0).Attention, nil)
			stateIs(k, "kept again", o.run, state)
			if several {
				beside.accept(&list[1])
			}
			beside.commit(closed, completed("1"))
			k.ok(k.admin(o.run, driver.AdminTerminate))
		}
	}
}

// An owner that keeps its run answers a pause with a commit, after which the run is paused. It may
// be asked once more to interrupt what it executes. A resume reaches it like a message.
func ownerAnswers(k *kit) {
	node := k.join(leaseLong).ID()
	for _, effects := range []bool{false, true} {
		for _, several := range []bool{false, true} {
			o, other, beside := k.one(node), k.one(node), k.one(node)
			hold := func(events ...journal.Event) {
				k.t.Helper()
				list := []driver.Commit{o.hold(events...)}
				list[0].Interrupted = k.row(o.run).Task.State == journal.Interrupting
				if effects {
					list[0].Messages = []journal.Message{signal(other.run, "sig", fmt.Sprint(o.turn))}
				}
				if several {
					list = append(list, beside.build(keep))
				}
				outs, err := k.commits(list...)
				k.ok(errors.Join(err, outs[0].Err))
				k.same("the answer", outs[0].State, journal.Paused)
				o.accept(&list[0])
				if several {
					beside.accept(&list[1])
				}
				stateIs(k, "held", o.run, journal.Paused)
				k.same("owner", k.row(o.run).Task.Owner, node)
				k.same("attention", k.claim(node, 0).Attention, map[bool][]journal.RunID{true: {other.run}}[effects])
			}
			o.commit(keep, started("a"))
			k.ok(k.admin(o.run, driver.AdminPause))
			hold()
			k.ok(k.admin(o.run, driver.AdminPause)) // it is paused already
			stateIs(k, "paused twice", o.run, journal.Paused)
			k.ok(k.admin(o.run, driver.AdminInterrupt))
			stateIs(k, "interrupted", o.run, journal.Interrupting)
			k.ok(k.admin(o.run, driver.AdminPause)) // which does not take the interruption back
			stateIs(k, "interrupted, and paused", o.run, journal.Interrupting)
			early := []driver.Commit{o.hold()} // its owner had heard of the pause alone
			if several {
				early = append(early, beside.build(keep))
			}
			outs, err := k.commits(early...)
			k.ok(errors.Join(err, outs[0].Err))
			o.accept(&early[0])
			if several {
				beside.accept(&early[1])
			}
			k.same("the answer to an interruption that was not heard", outs[0].State, journal.Interrupting)
			stateIs(k, "interrupted, and held before that", o.run, journal.Interrupting)
			hold(stepDone(1, "a", "1"))
			k.nothingDue(node)

			k.ok(k.admin(o.run, driver.AdminResume))
			stateIs(k, "resumed", o.run, journal.Ready)
			if list := k.claim(node, 0).Attention; len(list) == 0 || list[len(list)-1] != o.run {
				k.t.Errorf("attention after the resume: %v", list)
			}
			o.commit(closed, completed("1"))
			k.ok(k.admin(other.run, driver.AdminTerminate))
			k.ok(k.admin(beside.run, driver.AdminTerminate))
		}
	}
}

// Whoever frees a task that is pausing, or paused with its owner, makes it a free paused one:
// nobody claims it until it is resumed.
func freeingKeepsThePause(k *kit) {
	node := k.join(leaseLong)
	hour := k.j.Now().Add(time.Hour)
	committed := func(next driver.Next) func(driver.Membership, *owner) {
		return func(_ driver.Membership, o *owner) { o.commit(next) }
	}
	for name, free := range map[string]func(driver.Membership, *owner){
		"park":          committed(park),
		"park until":    committed(parkUntil(hour)),
		"release":       committed(release),
		"block":         committed(block("b", hour)),
		"park in batch": func(_ driver.Membership, o *owner) { o.submitBeside(k, park) },
		"free by node": func(m driver.Membership, o *owner) {
			k.ok(m.Release(k.ctx, []driver.Holding{{Run: o.run, Fence: o.fence}}))
		},
		"leave": func(m driver.Membership, _ *owner) { k.ok(m.Leave(k.ctx)) },
		"reap": func(m driver.Membership, _ *owner) {
			k.expire(m.ID())
			r, err := node.Reap(k.ctx, nil)
			k.ok(err)
			if r.Tasks != 1 || r.Quarantined != 0 {
				k.t.Errorf("reaped %+v", r)
			}
		},
	} {
		for _, kind := range []driver.AdminKind{driver.AdminPause, driver.AdminInterrupt, 0} {
			m := k.join(leaseShort(name))
			o := k.one(m.ID())
			o.commit(keep, started("a"))
			k.ok(k.admin(o.run, max(kind, driver.AdminPause)))
			if kind == 0 { // it has answered
				o.submit(o.hold())
			}
			k.send(o.run, "sig", "1")
			free(m, o)
			what := fmt.Sprintf("%s, %s", name, kind)
			stateIs(k, what, o.run, journal.Paused)
			if task := k.row(o.run).Task; task.Owner != 0 || name == "block" && task.Problem != "b" {
				k.t.Errorf("%s: the task is %+v", what, task)
			}
			k.nothingDue(node.ID())
			k.ok(k.admin(o.run, driver.AdminResume))
			k.take(node.ID(), 1)[0].commit(closed, completed("1"))
		}
	}
}

// leaseShort is the lease of a node that is to die.
func leaseShort(what string) time.Duration {
	if what == "reap" {
		return leaseTiny
	}
	return leaseLong
}

// submitBeside ends a turn in one call with that of another run.
func (o *owner) submitBeside(k *kit, next driver.Next) {
	beside := k.one(o.node)
	mine, theirs := o.build(next), beside.build(keep)
	outs, err := k.commits(mine, theirs)
	k.ok(errors.Join(err, outs[0].Err, outs[1].Err))
	beside.accept(&theirs)
	beside.commit(closed, started(), completed("1"))
}
