package journaltest

import (
	"errors"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// An operator acts on a run from outside, whoever owns it. What the owner does at the same moment
// is refused or comes first, never mixed.
var adminChecks = []check{
	{"Admin_DeleteForgetsAClosedRunOnly", deleteRun},
	{"Admin_ResumeMakesVisible", resumeRun},
	{"Admin_Terminate", terminateRun},
	{"Admin_ReasonsMayBeAnyText", anyReason},
	{"Admin_UnknownRun", adminUnknown},
}

func (k *kit) admin(run journal.RunID, op driver.AdminKind) error {
	return acts(k, driver.AdminAction{Run: run, Kind: op, Reason: "a test, ünïcode"})
}

func acts(k *kit, a driver.AdminAction) error {
	_, err := k.j.Admin(k.ctx, a)
	return err
}

// A delete forgets a closed run with its history, inbox and key, and refuses an open one. What is
// left behind would come back with the next run of that id or key.
func deleteRun(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.takeStarted(node, journal.Start{Key: "k"})
	k.send(o.run, "sig", "1")
	o.commit(keep, started(), received(journal.Message{Kind: journal.MessageSignal, Name: "sig", Number: 1}))
	if err := k.admin(o.run, driver.AdminDelete); !errors.Is(err, journal.ErrOpen) {
		k.t.Errorf("delete of an open run: %v", err)
	}
	k.same("events after a refused delete", len(k.history(o.run).Events), 2)
	o.commit(closed, completed("1"))
	k.ok(k.admin(o.run, driver.AdminDelete))
	if h := k.load(driver.LoadRequest{Run: o.run}); !errors.Is(h.Err, journal.ErrNotFound) || len(h.Events) > 0 {
		k.t.Errorf("after delete: %+v", h)
	}
	k.same("runs", len(k.listAll(journal.ListFilter{})), 0)
	if err := k.admin(o.run, driver.AdminDelete); !errors.Is(err, journal.ErrNotFound) {
		k.t.Errorf("a second delete: %v", err)
	}
	if next := k.starts(journal.Start{Key: "k"})[0]; !next.Created {
		k.t.Error("the key of a deleted run is still taken")
	}
}

// A resume makes a run visible that is blocked or parked, and takes the problem away. An owned run
// stays with its owner, who is only asked to look.
func resumeRun(k *kit) {
	node := k.join(leaseLong).ID()
	hour := k.j.Now().Add(time.Hour)
	for name, next := range map[string]driver.Next{
		"blocked": block("b", hour), "parked": park, "parked until a time": parkUntil(hour),
	} {
		o := k.one(node)
		o.commit(next, started())
		k.nothingDue(node)
		k.ok(k.admin(o.run, driver.AdminResume))
		o = k.take(node, 1)[0]
		if task := k.row(o.run).Task; task.State != journal.Ready || task.Problem != "" {
			k.t.Errorf("%s, resumed and claimed: %+v", name, task)
		}
		o.commit(closed, completed("1"))
	}
	o := k.one(node)
	k.ok(k.admin(o.run, driver.AdminResume)) // of an owned run: its owner keeps it
	o.commit(closed, started(), completed("1"))
}

// A reason is what somebody has written or a program has caught: whatever it is, it is kept as the
// failures of steps and cancel requests keep theirs.
func anyReason(k *kit) {
	for _, reason := range []string{"", "two\nlines\tand a tab", "\x00\xff\u2028 🙂", strings.Repeat("ü", 20<<10)} {
		run := k.begin(1)[0]
		k.ok(acts(k, driver.AdminAction{Run: run, Kind: driver.AdminTerminate, Reason: reason}))
		want, err := journal.DecodeFailure(journal.EncodeFailure(&journal.Failure{Message: reason}))
		k.ok(err)
		got, err := journal.DecodeFailure(k.row(run).Terminal.Payload)
		k.ok(err)
		k.same("reason", got.Message, want.Message)
	}
}

// A termination closes a run whoever owns it, without running its code, and leaves one terminal
// event with the reason.
func terminateRun(k *kit) {
	node := k.join(leaseLong).ID()
	fresh := k.begin(1)[0]
	k.ok(k.admin(fresh, driver.AdminTerminate))
	parked := k.one(node)
	parked.commit(park, started())
	k.ok(k.admin(parked.run, driver.AdminTerminate))
	owned := k.one(node)
	owned.commit(keep, started("a"))
	k.ok(k.admin(owned.run, driver.AdminTerminate))
	owned.refused(owned.build(keep, stepDone(1, "a", "1")), "the owner of a terminated run", fenced)
	owned.refused(owned.build(closed, completed("1")), "the owner of a terminated run closes it", fenced)

	for i, run := range []journal.RunID{fresh, parked.run, owned.run} {
		r := k.row(run)
		if r.Status != journal.Terminated || r.Terminal == nil || r.Terminal.Kind != journal.RunTerminated {
			k.t.Errorf("run %d: %+v", i, r)
			continue
		}
		f, err := journal.DecodeFailure(r.Terminal.Payload)
		k.ok(err)
		if f.Type != journal.FailureTerminate || f.Message != "a test, ünïcode" {
			k.t.Errorf("run %d: failure %+v", i, f)
		}
		events := k.history(run).Events
		k.same("last event", events[len(events)-1].Kind, journal.RunTerminated)
	}
	k.nothingDue(node)
}

// An action on a run that does not exist is ErrNotFound, and creates nothing.
func adminUnknown(k *kit) {
	for _, op := range []driver.AdminKind{driver.AdminDelete, driver.AdminResume, driver.AdminTerminate, driver.AdminPause, driver.AdminInterrupt, driver.AdminSetLabels, driver.AdminSetPriority} {
		if err := acts(k, driver.AdminAction{Run: journal.NewRunID(), Kind: op, Priority: 1}); !errors.Is(err, journal.ErrNotFound) {
			k.t.Errorf("op %d: %v", op, err)
		}
	}
}
