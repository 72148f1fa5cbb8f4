package journaltest

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// What a node owns can be listed and given back, so that a node can compare it with its memory.
var holdingChecks = []check{
	{"J3_OwnedListsWhatTheNodeOwns", ownedLists},
	{"J3_ReleaseFreesByFence", releaseFrees},
	{"J3_FencesDoNotRepeat", fencesDoNotRepeat},
}

func ownedLists(k *kit) {
	a, b := k.join(leaseLong), k.join(leaseLong)
	owners := k.own(a.ID(), 4)
	k.own(b.ID(), 2)
	owners[0].commit(keep, started("a"))
	owners[0].submit(owners[0].append(stepDone(1, "a", "1", "b")))
	owners[1].commit(park, started())
	owners[2].submit(owners[2].continued(keep, nil, started()))
	list, err := a.Owned(k.ctx)
	k.ok(err)
	got := map[journal.RunID]driver.Holding{}
	for _, h := range list {
		got[h.Run] = h
	}
	want := map[journal.RunID]driver.Holding{}
	for _, i := range []int{0, 2, 3} {
		o := owners[i]
		h := driver.Holding{Run: o.run, Generation: o.gen, Fence: o.fence, Confirmed: i != 3}
		if o.head.Seq > 0 {
			h.Head = o.head
		}
		want[o.run] = h
	}
	k.same("owned", got, want)
}

func releaseFrees(k *kit) {
	a, b := k.join(leaseLong), k.join(leaseLong)
	owners := k.own(a.ID(), 3)
	list, err := a.Owned(k.ctx)
	k.ok(err)
	for i := range list {
		switch list[i].Run {
		case owners[1].run:
			list[i].Fence-- // of an earlier time
		case owners[2].run:
			owners[2].commit(closed, started(), completed("1"))
		}
	}
	k.ok(b.Release(k.ctx, list)) // another's are left alone
	k.nothingDue(b.ID())
	k.ok(a.Release(k.ctx, list))
	owners[0].refused(owners[0].build(keep, started()), "after its release", fenced)
	o := k.take(b.ID(), 1)[0]
	if o.run != owners[0].run || o.fence == owners[0].fence || k.row(o.run).Task.Strikes != 0 {
		k.t.Errorf("claimed %+v", k.row(o.run).Task)
	}
	owners[1].commit(keep, started())
}

// fencesDoNotRepeat: the chance of a claim is in the fences that it gives out.
func fencesDoNotRepeat(k *kit) {
	node := k.join(leaseLong).ID()
	fences := map[journal.Fence]bool{}
	for range 8 {
		o := k.one(node)
		if o.fence.Count() != 1 {
			k.t.Errorf("the first claim has the fence %d", o.fence)
		}
		fences[o.fence] = true
		o.commit(closed, started(), completed("1"))
	}
	if len(fences) < 6 {
		k.t.Errorf("8 claims gave out %d fences", len(fences))
	}
}
