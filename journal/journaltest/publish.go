package journaltest

import (
	"errors"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// What a run publishes is part of its turn, and is read without its history.
var publishChecks = []check{
	{"J2_PublishedValuesComeWithTheirTurn", publishedWithTurn},
	{"J4_PublishedValuesOfALateTryStayAway", publishedLate},
}

func published(pairs ...string) (list []journal.Published) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, journal.Published{Name: pairs[i], Value: journal.Payload{Encoding: "x", Data: []byte(pairs[i+1])}})
	}
	return list
}

// publishedIs compares what a run has published, everywhere where its row is shown.
func publishedIs(k *kit, run journal.RunID, want []journal.Published) {
	k.t.Helper()
	k.same("published, in a listing", k.row(run).Published, want)
	k.same("published, with the history", k.history(run).Run.Published, want)
	h := k.load(driver.LoadRequest{Run: run, InboxOnly: true, AfterInbox: 1 << 62})
	k.ok(h.Err)
	if k.same("published, alone", h.Run.Published, want); len(h.Events)+len(h.Inbox) > 0 {
		k.t.Errorf("the row comes with %d events and %d messages", len(h.Events), len(h.Inbox))
	}
}

// A turn replaces what its run has published, or leaves it; a turn that is refused changes nothing.
// It survives a park, a claim, a generation and the end, also in a batch with others.
func publishedWithTurn(k *kit) {
	node := k.join(leaseLong).ID()
	o, other := k.one(node), k.one(node)
	k.sends(signal(o.run, "s", "1"))
	inbox := k.waits(o.run, 1)
	publishedIs(k, o.run, nil)
	first := published("a", "\x00\xffü", "b", "")
	first[1].Value = journal.Payload{}
	c := o.build(keep, started("x"))
	c.Published = first
	o.submit(c)
	publishedIs(k, o.run, first)
	o.submit(o.build(keep, received(inbox[0])))
	publishedIs(k, o.run, first)

	lost := o.build(keep, stepDone(1, "x", "1"))
	lost.Published, lost.Fence = published("a", "lost"), lost.Fence+1
	d := other.build(keep, started())
	d.Published = published("c", "other")
	out, err := k.j.Commit(k.ctx, []driver.Commit{lost, d})
	k.ok(err)
	if !errors.Is(out[0].Err, journal.ErrFenced) || out[1].Err != nil {
		k.t.Fatalf("a batch of a turn under a wrong fence and another one: %+v", out)
	}
	publishedIs(k, o.run, first)
	publishedIs(k, other.run, d.Published)

	second := published("a", "2")
	c = o.build(release, stepDone(1, "x", "1"))
	c.Published = second
	o.submit(c)
	claim := k.claim(node, 1).Tasks[0]
	k.same("published, as claimed", claim.Run.Published, second)
	o = k.owner(node, claim)
	o.submit(o.continued(keep, nil))
	publishedIs(k, o.run, second)
	c = o.build(closed, started(), completed("1"))
	c.Published = published("a", "3")
	o.submit(c)
	publishedIs(k, o.run, c.Published)
}

// A commit that is tried again after a later one was written publishes nothing again.
func publishedLate(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	early := o.build(keep, started("x"))
	early.Published = published("a", "1")
	o.submit(early)
	late := o.build(keep, stepDone(1, "x", "1"))
	late.Published = published("a", "2")
	o.submit(late)
	out, err := k.j.Commit(k.ctx, []driver.Commit{early})
	k.ok(err)
	if out[0].Err != nil {
		k.t.Errorf("tried again: %v", out[0].Err)
	}
	publishedIs(k, o.run, late.Published)
}
