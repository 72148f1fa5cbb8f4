package journaltest

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Rewinds of runs whose children have gone on, and of runs that have not begun (J13).
var rewindChildrenChecks = []check{
	{"J13_AnAnswerOfAChildThatHasGoneOn", childAnswersAnew},
	{"J13_AnAnswerIsStaleAgain", childAnswersTwice},
	{"J13_ARunBeginsAnewAtTheTimeOfItsStart", anewInTime},
}

// failed is the end of a child in its only step.
func failed(c *owner) driver.Commit {
	return c.withOutcome(c.build(closed, started("a"), stepFailed(1, "a"), ended(journal.RunFailed)))
}

// A parent that goes back to before the answer of a child hears what the child answers in the end:
// what it answers later if it is open, and what it has answered since. Other answers come again as
// they came.
func childAnswersAnew(k *kit) {
	node := k.join(leaseLong).ID()
	for _, over := range []bool{false, true} { // whether the child has ended again by then
		o := k.one(node)
		children := o.bears(journal.CloseAbandon, journal.CloseAbandon)
		owners := k.takeAll(node)
		other := owners[children[1]]
		other.submit(other.withOutcome(other.build(closed, started(), completed(`"other"`))))
		child := owners[children[0]]
		child.submit(failed(child))
		k.send(o.run, "sig", "1")
		inbox := k.waits(o.run, 3)
		o.commit(closed, received(inbox[0]), received(inbox[1]), ended(journal.RunFailed))
		k.ok(back(k, driver.AdminRetry, children[0], 1))
		end := func() {
			c := k.takeAll(node)[children[0]]
			c.submit(c.withOutcome(c.build(closed, stepDone(1, "a", "1"), completed(`"mended"`))))
		}
		if over {
			end()
		}
		k.ok(back(k, driver.AdminRetry, o.run, 1))
		if !over {
			k.inboxIs(o.run, "4 flow 1", "1 sig 3")
			end()
		}
		k.inboxIs(o.run, "4 flow 1", "1 sig 3", "4 flow 4")
		m := k.waits(o.run, 3)[2]
		k.same("the answer", []any{m.Cmd, m.Generation, string(m.Payload.Data)}, []any{journal.Cmd(1), journal.Generation(1), `"mended"`})
		k.ok(k.admin(o.run, driver.AdminTerminate))
	}
}

// What a child has answered since may be stale as well, also for a parent that is open. An answer
// that is kept stays the only one.
func childAnswersTwice(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	child := o.bears(journal.CloseTerminate)[0]
	c := k.takeRun(node, child)
	c.submit(failed(c))
	for n := journal.InboxSeq(1); n <= 3; n++ {
		m := k.first(o.run)
		k.same("number of the answer", m.Number, n)
		o.commit(keep, received(m))
		k.ok(back(k, driver.AdminRetry, child, 1))
		k.ok(back(k, driver.AdminReset, o.run, 1))
		k.inboxIs(o.run)
		owners := k.takeAll(node)
		o, c = owners[o.run], owners[child]
		c.submit(c.withOutcome(c.build(closed, stepFailed(1, "a"), ended(journal.RunFailed))))
	}
	o.commit(keep, received(k.first(o.run)))
	k.ok(back(k, driver.AdminRetry, child, 1))
	k.ok(back(k, driver.AdminReset, o.run, 2))
	k.inboxIs(o.run)
	c = k.takeRun(node, child)
	c.submit(c.withOutcome(c.build(closed, stepFailed(1, "a"), ended(journal.RunFailed))))
	k.inboxIs(o.run)
	k.ok(k.admin(o.run, driver.AdminTerminate))
}

// A run that begins anew before the time of its start waits for that, open or closed, with limits
// or without.
func anewInTime(k *kit) {
	setLimit(k, journal.Limit{Name: "wide", Concurrency: 10})
	n := newLimiter(k)
	for _, limits := range [][]journal.LimitNeed{nil, {need("wide", "")}} {
		st := k.starts(journal.Start{Delay: time.Hour, Limits: limits})[0]
		waits := func(after string) {
			k.t.Helper()
			k.same("runs that get their limits after a "+after, takeIn(n), 0)
			k.nothingDue(n.m.ID())
			if t := k.row(st.Run).Task; limits == nil && !t.VisibleAt.Equal(st.StartAt) {
				k.t.Errorf("after a %s it is due at %s, its start is at %s", after, t.VisibleAt, st.StartAt)
			}
		}
		k.ok(back(k, driver.AdminReset, st.Run, 0))
		waits("reset")
		k.ok(k.admin(st.Run, driver.AdminTerminate))
		k.ok(back(k, driver.AdminRetry, st.Run, 0))
		waits("retry")
		k.ok(k.admin(st.Run, driver.AdminTerminate))
	}
}
