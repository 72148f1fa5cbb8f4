package journaltest

import (
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A run that is paused while it waits is passed over, whether a round has seen it or not, and has
// its place again when it is resumed.
func runsPaused(k *kit) {
	setLimit(k, journal.Limit{Name: "runs", Concurrency: 1})
	n := newLimiter(k)
	runs := limited(k, 5, need("runs", ""))
	k.ok(k.admin(runs[0], driver.AdminPause))
	stateIs(k, "paused", runs[0], journal.Paused)
	k.same("begun", takeIn(n), 1)
	o := k.take(n.m.ID(), 1)[0]
	k.same("the second", o.run, runs[1])
	linesAre(k, "without the paused one", journal.LimitUse{Name: "runs", Held: 1, Waiting: 3})
	k.ok(k.admin(runs[2], driver.AdminPause))
	k.ok(k.admin(runs[3], driver.AdminPause))
	k.ok(k.admin(runs[3], driver.AdminResume))
	stateIs(k, "resumed at once", runs[3], journal.Limited)
	k.same("begun beside it", takeIn(n), 0)
	linesAre(k, "without two", journal.LimitUse{Name: "runs", Held: 1, Waiting: 2})
	if c := claimsOf(k, runs[0]); len(c) != 1 || !c[0].Granted.IsZero() || c[0].Place != 1 {
		k.t.Errorf("the claim of one that is paused: %+v", c)
	}
	next := func(what string, want journal.RunID) {
		k.t.Helper()
		o.commit(closed, started(), completed("1"))
		k.same("begun when another has closed", takeIn(n), 1)
		o = k.take(n.m.ID(), 1)[0]
		k.same(what, o.run, want)
	}
	next("behind the paused ones", runs[3])
	k.ok(k.admin(runs[2], driver.AdminResume))
	k.ok(k.admin(runs[0], driver.AdminResume))
	stateIs(k, "resumed", runs[0], journal.Limited)
	k.same("begun beside another", takeIn(n), 0)
	linesAre(k, "with all", journal.LimitUse{Name: "runs", Held: 1, Waiting: 3})
	next("the first", runs[0])
	k.ok(k.admin(runs[2], driver.AdminPause))
	k.same("begun", takeIn(n), 0)
	k.ok(k.admin(runs[2], driver.AdminTerminate))
	next("the last", runs[4])
	o.commit(closed, started(), completed("1"))
	takeIn(n)
	linesAre(k, "at the end")
}

// A step's line goes on without a paused run that its rate does not let begin, and a round that
// takes a pause in lets others begin at once.
func runsPausedAtARate(k *kit) {
	setLimit(k, journal.Limit{Name: "rate", Rate: journal.Rate{N: 1, Per: time.Hour, Burst: 10}})
	n := newLimiter(k)
	k.same("the first", len(n.ask(n.want(nth(0), journal.LimitNeed{Name: "rate", Cost: 5}))), 1)
	large := limited(k, 1, journal.LimitNeed{Name: "rate", Cost: 10})[0]
	small := limited(k, 1, need("rate", ""))[0]
	k.same("begun behind a large one", takeIn(n), 0)
	k.ok(k.admin(large, driver.AdminPause))
	k.same("begun when it is paused", takeIn(n), 1)
	k.same("the small one", k.take(n.m.ID(), 1)[0].run, small)
	k.same("the next time, if nothing happens", n.round(driver.LimitRound{Runs: true}).Next, time.Time{})
}

// The termination of a run frees what it holds, and takes one that waits out of its line, also
// before any round has seen it.
func runsTerminated(k *kit) {
	setLimit(k, journal.Limit{Name: "runs", Concurrency: 1})
	n := newLimiter(k)
	runs := limited(k, 4, need("runs", ""))
	k.ok(k.admin(runs[1], driver.AdminTerminate))
	k.same("begun", takeIn(n), 1)
	linesAre(k, "without one", journal.LimitUse{Name: "runs", Held: 1, Waiting: 2})
	k.ok(k.admin(runs[2], driver.AdminTerminate))
	k.ok(k.admin(runs[0], driver.AdminTerminate))
	k.same("begun when two have ended", takeIn(n), 1)
	k.same("claimed", k.take(n.m.ID(), 1)[0].run, runs[3])
	linesAre(k, "at the end", journal.LimitUse{Name: "runs", Held: 1})
	k.ok(k.admin(runs[0], driver.AdminDelete))
	k.same("claims of one that was deleted", claimsOf(k, runs[0]), nil)
}

// A node that dies frees nothing of what runs hold, which go on elsewhere.
func runsOutlive(k *kit) {
	setLimit(k, journal.Limit{Name: "runs", Concurrency: 1})
	n, dies := newLimiter(k), k.join(leaseTiny)
	runs := limited(k, 2, need("runs", ""))
	takeIn(n)
	k.take(dies.ID(), 1)
	k.expire(dies.ID())
	_, err := n.m.Reap(k.ctx, nil)
	k.ok(err)
	k.same("begun when the node is dead", takeIn(n), 0)
	k.rush(runs[0])
	o := k.takeSoon(n.m.ID())
	k.same("claimed", o.run, runs[0])
	o.commit(closed, started(), completed("1"))
	k.same("begun when the run has closed", takeIn(n), 1)
}

// A retry of a closed run waits for the limits again; a reset of an open one holds what it has, or
// waits on.
func runsAskAgain(k *kit) {
	setLimit(k, journal.Limit{Name: "runs", Concurrency: 1})
	n := newLimiter(k)
	runs := limited(k, 2, need("runs", ""))
	takeIn(n)
	k.take(n.m.ID(), 1)[0].fails()
	takeIn(n)
	o := k.take(n.m.ID(), 1)[0]
	k.ok(back(k, driver.AdminRetry, runs[0], 2))
	stateIs(k, "retried", runs[0], journal.Limited)
	k.nothingDue(n.m.ID())
	k.same("begun beside the other", takeIn(n), 0)
	o.commit(keep, started("a"))
	k.ok(back(k, driver.AdminReset, o.run, 0))
	k.ok(back(k, driver.AdminReset, runs[0], 1))
	stateIs(k, "reset while it waits", runs[0], journal.Limited)
	k.same("begun when both are reset", takeIn(n), 0)
	o = k.take(n.m.ID(), 1)[0]
	k.same("the one that has it", o.run, runs[1])
	o.commit(closed, started(), completed("1"))
	k.same("begun when it has closed", takeIn(n), 1)
	k.same("claimed", k.take(n.m.ID(), 1)[0].run, runs[0])
}

// A fork waits for limits of its own.
func forksAsk(k *kit) {
	setLimit(k, journal.Limit{Name: "runs", Concurrency: 1})
	n := newLimiter(k)
	run := limited(k, 1, need("runs", ""))[0]
	takeIn(n)
	o := k.take(n.m.ID(), 1)[0]
	o.commit(keep, started("a"))
	a := forking(k, run, 1)
	k.ok(acts(k, a))
	stateIs(k, "the fork", a.Fork.Run, journal.Limited)
	k.nothingDue(n.m.ID())
	k.same("begun", takeIn(n), 0)
	linesAre(k, "of run and fork", journal.LimitUse{Name: "runs", Held: 1, Waiting: 1})
	o.commit(closed, ended(journal.RunFailed))
	k.same("begun when the run has closed", takeIn(n), 1)
	k.same("claimed", k.take(n.m.ID(), 1)[0].run, a.Fork.Run)
}

// A limit that is raised or removed lets runs begin when somebody takes in what is new, and so do
// the places of a step whose node is gone.
func runLimitsChange(k *kit) {
	setLimit(k, journal.Limit{Name: "live", Total: 1})
	n, leaves := newLimiter(k), newLimiter(k)
	k.same("the step", len(leaves.ask(leaves.want(nth(0), need("live", "step")))), 1)
	limited(k, 2, need("live", "x"))
	limited(k, 2, need("live", "y"))
	k.same("begun beside the step", takeIn(n), 0)
	k.ok(leaves.m.Leave(k.ctx))
	k.same("begun when the node has left", takeIn(n), 1)
	setLimit(k, journal.Limit{Name: "live", Total: 2})
	k.same("begun of a total of 2", takeIn(n), 1)
	k.same("begun again", takeIn(n), 0)
	_, err := k.j.Admin(k.ctx, driver.AdminAction{Kind: driver.AdminRemoveLimit, Limit: &journal.Limit{Name: "live"}})
	k.ok(err)
	k.same("begun without a limit", takeIn(n), 2)
	k.take(n.m.ID(), 4)
}

// A rate that lets a run begin later says when, and whoever looks then finds it.
func runsAtARate(k *kit) {
	setLimit(k, journal.Limit{Name: "rate", Rate: journal.Rate{N: 20, Per: time.Second}})
	n, other := newLimiter(k), newLimiter(k)
	k.starts(journal.Start{Limits: []journal.LimitNeed{need("rate", "")}, Delay: time.Hour})
	limited(k, 2, need("rate", ""))
	a := n.round(driver.LimitRound{Runs: true})
	k.same("begun at once", a.Runs, 1)
	if wait := a.Next.Sub(a.Now); wait <= 0 || wait > 50*time.Millisecond {
		k.t.Errorf("the next begins in %s, want 50ms", wait)
	}
	k.eventually("the next begins", func() bool { return takeIn(other) == 1 })
	setLimit(k, journal.Limit{Name: "fast", Rate: journal.Rate{N: 1, Per: time.Millisecond}})
	limited(k, 2, need("fast", ""))
	if a = n.round(driver.LimitRound{Runs: true}); a.Runs == 1 && a.Next.IsZero() {
		k.t.Error("a run whose rate lets it begin as soon as the round is over is forgotten")
	}
}

// If more runs have come to wait than one round takes in, its answer says so: nobody is told of the
// others again.
func runsInARush(k *kit) {
	setLimit(k, journal.Limit{Name: "runs", Concurrency: 1})
	n := newLimiter(k)
	starts := make([]journal.Start, driver.LimitNewsMax+1)
	for i := range starts {
		starts[i].Limits = []journal.LimitNeed{need("runs", "")}
	}
	k.starts(starts...)
	k.same("more", n.round(driver.LimitRound{Runs: true}).More, true)
	linesAre(k, "after a round", journal.LimitUse{Name: "runs", Held: 1, Waiting: driver.LimitNewsMax - 1})
	k.same("more", n.round(driver.LimitRound{Runs: true}).More, false)
	linesAre(k, "after two", journal.LimitUse{Name: "runs", Held: 1, Waiting: driver.LimitNewsMax})
}

// An operator takes a place away that a run holds, and lets one begin that waits; both have a row
// in the audit.
func runsLetThrough(k *kit) {
	setLimit(k, journal.Limit{Name: "runs", Concurrency: 1})
	n := newLimiter(k)
	runs := limited(k, 4, need("runs", ""))
	takeIn(n)
	release := func(run journal.RunID) error {
		c := journal.LimitClaim{Node: 0, ID: claimsOf(k, run)[0].ID}
		return acts(k, driver.AdminAction{Kind: driver.AdminReleaseClaim, Claim: &c, Actor: "eva"})
	}
	handle := claimsOf(k, runs[2])[0].Handle()
	k.ok(release(runs[2]))
	stateIs(k, "let through", runs[2], journal.Ready)
	k.ok(release(runs[0]))
	takeIn(n)
	for _, o := range k.take(n.m.ID(), 3) {
		if o.run == runs[3] {
			k.t.Error("the last of four begins")
		}
	}
	linesAre(k, "at the end", journal.LimitUse{Name: "runs", Held: 1, Waiting: 1})
	k.same("the audit", details(k, runs[2]), []string{"release-claim: claim " + handle + `, limit "runs", key "", of the run itself`})
	if err := acts(k, driver.AdminAction{Kind: driver.AdminReleaseClaim, Claim: &journal.LimitClaim{ID: 999}}); !errors.Is(err, journal.ErrNoClaim) {
		k.t.Errorf("a claim that is not there: %v", err)
	}
}

// What no claim can be made of is refused with its start.
func badRunLimits(k *kit) {
	many := make([]journal.LimitNeed, journal.LimitNeedsMax+1)
	for i := range many {
		many[i] = need(fmt.Sprint(i), "")
	}
	for what, needs := range map[string][]journal.LimitNeed{
		"a name twice": {need("a", ""), need("a", "k")}, "no name": {{}}, "a negative cost": {{Name: "a", Cost: -1}}, "too many": many,
	} {
		out, err := k.j.Start(k.ctx, nil, []journal.Start{{Workflow: flow, Limits: needs}})
		k.ok(err)
		if !errors.Is(out[0].Err, journal.ErrInvalid) {
			k.t.Errorf("%s: %v", what, out[0].Err)
		}
	}
	k.same("runs", k.listed(journal.ListFilter{}), nil)
}

// More runs than a round takes in begin without anything that happens meanwhile, of as many keys.
func runsInCrowds(k *kit) {
	setLimit(k, journal.Limit{Name: "crowd", Concurrency: 1})
	n := newLimiter(k)
	const many = driver.LimitNewsMax + 50
	starts := make([]journal.Start, many)
	for i := range starts {
		starts[i] = journal.Start{Limits: []journal.LimitNeed{need("crowd", fmt.Sprint(i))}}
	}
	k.starts(starts...)
	k.same("begun", takeIn(n), many)
}

// A run that waits keeps its place through a pause, and a reset while it is paused. One that holds
// its limit holds it while it is paused.
func runsKeepTheirPlace(k *kit) {
	setLimit(k, journal.Limit{Name: "runs", Concurrency: 1})
	n := newLimiter(k)
	runs := limited(k, 4, need("runs", ""))
	takeIn(n)
	k.take(n.m.ID(), 1)[0].fails()
	takeIn(n)
	o := k.take(n.m.ID(), 1)[0]
	k.ok(back(k, driver.AdminRetry, runs[0], 2))
	takeIn(n)
	k.ok(k.admin(runs[0], driver.AdminPause))
	k.ok(back(k, driver.AdminReset, runs[0], 1))
	stateIs(k, "paused and reset", runs[0], journal.Paused)
	k.ok(k.admin(runs[0], driver.AdminResume))
	stateIs(k, "resumed", runs[0], journal.Limited)
	k.ok(k.admin(runs[2], driver.AdminPause))
	k.ok(k.admin(runs[2], driver.AdminTerminate))
	k.nothingDue(n.m.ID())
	o.commit(park, started())
	k.ok(k.admin(o.run, driver.AdminPause))
	k.same("begun while the holder is paused", takeIn(n), 0)
	linesAre(k, "of the paused holder", journal.LimitUse{Name: "runs", Held: 1, Waiting: 2})
	k.ok(k.admin(o.run, driver.AdminTerminate))
	var order []journal.RunID
	for range 2 {
		k.same("begun", takeIn(n), 1)
		o = k.take(n.m.ID(), 1)[0]
		order = append(order, o.run)
		k.ok(k.admin(o.run, driver.AdminTerminate))
	}
	k.same("the order", order, []journal.RunID{runs[3], runs[0]})
	takeIn(n)
	linesAre(k, "at the end")
}

// A step of a run that is terminated holds its limits until its body has returned, and is listed.
// No claim has the number of one that is gone.
func stepsOfLimitedRuns(k *kit) {
	setLimit(k, journal.Limit{Name: "runs", Concurrency: 1})
	setLimit(k, journal.Limit{Name: "steps", Concurrency: 1})
	n := newLimiter(k)
	run := limited(k, 1, need("runs", ""))[0]
	takeIn(n)
	old := claimsOf(k, run)[0].ID
	step := n.want(nth(0), need("steps", ""))
	step.Run = run
	k.same("the step", n.ask(step), []int64{step.ID})
	k.ok(k.admin(run, driver.AdminTerminate))
	takeIn(n)
	if c := claimsOf(k, run); len(c) != 1 || c[0].Limit != "steps" || c[0].ID != step.ID {
		k.t.Errorf("claims of a terminated run whose step is executed: %+v", c)
	}
	n.end(step)
	k.same("claims at the end", claimsOf(k, run), nil)
	linesAre(k, "at the end")
	next := limited(k, 1, need("runs", ""))[0]
	if c := claimsOf(k, next); len(c) != 1 || c[0].ID == old {
		k.t.Errorf("claims of the next run: %+v: a release of the number %d would take another's", c, old)
	}
}

// Who waits is listed, in the order of the line: nobody who is to begin later, and nobody who has
// ended. Of one run all is told, also what no round has seen.
func runsListed(k *kit) {
	setLimit(k, journal.Limit{Name: "runs", Concurrency: 1})
	n := newLimiter(k)
	runs := limited(k, 3, need("runs", ""))
	takeIn(n)
	k.same("the next time, if nothing happens", n.round(driver.LimitRound{Runs: true}).Next, time.Time{})
	later := k.starts(journal.Start{Limits: []journal.LimitNeed{need("runs", "")}, Delay: time.Hour})[0].Run
	fresh := limited(k, 1, need("runs", ""))[0]
	listed := func(what string, want ...journal.RunID) {
		k.t.Helper()
		for _, f := range []journal.LimitFilter{{Claims: 100}, {Name: "runs", Claims: 100}} {
			page, err := k.j.Limits(k.ctx, f)
			k.ok(err)
			var got []journal.RunID
			for i, c := range page.Claims {
				got = append(got, c.Run)
				k.same(fmt.Sprintf("the place of number %d %s", i, what), c.Place, i)
			}
			k.same("claims "+what, got, want)
		}
	}
	listed("of all", runs...)
	for _, run := range []journal.RunID{later, fresh} {
		if c := claimsOf(k, run); len(c) != 1 || c[0].Place != 3 || !c[0].Granted.IsZero() {
			k.t.Errorf("the claim of one that no round has seen: %+v", c)
		}
	}
	k.ok(k.admin(runs[2], driver.AdminTerminate))
	k.same("claims of one that was terminated", claimsOf(k, runs[2]), nil)
	listed("without the last", runs[0], runs[1])
}

// A run that no round has seen is in no line: a round of a step grants it nothing, and a release of
// its claim takes no place from another. What a run has held is not released once more behind its
// end, and what it has once waited for keeps it waiting no more.
func runsCountedOnce(k *kit) {
	setLimit(k, journal.Limit{Name: "runs", Concurrency: 1})
	n := newLimiter(k)
	runs := limited(k, 2, need("runs", ""))
	takeIn(n)
	held := claimsOf(k, runs[0])[0]
	fresh := limited(k, 2, need("runs", ""))
	release := func(c journal.LimitClaim) error {
		return acts(k, driver.AdminAction{Kind: driver.AdminReleaseClaim, Claim: &c, Actor: "eva"})
	}
	k.ok(release(claimsOf(k, fresh[0])[0]))
	stateIs(k, "let through", fresh[0], journal.Ready)
	linesAre(k, "without those that no round has seen", journal.LimitUse{Name: "runs", Held: 1, Waiting: 1})
	setLimit(k, journal.Limit{Name: "runs", Concurrency: 9})
	look := driver.LimitRound{Look: []driver.LimitKey{{Name: "runs"}}}
	k.same("begun by a round of a step", n.round(look).Runs, 1)
	k.same("begun when it is taken in", takeIn(n), 1)
	linesAre(k, "with three", journal.LimitUse{Name: "runs", Held: 3})
	k.ok(k.admin(runs[0], driver.AdminTerminate))
	if err := release(held); !errors.Is(err, journal.ErrNoClaim) {
		k.t.Errorf("a release of what has ended: %v", err)
	}
	takeIn(n)
	linesAre(k, "with two", journal.LimitUse{Name: "runs", Held: 2})
	setLimit(k, journal.Limit{Name: "runs", Concurrency: 1})
	again := k.take(n.m.ID(), 3)[0]
	again.fails()
	k.ok(back(k, driver.AdminRetry, again.run, 2))
	k.ok(k.admin(again.run, driver.AdminTerminate))
	k.ok(back(k, driver.AdminReset, again.run, 1))
	k.ok(release(claimsOf(k, again.run)[0]))
	k.ok(k.admin(again.run, driver.AdminPause))
	k.ok(k.admin(again.run, driver.AdminResume))
	stateIs(k, "that was let through", again.run, journal.Ready)
}
