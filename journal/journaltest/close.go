package journaltest

import (
	"errors"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A close is final (J7). One commit writes the terminal event, the status and the end of the task;
// no later call may undo any of the three.
var closeChecks = []check{
	{"J7_EveryTerminalEventClosesItsRun", everyTerminalEvent},
	{"J7_NothingReopensAClosedRun", nothingReopens},
	{"J7_TerminateRacesCommit", terminateRacesCommit},
	{"J7_CloseWithMessagesThatNobodyRead", closeWithMessages},
}

// Each terminal event gives its run the status that belongs to it and ends the task, in one
// commit.
func everyTerminalEvent(k *kit) {
	node := k.join(leaseLong).ID()
	for kind, status := range map[journal.Kind]journal.Status{
		journal.RunCompleted: journal.Completed, journal.RunFailed: journal.Failed,
		journal.RunCancelled: journal.Cancelled, journal.RunTerminated: journal.Terminated,
	} {
		o := k.one(node)
		c := o.build(closed, started(), ended(kind))
		o.submit(c)
		r := k.row(o.run)
		if r.Status != status || r.Task != nil || r.ClosedAt.Before(r.CreatedAt) {
			k.t.Errorf("after %s: %+v", kind, r)
		}
		k.same("terminal event", r.Terminal, c.Terminal())
		h := k.history(o.run)
		k.same("history", h.Events, c.Events)
		if h.Run.Status != status || h.Run.Task != nil {
			k.t.Errorf("loaded after %s: %+v", kind, h.Run)
		}
	}
}

// No commit, claim, message or action changes a closed run.
func nothingReopens(k *kit) {
	m := k.join(leaseLong)
	o := k.one(m.ID())
	o.commit(closed, started(), completed("1"))
	before := k.row(o.run)
	for _, op := range []driver.AdminKind{driver.AdminResume, driver.AdminTerminate, driver.AdminPause, driver.AdminInterrupt} {
		if err := acts(k, driver.AdminAction{Run: o.run, Kind: op}); !errors.Is(err, journal.ErrClosed) {
			k.t.Errorf("op %d: got %v, want ErrClosed", op, err)
		}
	}
	for name, c := range map[string]driver.Commit{
		"keep": o.build(keep), "park": o.build(park), "release": o.build(release),
		"another close": o.build(closed, ended(journal.RunFailed)),
	} {
		// Its own fence closed the run, so it may be taken for the closing commit, submitted again
		// (J4).
		if _, err := k.commits(c); err != nil {
			k.t.Errorf("%s after the close: %v", name, err)
		}
	}
	if out := k.sends(signal(o.run, "a", "")); !errors.Is(out[0].Err, journal.ErrClosed) {
		k.t.Errorf("signal after the close: %+v", out[0])
	}
	if _, err := m.Reap(k.ctx, nil); err != nil {
		k.t.Error(err)
	}
	k.nothingDue(m.ID())
	k.same("the closed run", k.row(o.run), before)
}

// terminateRacesCommit: an operator and the owner at the same moment. One of them closes the run.
func terminateRacesCommit(k *kit) {
	const runs = 30
	node := k.join(leaseLong).ID()
	owners := k.own(node, runs)
	k.together(2*runs, func(i int) error {
		o := owners[i/2]
		if i%2 == 0 {
			err := acts(k, driver.AdminAction{Run: o.run, Kind: driver.AdminTerminate, Reason: "stop"})
			if errors.Is(err, journal.ErrClosed) {
				return nil
			}
			return err
		}
		c := o.build(closed, started(), completed("1"))
		if i/2%2 == 0 {
			c = o.build(keep, started())
		}
		out, err := k.commits(c)
		if err == nil && out[0].Err != nil && !fenced(out[0].Err) {
			err = fmt.Errorf("commit: %w", out[0].Err)
		}
		return err
	})
	for _, o := range owners {
		if r := k.row(o.run); r.Status != journal.Completed && r.Status != journal.Terminated {
			k.t.Errorf("run is %s", r.Status)
		}
	} // the audit checks the rest
}

// A run may close while messages wait that it never read. They stay in the inbox and wake nobody.
func closeWithMessages(k *kit) {
	o := k.one(k.join(leaseLong).ID())
	k.sends(signal(o.run, "a", "1"), signal(o.run, "a", "2"))
	out := o.commit(closed, started(), received(journal.Message{Kind: journal.MessageSignal, Name: "a", Number: 1}), completed("1"))
	if out.Err != nil {
		k.t.Error(out.Err)
	}
	k.same("status", k.row(o.run).Status, journal.Completed)
}
