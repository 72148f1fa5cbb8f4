package journaltest

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// beyond makes starts wait beyond the backlog.
func beyond(list []journal.Start) []journal.Start {
	for i := range list {
		list[i].BeyondBacklog = true
	}
	return list
}

// fullKey makes a full key, with one that holds and one that waits, of a limit that does what f
// says.
func fullKey(k *kit, f journal.OnFull) (n *limiter, holds *owner, waits journal.RunID) {
	setLimit(k, journal.Limit{Name: "full", Concurrency: 1, MaxBacklog: 1, OnFull: f})
	n = newLimiter(k)
	runs := letIn(k, comes(k, needing(2, need("full", ""))...))
	k.same("begun", takeIn(n), 1)
	return n, k.take(n.m.ID(), 1)[0], runs[1]
}

// Of runs that come to a full key, alone, in a batch with others and as children, those that wait
// beyond the backlog are neither refused nor cancelled, and nobody goes for them. They count for
// those behind them.
func fullLetsInBeyond(k *kit) {
	for f := journal.OnFullReject; f <= journal.OnFullCancelNewest; f++ {
		n, _, waits := fullKey(k, f)
		alone := comes(k, beyond(needing(1, need("full", "")))...)
		batch := comes(k, append(beyond(needing(2, need("full", ""))), needing(1, need("full", ""))...)...)
		parent := k.one(n.m.ID())
		c := parent.build(park, asksChild(2))
		for cmd := range journal.Cmd(2) {
			st := parent.child(cmd+1, journal.CloseAbandon)
			st.Key, st.Limits, st.BeyondBacklog = fmt.Sprint("child ", cmd, " of ", parent.run), []journal.LimitNeed{need("full", "")}, true
			c.Starts = append(c.Starts, st)
		}
		children := parent.submit(c).Started
		for _, out := range append(append(alone, batch[:2]...), children...) {
			k.same("cancelled for one beyond the backlog", out.Cancelled, nil)
			stateIs(k, "beyond the backlog", out.Run, journal.Limited)
		}
		last := batch[2]
		switch f {
		case journal.OnFullReject:
			k.same("let in behind them", len(letIn(k, batch[2:])), 0)
		case journal.OnFullCancelNewest:
			cancelledFor(k, last.Run, "it cancels the newest")
		case journal.OnFullCancelOldest:
			cancelledFor(k, waits, "it cancels the oldest")
		}
		takeIn(n)
		page, err := k.j.Limits(k.ctx, journal.LimitFilter{Name: "full", Uses: 1})
		k.ok(err)
		k.same("that wait: five beyond the backlog of one", page.Uses[0].Waiting, 6)
		for _, run := range append(claimants(k), parent.run) {
			k.ok(k.admin(run, driver.AdminTerminate))
		}
		takeIn(n)
		linesAre(k, "at the end")
	}
}

// claimants are the runs that hold a limit or wait.
func claimants(k *kit) (runs []journal.RunID) {
	page, err := k.j.Limits(k.ctx, journal.LimitFilter{Name: "full", Claims: 100})
	k.ok(err)
	for i := range page.Claims {
		runs = append(runs, page.Claims[i].Run)
	}
	return runs
}

// No run that comes cancels one that waits beyond the backlog, whether its start has named the
// limit or its first owner. Those that came behind it go first.
func fullSparesBeyond(k *kit) {
	n, holds, waits := fullKey(k, journal.OnFullCancelOldest)
	k.ok(k.admin(waits, driver.AdminTerminate))
	named := comes(k, beyond(needing(1, need("full", "")))...)
	var found []journal.Started
	for _, starts := range [][]journal.Start{make([]journal.Start, 1), make([]journal.Start, 2)} {
		found = append(found, comes(k, beyond(starts)...)...)
	}
	for _, o := range k.take(n.m.ID(), 3) {
		o.submit(o.needing(need("full", "")))
	}
	takeIn(n)
	last := comes(k, needing(1, need("full", ""))...)[0]
	k.same("cancelled for one that comes", last.Cancelled, nil)
	for range 3 {
		out := comes(k, needing(1, need("full", ""))...)[0]
		k.same("cancelled for the next", out.Cancelled, []journal.RunID{last.Run})
		last = out
	}
	for _, out := range append(named, found...) {
		stateIs(k, "beyond the backlog", out.Run, journal.Limited)
	}
	holds.commit(closed, started(), completed("1"))
	k.same("begun at last", takeIn(n), 1)
	k.same("claimed", k.take(n.m.ID(), 1)[0].run, named[0].Run)
}
