package journaltest

import (
	"errors"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Labels that a run sets are part of its turn; listings find the run by them, replay does not see
// them.
var relabelChecks = []check{
	{"J2_LabelsComeWithTheirTurn", labelsWithTurn},
	{"J4_LabelsOfALateTryStayAway", labelsLate},
	{"Labels_OfStartStayForReplay", labelsOfStart},
}

// changes are pairs of a label and its value; a label whose value is "-" is removed.
func changes(pairs ...string) map[string]*string {
	m := map[string]*string{}
	for i := 0; i < len(pairs); i += 2 {
		if m[pairs[i]] = nil; pairs[i+1] != "-" {
			m[pairs[i]] = &pairs[i+1]
		}
	}
	return m
}

// labelledAs compares the labels of a run everywhere where its row is shown, and asks listings for
// each of them.
func labelledAs(k *kit, run journal.RunID, want, atStart map[string]string) {
	k.t.Helper()
	for where, r := range map[string]journal.Run{"in a listing": k.row(run), "with the history": k.history(run).Run} {
		k.same("labels, "+where, r.Labels, want)
		k.same("labels of the start, "+where, r.StartLabels, atStart)
		if (r.StartLabels == nil) != (atStart == nil) {
			k.t.Errorf("labels of the start, %s, of a run without any: %#v, want %#v", where, r.StartLabels, atStart)
		}
	}
	for name, value := range want {
		page, err := k.j.List(k.ctx, journal.ListFilter{IDs: []journal.RunID{run}, Labels: map[string]string{name: value}})
		if k.ok(err); len(page.Runs) != 1 {
			k.t.Errorf("the run is not found by its label %s=%s", name, value)
		}
	}
}

// A turn changes the labels that it names and leaves the others; a turn that is refused changes
// none. It survives a park, a claim, a generation and the end, also in a batch with others.
func labelsWithTurn(k *kit) {
	node := k.join(leaseLong).ID()
	start := map[string]string{"a": "1", "gone": "x"}
	o, other := k.takeStarted(node, journal.Start{Labels: start}), k.one(node)
	c := o.build(keep, started("x"))
	c.Labels = changes("b", `ü" \`, "gone", "-", "never", "-")
	o.submit(c)
	first := map[string]string{"a": "1", "b": `ü" \`}
	labelledAs(k, o.run, first, start)
	page, err := k.j.List(k.ctx, journal.ListFilter{IDs: []journal.RunID{o.run}, Labels: map[string]string{"gone": "x"}})
	if k.ok(err); len(page.Runs) != 0 {
		k.t.Error("the run is found by a label that it has removed")
	}

	lost := o.build(keep, stepDone(1, "x", "1"))
	lost.Labels, lost.Fence = changes("a", "lost"), lost.Fence+1
	d := other.build(keep, started())
	d.Labels = changes("c", "")
	out, err := k.j.Commit(k.ctx, []driver.Commit{lost, d})
	k.ok(err)
	if !errors.Is(out[0].Err, journal.ErrFenced) || out[1].Err != nil {
		k.t.Fatalf("a batch of a turn under a wrong fence and another one: %+v", out)
	}
	labelledAs(k, o.run, first, start)
	labelledAs(k, other.run, map[string]string{"c": ""}, map[string]string{})

	c = o.build(release, stepDone(1, "x", "1"))
	c.Labels = changes("a", "2")
	o.submit(c)
	claim := k.claim(node, 1).Tasks[0]
	second := map[string]string{"a": "2", "b": `ü" \`}
	k.same("labels, as claimed", claim.Run.Labels, second)
	k.same("labels of the start, as claimed", claim.Run.StartLabels, start)
	o = k.owner(node, claim)
	o.submit(o.continued(keep, nil))
	labelledAs(k, o.run, second, start)
	c = o.build(closed, started(), completed("1"))
	c.Labels = changes("a", "-", "b", "-")
	o.submit(c)
	labelledAs(k, o.run, nil, start)
}

// A commit that is tried again after a later one was written changes no label again.
func labelsLate(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	early := o.build(keep, started("x"))
	early.Labels = changes("a", "1", "b", "1")
	o.submit(early)
	late := o.build(keep, stepDone(1, "x", "1"))
	late.Labels = changes("a", "2", "b", "-")
	o.submit(late)
	out, err := k.j.Commit(k.ctx, []driver.Commit{early})
	k.ok(err)
	if out[0].Err != nil {
		k.t.Errorf("tried again: %v", out[0].Err)
	}
	labelledAs(k, o.run, map[string]string{"a": "2"}, map[string]string{})
}

// A run without changes has no labels of its start apart, whatever it had.
func labelsOfStart(k *kit) {
	node := k.join(leaseLong).ID()
	for _, labels := range []map[string]string{nil, {"a": "1"}} {
		o := k.takeStarted(node, journal.Start{Labels: labels})
		o.commit(keep, started("x"))
		labelledAs(k, o.run, labels, nil)
	}
}
