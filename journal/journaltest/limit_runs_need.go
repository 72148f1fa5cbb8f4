package journaltest

import (
	"errors"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// needing returns the commit by which the first owner of a run makes it wait for limits.
func (o *owner) needing(needs ...journal.LimitNeed) driver.Commit {
	c := o.build(park)
	c.Limits = needs
	return c
}

// The first owner of a run finds that it needs limits, of which its start has said nothing. It
// waits for them as if its start had: nothing else wakes it, and it holds them until it closes. A
// commit that is repeated asks once.
func runsNeed(k *kit) {
	setLimit(k, journal.Limit{Name: "more", Concurrency: 1})
	n := newLimiter(k)
	runs := limited(k, 2)
	for _, o := range k.take(n.m.ID(), 2) {
		c := o.needing(need("more", ""))
		o.submit(c)
		k.send(o.run, "go", "")
		out, err := k.commits(c)
		k.ok(err)
		k.ok(out[0].Err)
		stateIs(k, "that needs more", o.run, journal.Limited)
	}
	k.nothingDue(n.m.ID())
	k.same("limits of the row", k.row(runs[0]).Limits, []journal.LimitNeed{need("more", "")})
	k.same("begun", takeIn(n), 1)
	linesAre(k, "with two", journal.LimitUse{Name: "more", Held: 1, Waiting: 1})
	o := k.take(n.m.ID(), 1)[0]
	k.same("the first", o.run, runs[0])
	k.same("messages", len(k.history(o.run).Inbox), 1)
	o.commit(closed, started(), completed("1"))
	k.same("begun when it has closed", takeIn(n), 1)
	k.take(n.m.ID(), 1)[0].commit(closed, started(), completed("1"))
	takeIn(n)
	linesAre(k, "at the end")
}

// A run that holds a limit and needs another one gives back what it holds, and waits for both. Its
// place is that of its start.
func runsNeedMore(k *kit) {
	setLimit(k, journal.Limit{Name: "runs", Concurrency: 1})
	setLimit(k, journal.Limit{Name: "more", Concurrency: 1})
	n := newLimiter(k)
	step := n.want(nth(0), need("more", ""))
	n.ask(step)
	runs := limited(k, 2, need("runs", ""))
	low := k.starts(journal.Start{Priority: journal.PriorityDefault + 1, Limits: []journal.LimitNeed{need("runs", "")}})[0].Run
	takeIn(n)
	o := k.take(n.m.ID(), 1)[0]
	k.same("the first", o.run, runs[0])
	o.submit(o.needing(need("runs", ""), need("more", "")))
	k.same("begun beside it", takeIn(n), 1)
	linesAre(k, "of two limits", journal.LimitUse{Name: "runs", Held: 1, Waiting: 2}, journal.LimitUse{Name: "more", Held: 1, Waiting: 1})
	second := k.take(n.m.ID(), 1)[0]
	k.same("the second", second.run, runs[1])
	n.end(step)
	k.same("begun while the second is open", takeIn(n), 0)
	second.commit(closed, started(), completed("1"))
	k.same("begun when it has closed", takeIn(n), 1)
	o = k.take(n.m.ID(), 1)[0]
	k.same("the first, ahead of the third", o.run, runs[0])
	o.commit(closed, started(), completed("1"))
	takeIn(n)
	k.same("the third", k.take(n.m.ID(), 1)[0].run, low)
}

// A run that is paused while its first owner asks for limits stays paused, and waits when it is
// resumed. One that has begun asks for none, and a lost owner changes nothing.
func runsNeedInTime(k *kit) {
	setLimit(k, journal.Limit{Name: "more", Concurrency: 1})
	n := newLimiter(k)
	o := k.one(n.m.ID())
	stale := o.needing(need("more", ""))
	stale.Fence++
	o.refused(stale, "of another fence", func(err error) bool { return errors.Is(err, journal.ErrFenced) })
	linesAre(k, "behind a lost owner")
	k.ok(k.admin(o.run, driver.AdminPause))
	o.submit(o.needing(need("more", "")))
	stateIs(k, "paused", o.run, journal.Paused)
	k.same("begun while it is paused", takeIn(n), 0)
	linesAre(k, "without the paused one")
	step := n.want(nth(0), need("more", ""))
	n.ask(step)
	k.ok(k.admin(o.run, driver.AdminResume))
	stateIs(k, "resumed", o.run, journal.Limited)
	n.end(step)
	takeIn(n)
	o = k.take(n.m.ID(), 1)[0]
	late := o.build(parkUntil(k.j.Now().Add(time.Hour)), started("a"))
	late.Limits = []journal.LimitNeed{need("more", "")}
	for what, c := range map[string]driver.Commit{"of a run that has begun": late, "of a name twice": o.needing(need("a", ""), need("a", "k"))} {
		if _, err := k.commits(c); !errors.Is(err, journal.ErrInvalid) {
			k.t.Errorf("%s: %v", what, err)
		}
	}
}

// A run that is paused leaves each of its lines, also one in which nobody else is, and comes back
// into all of them.
func runsPausedInTwoLines(k *kit) {
	setLimit(k, journal.Limit{Name: "a", Concurrency: 1})
	setLimit(k, journal.Limit{Name: "b", Concurrency: 1, Total: 1})
	n := newLimiter(k)
	step := n.want(nth(0), need("a", ""))
	k.same("the step", len(n.ask(step)), 1)
	run := limited(k, 1, need("a", ""), need("b", ""))[0]
	k.same("begun beside the step", takeIn(n), 0)
	k.ok(k.admin(run, driver.AdminPause))
	k.same("begun while it is paused", takeIn(n), 0)
	linesAre(k, "without the paused one", journal.LimitUse{Name: "a", Held: 1})
	n.end(step)
	k.same("begun while it is paused", takeIn(n), 0)
	linesAre(k, "of nobody")
	k.ok(k.admin(run, driver.AdminResume))
	k.same("begun when it is resumed", takeIn(n), 1)
	linesAre(k, "of the run", journal.LimitUse{Name: "a", Held: 1}, journal.LimitUse{Name: "b", Held: 1})
}

// A new priority gives a run that waits another place in its lines, whether a round has seen it or
// not, and takes none away from one that holds. An hour is worth a level, so nothing else counts.
func runsMove(k *kit) {
	setLimit(k, journal.Limit{Name: "line", Concurrency: 1, Ageing: time.Hour})
	n := newLimiter(k)
	runs := limited(k, 4, need("line", ""))
	takeIn(n)
	runs = append(runs, limited(k, 1, need("line", ""))...)
	for i, priority := range []int16{5, 5, 3, 1, 2} { // the third keeps what it has
		k.ok(prioritizes(k, runs[i], priority))
	}
	if c := claimsOf(k, runs[3]); len(c) != 1 || c[0].Priority != 1 || c[0].Place != 1 {
		k.t.Errorf("the claim of the most urgent: %+v", c)
	}
	var order []journal.RunID
	for range runs {
		takeIn(n)
		o := k.take(n.m.ID(), 1)[0]
		order = append(order, o.run)
		o.commit(closed, started(), completed("1"))
	}
	k.same("the order", order, []journal.RunID{runs[0], runs[3], runs[4], runs[2], runs[1]})
}
