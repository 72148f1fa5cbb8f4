package journaltest

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// An operator changes labels and priority of a run, beside its owner and without it. Each change
// has its row in the audit (J12), and neither undoes what the other one writes.
var editChecks = []check{
	{"J12_LabelsAreSetOpenAndClosed", labelsByOperator},
	{"J12_LabelsOfOperatorAndOwnerMerge", labelsOfBoth},
	{"J12_LabelsBesideCommits", labelsBesideCommits},
	{"J12_AConcurrentEditIsAuditedOnce", editedOnce},
	{"J12_LabelsHaveLimits", labelLimits},
	{"J12_LabelsThatCannotBeReadStay", labelsUnreadable},
	{"J12_APriorityMovesTheTask", priorityMoves},
	{"J12_APriorityOfAnOwnedRun", priorityOwned},
}

func relabels(k *kit, run journal.RunID, pairs ...string) error {
	return acts(k, driver.AdminAction{Run: run, Kind: driver.AdminSetLabels, Labels: changes(pairs...), Actor: "eva"})
}

func prioritizes(k *kit, run journal.RunID, priority int16) error {
	return acts(k, driver.AdminAction{Run: run, Kind: driver.AdminSetPriority, Priority: priority, Actor: "eva"})
}

// details are what the audit says of a run's edits, oldest first.
func details(k *kit, run journal.RunID) (list []string) {
	k.t.Helper()
	entries, err := k.j.Audit(k.ctx, journal.AuditFilter{Run: run, Actor: "eva"})
	k.ok(err)
	for _, e := range entries {
		list = append([]string{e.Verb + ": " + e.Detail}, list...)
	}
	return list
}

// Labels are set on a run that nobody owns, that somebody owns, and that is closed. What changes
// nothing leaves no row.
func labelsByOperator(k *kit) {
	node, start := k.join(leaseLong).ID(), map[string]string{"a": "1", "gone": "x"}
	run := k.starts(journal.Start{Labels: start})[0].Run
	k.ok(relabels(k, run, "a", "1", "never", "-"))
	k.ok(relabels(k, run))
	labelledAs(k, run, start, nil)
	k.ok(relabels(k, run, "b", `ü" \`, "a", "1", "gone", "-"))
	labelledAs(k, run, map[string]string{"a": "1", "b": `ü" \`}, start)
	o := k.take(node, 1)[0]
	o.commit(keep, started())
	k.ok(relabels(k, run, "a", "2"))
	k.ok(relabels(k, run, "a", "2"))
	o.commit(closed, completed("1"))
	k.ok(relabels(k, run, "a", "-", "b", "-"))
	k.ok(relabels(k, run, "b", "-"))
	labelledAs(k, run, nil, start)
	k.ok(relabels(k, run, "late", ""))
	labelledAs(k, run, map[string]string{"late": ""}, start)
	k.same("the audit", details(k, run), []string{`set-labels: set b="ü\" \\", removed gone`, `set-labels: set a="2"`,
		`set-labels: removed a, removed b`, `set-labels: set late=""`})

	bare := k.begin(1)[0]
	k.ok(k.admin(bare, driver.AdminTerminate))
	k.ok(relabels(k, bare, "a", "1"))
	labelledAs(k, bare, map[string]string{"a": "1"}, map[string]string{})
	if err := relabels(k, journal.NewRunID(), "a", "1"); !errors.Is(err, journal.ErrNotFound) {
		k.t.Errorf("an unknown run: %v", err)
	}
	k.ok(k.admin(bare, driver.AdminDelete))
	if err := relabels(k, bare, "b", "1"); !errors.Is(err, journal.ErrNotFound) {
		k.t.Errorf("a deleted run: %v", err)
	}
}

// A turn that was built before the operator's change leaves it as it is, unless it sets the same
// label. A generation and the end keep what is there.
func labelsOfBoth(k *kit) {
	node := k.join(leaseLong).ID()
	for _, several := range []bool{false, true} {
		o, beside := k.takeStarted(node, journal.Start{Labels: map[string]string{"s": "1"}}), k.one(node)
		submit := func(c driver.Commit) {
			k.t.Helper()
			list := []driver.Commit{c}
			if several {
				list = append(list, beside.build(keep))
			}
			outs, err := k.commits(list...)
			k.ok(errors.Join(err, outs[0].Err))
			o.accept(&list[0])
			if several {
				beside.accept(&list[1])
			}
		}
		c := o.build(keep, started("x"))
		c.Labels = changes("own", "1", "both", "owner")
		k.ok(relabels(k, o.run, "op", "1", "both", "operator", "s", "-"))
		submit(c)
		labelledAs(k, o.run, map[string]string{"op": "1", "own": "1", "both": "owner"}, map[string]string{"s": "1"})
		k.ok(relabels(k, o.run, "both", "operator", "own", "-"))
		c = o.build(keep, stepDone(1, "x", "1"))
		c.Labels = changes("op", "2")
		submit(c)
		want := map[string]string{"op": "2", "both": "operator"}
		labelledAs(k, o.run, want, map[string]string{"s": "1"})
		submit(o.continued(keep, nil))
		c = o.build(closed, started(), completed("1"))
		c.Labels = changes("end", "1")
		k.ok(relabels(k, o.run, "op", "3"))
		submit(c)
		labelledAs(k, o.run, map[string]string{"op": "3", "both": "operator", "end": "1"}, map[string]string{"s": "1"})
		k.ok(k.admin(beside.run, driver.AdminTerminate))
	}
}

// Operators and an owner who write at the same time lose nothing of each other.
func labelsBesideCommits(k *kit) {
	const each, operators = 8, 3
	o := k.one(k.join(leaseLong).ID())
	o.commit(keep, started())
	want := map[string]string{}
	for n := range each {
		want[fmt.Sprint("own", n)] = "1"
		for i := range operators {
			want[fmt.Sprint("op", i, n)] = "1"
		}
	}
	k.together(operators+1, func(i int) error {
		for n := range each {
			if i < operators {
				if err := relabels(k, o.run, fmt.Sprint("op", i, n), "1"); err != nil {
					return err
				}
				continue
			}
			c := o.build(keep)
			c.Labels = changes(fmt.Sprint("own", n), "1")
			outs, err := k.commits(c)
			if err = errors.Join(err, outs[0].Err); err != nil {
				return err
			}
			o.accept(&c)
		}
		return nil
	})
	labelledAs(k, o.run, want, map[string]string{})
	k.same("rows of the audit", len(details(k, o.run)), each*operators)
}

// Of many who set the same at once one changes the run, and one row says so. A closed run has no
// task whose lock keeps them apart.
func editedOnce(k *kit) {
	run := k.begin(1)[0]
	k.together(8, func(int) error { return relabels(k, run, "a", "1") })
	k.together(8, func(int) error { return prioritizes(k, run, 1) })
	k.ok(k.admin(run, driver.AdminTerminate))
	k.together(8, func(int) error { return relabels(k, run, "a", "-") })
	k.same("the audit", details(k, run), []string{`set-labels: set a="1"`, "set-priority: from 3 to 1", "set-labels: removed a"})
}

// What exceeds a limit is refused before anything is stored, and names the run. A run with too many
// labels may lose some.
func labelLimits(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	var full []string
	for n := range journal.LabelsMax {
		full = append(full, fmt.Sprint("l", n), strings.Repeat("ü", journal.LabelValueBytesMax/2))
	}
	k.ok(relabels(k, o.run, full...))
	refused := func(what string, want error, pairs ...string) {
		k.t.Helper()
		err := relabels(k, o.run, pairs...)
		if _, limit := errors.AsType[*journal.LimitError](err); limit != (want == nil) || want != nil && !errors.Is(err, want) || !strings.Contains(fmt.Sprint(err), o.run.String()) {
			k.t.Errorf("%s: %v", what, err)
		}
	}
	refused("one too many", nil, "more", "1")
	refused("a long name", nil, strings.Repeat("x", journal.LabelKeyBytesMax+1), "-")
	refused("a long value", nil, "l0", strings.Repeat("x", journal.LabelValueBytesMax+1))
	refused("no name", journal.ErrInvalid, "", "-")
	refused("two lines", journal.ErrInvalid, "l0", "a\nb")
	k.ok(relabels(k, o.run, "more", "1", "l0", "-"))
	k.same("rows of the audit", len(details(k, o.run)), 2)
	if first := details(k, o.run)[0]; len(first) != len("set-labels: ")+journal.AuditTextBytesMax {
		k.t.Errorf("the audit has %d bytes of a long change", len(first))
	}

	c := o.build(keep, started())
	c.Labels = changes("own", "1", "own too", "1") // the code does not see the operator's labels
	o.submit(c)
	k.same("labels", len(k.row(o.run).Labels), journal.LabelsMax+2)
	refused("another one in place of one", nil, "l1", "-", "l2", "-", "x", "1", "y", "1", "z", "1")
	k.ok(relabels(k, o.run, "l1", "-"))
	k.same("labels", len(k.row(o.run).Labels), journal.LabelsMax+1)
}

// Labels that cannot be read are no reason to write over them. Other parts of a run that cannot be
// read are no reason not to set labels or the priority.
func labelsUnreadable(k *kit) {
	o := k.takeStarted(k.join(leaseLong).ID(), journal.Start{Labels: map[string]string{"a": "1"}})
	c := o.build(keep, started("x"))
	c.Attempts = []journal.Attempt{{Cmd: 1, Name: "x", Made: 2}}
	o.submit(c)
	if mend := spoil(k, o.run, PartLabels, 0); mend != nil {
		wantUnreadable(k, "labels", relabels(k, o.run, "b", "1"), o.run, "column labels", false)
		k.ok(prioritizes(k, o.run, 2))
		mend()
	}
	if mend := spoil(k, o.run, PartAttempts, 0); mend != nil {
		k.ok(relabels(k, o.run, "b", "1"))
		k.ok(prioritizes(k, o.run, 1))
		mend()
		labelledAs(k, o.run, map[string]string{"a": "1", "b": "1"}, map[string]string{"a": "1"})
	}
}

// prioritized compares the priority of a run wherever it is shown.
func prioritized(k *kit, run journal.RunID, want int16) {
	k.t.Helper()
	r := k.row(run)
	k.same("priority of the run", r.Priority, want)
	if r.Task != nil {
		k.same("priority of the task", r.Task.Priority, want)
	}
}

// A task is claimed by the priority that it was given last, due or not yet, also behind others that
// are as old. What changes nothing has no row.
func priorityMoves(k *kit) {
	node := k.join(leaseLong).ID()
	runs := k.begin(3)
	k.ok(prioritizes(k, runs[2], 1))
	k.ok(prioritizes(k, runs[0], journal.PriorityMax))
	k.ok(prioritizes(k, runs[0], journal.PriorityMax))
	k.ok(prioritizes(k, runs[1], journal.PriorityDefault))
	later := k.starts(journal.Start{Delay: time.Hour})[0].Run
	k.ok(prioritizes(k, later, 2))
	k.ok(k.admin(later, driver.AdminResume))
	var got []journal.RunID
	for range 4 { // one at a time: none of them goes by age
		c, err := k.j.Claim(k.ctx, driver.ClaimRequest{Node: node, Routes: []journal.Route{flowRoute}, Max: 1, Chance: strict})
		k.ok(err)
		for _, t := range c.Tasks {
			got = append(got, t.Run.ID)
			k.same("priority, as claimed", t.Task.Priority, t.Run.Priority)
		}
	}
	k.same("claimed", got, []journal.RunID{runs[2], later, runs[1], runs[0]})
	k.same("the audit", details(k, runs[0]), []string{"set-priority: from 3 to 5"})
	k.same("the audit of no change", details(k, runs[1]), nil)
	for _, p := range []int16{0, -1, journal.PriorityMax + 1} {
		if err := prioritizes(k, runs[0], p); !errors.Is(err, journal.ErrInvalid) {
			k.t.Errorf("priority %d: %v", p, err)
		}
	}
	if err := prioritizes(k, journal.NewRunID(), 1); !errors.Is(err, journal.ErrNotFound) {
		k.t.Errorf("an unknown run: %v", err)
	}
}

// An owner keeps its run, and its commits keep the priority that it does not know of. So does a
// pause, a generation and the end; then it is refused. Children keep theirs.
func priorityOwned(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	child := o.bears(journal.CloseAbandon)[0]
	k.ok(prioritizes(k, o.run, 1))
	prioritized(k, o.run, 1)
	prioritized(k, child, journal.PriorityDefault)
	o.submit(o.continued(keep, nil))
	prioritized(k, o.run, 1)
	o.commit(release, started())
	k.ok(k.admin(o.run, driver.AdminPause))
	k.ok(prioritizes(k, o.run, 2))
	k.ok(k.admin(o.run, driver.AdminResume))
	o = k.takeAll(node)[o.run] // the child is due too
	prioritized(k, o.run, 2)
	o.commit(closed, completed("1"))
	if err := prioritizes(k, o.run, 1); !errors.Is(err, journal.ErrClosed) {
		k.t.Errorf("a closed run: %v", err)
	}
	prioritized(k, o.run, 2)
	k.same("the audit", details(k, o.run), []string{"set-priority: from 3 to 1", "set-priority: from 1 to 2"})
}
