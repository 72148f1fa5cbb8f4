package journaltest

import (
	"errors"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Every change that an operator makes has one row of the audit (J12).
var auditChecks = []check{
	{"J12_EveryChangeHasOneRow", everyChangeIsAudited},
	{"J12_AResumeHasARowAndAPolicyNone", auditOfOthers},
	{"J12_TheAuditIsReadInPages", auditPages},
	{"J12_AConcurrentActionIsAuditedOnce", auditedOnce},
}

// audited returns the verbs of a run's entries, oldest first.
func audited(k *kit, run journal.RunID) (verbs []string) {
	k.t.Helper()
	list, err := k.j.Audit(k.ctx, journal.AuditFilter{Run: run})
	k.ok(err)
	for _, e := range list {
		verbs = append([]string{e.Verb}, verbs...)
	}
	return verbs
}

// Each verb leaves one row, with who, why and when; what is refused or changes nothing leaves none.
// The rows outlive the run. Messages have their own.
func everyChangeIsAudited(k *kit) {
	node := k.join(leaseLong).ID()
	run := k.begin(1)[0]
	before := k.j.Now().Add(-time.Minute)
	reason := "two\nlines \x00 and \xff " + strings.Repeat("ü", journal.AuditTextBytesMax)
	act := func(kind driver.AdminKind, want error) {
		k.t.Helper()
		if err := acts(k, driver.AdminAction{Run: run, Kind: kind, Reason: reason, Actor: "eva@host"}); !errors.Is(err, want) {
			k.t.Errorf("%s: %v, want %v", kind, err, want)
		}
	}
	act(driver.AdminDelete, journal.ErrOpen)
	act(driver.AdminPause, nil)
	act(driver.AdminPause, nil)
	act(driver.AdminInterrupt, nil)
	act(driver.AdminResume, nil)
	o := k.take(node, 1)[0]
	o.commit(keep, started())
	k.send(run, "sig", "1")
	act(driver.AdminPause, nil)
	act(driver.AdminInterrupt, nil)
	act(driver.AdminInterrupt, nil)
	act(driver.AdminTerminate, nil)
	act(driver.AdminTerminate, journal.ErrClosed)
	act(driver.AdminResume, journal.ErrClosed)
	act(driver.AdminPause, journal.ErrClosed)
	act(driver.AdminDelete, nil)
	act(driver.AdminDelete, journal.ErrNotFound)
	k.same("verbs", audited(k, run), []string{"pause", "resume", "pause", "pause", "terminate", "delete"})

	list, err := k.j.Audit(k.ctx, journal.AuditFilter{Run: run})
	k.ok(err)
	kept := (&driver.AdminAction{Reason: reason}).AuditReason()
	for i, e := range list {
		if e.Time.Before(before) || e.Time.After(before.Add(time.Hour)) || i > 0 && e.Number >= list[i-1].Number {
			k.t.Errorf("entry %d is of %s, after %d", e.Number, e.Time, list[max(i, 1)-1].Number)
		}
		k.same("entry", e, journal.AuditEntry{Number: e.Number, Time: e.Time, Actor: "eva@host", Verb: e.Verb, Run: run, Workflow: flow,
			Reason: kept, Detail: map[bool]string{true: (&driver.AdminAction{Kind: driver.AdminInterrupt}).Detail()}[i == 2]})
	}
	if err := acts(k, driver.AdminAction{Run: run, Kind: driver.AdminDelete, Actor: "two\nlines"}); !errors.Is(err, journal.ErrInvalid) {
		k.t.Errorf("an actor of two lines: %v", err)
	}
}

// A resume of a run that nothing holds has a row. A child that ends because somebody terminates its
// parent has none.
func auditOfOthers(k *kit) {
	parent := k.own(k.join(leaseLong).ID(), 1)[0]
	child := parent.bears(journal.CloseTerminate)[0]
	k.ok(acts(k, driver.AdminAction{Run: child, Kind: driver.AdminResume}))
	k.ok(acts(k, driver.AdminAction{Run: parent.run, Kind: driver.AdminResume}))
	k.ok(acts(k, driver.AdminAction{Run: parent.run, Kind: driver.AdminTerminate}))
	k.same("status of the child", k.load(driver.LoadRequest{Run: child}).Run.Status, journal.Terminated)
	k.same("verbs on the parent", audited(k, parent.run), []string{"resume", "terminate"})
	k.same("verbs on the child", audited(k, child), []string{"resume"})
}

// A page ends at its limit, and the next begins before the last number of the one before.
func auditPages(k *kit) {
	runs := k.begin(3)
	for _, kind := range []driver.AdminKind{driver.AdminPause, driver.AdminResume} {
		for i, run := range runs {
			k.ok(acts(k, driver.AdminAction{Run: run, Kind: kind, Actor: []string{"a", "b", "a"}[i]}))
		}
	}
	read := func(f journal.AuditFilter) (all []journal.AuditEntry) {
		k.t.Helper()
		for f.Limit = 2; ; {
			page, err := k.j.Audit(k.ctx, f)
			k.ok(err)
			if len(page) > 2 {
				k.t.Fatalf("a page of %d", len(page))
			}
			if len(page) == 0 {
				return all
			}
			for _, e := range page {
				if e.Run == runs[0] || e.Run == runs[1] || e.Run == runs[2] { // the database may have others
					all = append(all, e)
				}
			}
			f.Before = page[len(page)-1].Number
		}
	}
	all := read(journal.AuditFilter{})
	k.same("entries", len(all), 6)
	for i := 1; i < len(all); i++ {
		if all[i].Number >= all[i-1].Number {
			k.t.Errorf("entry %d follows %d", all[i].Number, all[i-1].Number)
		}
	}
	for want, f := range map[int]journal.AuditFilter{4: {Actor: "a"}, 3: {Verb: "resume"}, 2: {Run: runs[1]}, 1: {Run: runs[2], Verb: "pause", Actor: "a"}, 0: {Run: runs[1], Actor: "a"}} {
		k.same("entries of the filter", len(read(f)), want)
	}
	for _, f := range []journal.AuditFilter{{Limit: -1}, {Limit: journal.ListMax + 1}, {Actor: "\n"}, {Verb: "\x00"}} {
		if _, err := k.j.Audit(k.ctx, f); !errors.Is(err, journal.ErrInvalid) {
			k.t.Errorf("filter %+v: %v", f, err)
		}
	}
}

// Of many who do the same at once one changes the run, and one row says so.
func auditedOnce(k *kit) {
	run := k.begin(1)[0]
	k.together(8, func(int) error { return acts(k, driver.AdminAction{Run: run, Kind: driver.AdminPause}) })
	k.same("verbs", audited(k, run), []string{"pause"})
	k.together(8, func(int) error {
		err := acts(k, driver.AdminAction{Run: run, Kind: driver.AdminTerminate})
		if errors.Is(err, journal.ErrClosed) {
			return nil
		}
		return err
	})
	k.together(8, func(int) error {
		err := acts(k, driver.AdminAction{Run: run, Kind: driver.AdminDelete})
		if errors.Is(err, journal.ErrNotFound) {
			return nil
		}
		return err
	})
	k.same("verbs", audited(k, run), []string{"pause", "terminate", "delete"})
}
