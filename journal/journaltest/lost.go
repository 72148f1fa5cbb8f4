package journaltest

import (
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A node may be declared dead while its starts are on their way, and before it hears of it. These
// checks make such starts.
var lostChecks = []check{
	{"J8_ALostNodeOwnsNoStart", lostNodeStarts},
	{"J2_ALostNodeOwnsNoChild", lostNodeChild},
}

// loseUnheard lets b declare a dead, which has not heard of it.
func loseUnheard(k *kit, a, b driver.Membership) {
	k.t.Helper()
	k.expire(a.ID())
	k.eventually("the dead node is reaped", func() bool {
		r, err := b.Reap(k.ctx, nil)
		k.ok(err)
		return slices.Contains(r.Nodes, a.ID())
	})
}

// lostNodeStarts: a run that a lost node was to own from birth is in the queue for others. If the
// node owned it, nobody would look at it until the next reap, and its owner would be dead.
func lostNodeStarts(k *kit) {
	a, b := k.join(leaseTiny), k.join(leaseLong)
	loseUnheard(k, a, b)
	for range 2 {
		st := k.starts(journal.Start{Owner: a.ID()})[0]
		if !st.Created || st.Owned {
			k.t.Errorf("a start that a lost node was to own: %+v", st)
		}
		o := k.take(b.ID(), 1)[0]
		if o.run != st.Run {
			k.t.Errorf("claimed %s, want %s", o.run, st.Run)
		}
		o.commit(closed, started(), completed("1"))
	}
}

// lostNodeChild: the same of a child.
func lostNodeChild(k *kit) {
	a, b := k.join(leaseTiny), k.join(leaseLong)
	o := k.one(b.ID())
	loseUnheard(k, a, b)
	c := o.build(keep, asksChild(1))
	c.Starts = []journal.Start{o.child(1, journal.CloseAbandon)}
	c.Starts[0].Owner = a.ID()
	if st := o.submit(c).Started[0]; !st.Created || st.Owned {
		k.t.Errorf("a child that a lost node was to own: %+v", st)
	}
	k.take(b.ID(), 1)[0].commit(closed, started(), completed("1"))
	o.commit(closed, completed("1"))
}
