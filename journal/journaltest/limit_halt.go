package journaltest

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Runs that no node can begin keep no place of a limit from others (J14).
var limitHaltChecks = []check{
	{"J14_RunsOfAPausedScopeArePassed", pausedScopesArePassed},
	{"J14_ARoundOfAStepPassesAPausedScope", stepsPassScopes},
	{"J14_RunsThatNobodyServesArePassed", unservedArePassed},
	{"J14_RunsOfAPausedScopeComeBackIntoTheirPlaces", haltedComeBack},
	{"J14_ARunThatGetsAnotherVersionIsServed", haltedMove},
	{"J14_ManySetsOfAPausedScopeArePassed", manyHaltedArePassed},
	{"J14_NothingIsLeftOfRunsThatEndWhileTheirScopeIsPaused", haltedEnd},
}

var slowRoute = journal.Route{Queue: "slow", Workflow: flow, Version: 1}

// ofSlow starts runs of slowRoute that need limits.
func ofSlow(k *kit, n int, needs ...journal.LimitNeed) (runs []journal.RunID) {
	k.t.Helper()
	list := make([]journal.Start, n)
	for i := range list {
		list[i] = journal.Start{Queue: slowRoute.Queue, Limits: needs}
	}
	for _, out := range k.starts(list...) {
		runs = append(runs, out.Run)
	}
	return runs
}

// ends closes the runs of some routes that may begin, and returns them in their order.
func (l *limiter) ends(routes ...journal.Route) (runs []journal.RunID) {
	l.k.t.Helper()
	c, err := l.k.j.Claim(l.k.ctx, driver.ClaimRequest{Node: l.m.ID(), Routes: routes, Max: 100, Suspects: 1})
	l.k.ok(err)
	for _, t := range c.Tasks {
		runs = append(runs, t.Task.Run)
		l.k.owner(l.m.ID(), t).commit(closed, started(), completed("1"))
	}
	return runs
}

// Runs of a scope that is paused wait in front of another, of one limit or of two. They take no
// place, whether the pause or the runs came first, until the scope is resumed. A round of a step
// passes them, too.
func pausedScopesArePassed(k *kit) {
	setLimit(k, journal.Limit{Name: "one", Concurrency: 1})
	setLimit(k, journal.Limit{Name: "two", Total: 1})
	n := &limiter{k: k, m: k.join(leaseLong, flowRoute, slowRoute)}
	scope := journal.Scope{Queue: slowRoute.Queue}
	for _, needs := range [][]journal.LimitNeed{{need("one", "")}, {need("one", ""), need("two", "a")}, {need("two", "b")}} {
		what := fmt.Sprint(" of ", needs)
		step := n.want(hourAgo(0), needs...)
		k.same("a step"+what, n.settled(driver.LimitRound{Wants: []driver.Want{step}}), []int64{step.ID})
		slow := ofSlow(k, 100, needs...)
		k.same("begun beside a step"+what, takeIn(n), 0)
		scoped(k, driver.AdminPause, scope)
		slow = append(slow, ofSlow(k, 100, needs...)...)
		other := limited(k, 1, needs...)
		k.same("begun while the step goes on"+what, takeIn(n), 0)
		late := n.want(time.Now().Add(time.Hour), needs...)
		k.same("granted to a late step"+what, n.settled(driver.LimitRound{Wants: []driver.Want{late}}), nil)
		k.same("begun when the step has ended"+what, n.end(step).Runs, 1)
		k.same("who has begun"+what, n.ends(flowRoute), other)
		k.same("begun behind it"+what, takeIn(n), 0)
		k.same("the late step"+what, n.holds(), []int64{late.ID})
		k.same("granted behind the late step"+what, n.end(late).Runs, 0)
		for _, use := range usesOf(k, needs[0].Name) {
			k.same("held and waiting of "+use.Key+what, []int{use.Held, use.Waiting}, []int{0, 200})
		}
		scoped(k, driver.AdminResume, scope)
		for i := range 200 {
			k.same("begun when the scope is resumed"+what, takeIn(n), 1)
			k.same("the next"+what, n.ends(flowRoute, slowRoute), slow[i:i+1])
		}
		k.same("begun at last"+what, takeIn(n), 0)
	}
	linesAre(k, "at the end")
}

// A place becomes free by the end of a step when nobody has looked at the runs since their scope
// was paused: they do not get it.
func stepsPassScopes(k *kit) {
	setLimit(k, journal.Limit{Name: "l", Concurrency: 1})
	n := &limiter{k: k, m: k.join(leaseLong, flowRoute, slowRoute)}
	step := n.want(hourAgo(0), need("l", ""))
	k.same("a step", n.ask(step), []int64{step.ID})
	ofSlow(k, 2, need("l", ""))
	other := limited(k, 1, need("l", ""))
	k.same("begun beside it", takeIn(n), 0)
	scoped(k, driver.AdminPause, journal.Scope{Queue: slowRoute.Queue})
	k.same("begun when it ends", n.end(step).Runs, 1)
	k.same("who has begun", n.ends(flowRoute, slowRoute), other)
}

// usesOf is what a limit is used for.
func usesOf(k *kit, name string) []journal.LimitUse {
	k.t.Helper()
	page, err := k.j.Limits(k.ctx, journal.LimitFilter{Name: name, Uses: 100})
	k.ok(err)
	return page.Uses
}

// Runs that no live node serves take no place until one does: one that joins. A node that is asked
// to leave, or has left, serves nothing.
func unservedArePassed(k *kit) {
	setLimit(k, journal.Limit{Name: "l", Concurrency: 1})
	n := newLimiter(k)
	slow, other := ofSlow(k, 3, need("l", "")), limited(k, 2, need("l", ""))
	k.same("begun before anybody serves the first", takeIn(n), 1)
	k.same("who has begun", n.ends(flowRoute), other[:1])
	m, err := k.j.Join(k.ctx, journal.Node{Name: "slow", Routes: []journal.Route{slowRoute}, Lease: leaseLong, Grace: graceOfNodes})
	k.ok(err)
	k.same("begun when a node has joined", takeIn(n), 1)
	k.same("who has begun then", n.ends(flowRoute, slowRoute), slow[:1])
	_, err = k.j.Admin(k.ctx, driver.AdminAction{Kind: driver.AdminDrain, Node: m.ID(), Actor: "eva", Reason: "it is old"})
	k.ok(err)
	k.same("begun when the node is asked to leave", takeIn(n), 1)
	k.same("who has begun beside it", n.ends(flowRoute, slowRoute), other[1:])
	k.ok(m.Leave(context.Background()))
	k.same("begun when it has left", takeIn(n), 0)
	late := &limiter{k: k, m: k.join(leaseLong, slowRoute)}
	for i := range 2 {
		k.same("begun when another one has come", takeIn(late), 1)
		k.same("the next", n.ends(flowRoute, slowRoute), slow[i+1:i+2])
	}
}

// Runs that were passed have the places that they would have had: by their age among those that
// have come meanwhile, and by the priority that they have got meanwhile. One that is paused itself
// stays out when its scope is resumed.
func haltedComeBack(k *kit) {
	setLimit(k, journal.Limit{Name: "l", Concurrency: 1, Ageing: time.Hour})
	n := &limiter{k: k, m: k.join(leaseLong, flowRoute, slowRoute)}
	step := n.want(hourAgo(0), need("l", ""))
	k.same("a step", n.ask(step), []int64{step.ID})
	slow := ofSlow(k, 4, need("l", ""))
	scoped(k, driver.AdminPause, journal.Scope{Workflow: flow, Version: 1, Queue: slowRoute.Queue})
	takeIn(n)
	for _, a := range []driver.AdminAction{{Kind: driver.AdminSetPriority, Run: slow[3], Priority: journal.PriorityMin}, {Kind: driver.AdminPause, Run: slow[1]}} {
		_, err := k.j.Admin(k.ctx, a)
		k.ok(err)
	}
	takeIn(n)
	other := limited(k, 1, need("l", ""))
	takeIn(n)
	scoped(k, driver.AdminResume, journal.Scope{Workflow: flow, Version: 1, Queue: slowRoute.Queue})
	k.same("begun beside the step", takeIn(n), 0)
	n.end(step)
	var order []journal.RunID
	for range 4 {
		takeIn(n)
		order = append(order, n.ends(flowRoute, slowRoute)...)
	}
	k.same("the order", order, []journal.RunID{slow[3], slow[0], slow[2], other[0]})
	_, err := k.j.Admin(k.ctx, driver.AdminAction{Kind: driver.AdminResume, Run: slow[1]})
	k.ok(err)
	takeIn(n)
	k.same("at last", n.ends(flowRoute, slowRoute), slow[1:2])
}

// A run of a version that nobody serves gets one that somebody does while it waits: it begins, in
// the place that it has had. One that gets it while it is paused stays out until it is resumed.
func haltedMove(k *kit) {
	setLimit(k, journal.Limit{Name: "l", Concurrency: 1})
	n := newLimiter(k)
	old := k.starts(journal.Start{Version: 7, Limits: []journal.LimitNeed{need("l", "")}}, journal.Start{Version: 7, Limits: []journal.LimitNeed{need("l", "")}})
	step := n.want(hourAgo(0), need("l", ""))
	k.same("a step", n.ask(step), []int64{step.ID})
	other := k.starts(journal.Start{Priority: 4, Limits: []journal.LimitNeed{need("l", "")}})[0].Run // less urgent: a clock may stand still
	takeIn(n)
	k.ok(k.admin(old[1].Run, driver.AdminPause))
	takeIn(n)
	for _, out := range old {
		k.ok(back(k, driver.AdminReset, out.Run, 0, func(w *driver.Rewind) { w.Whole, w.Input, w.Version = true, journal.Payload{Data: []byte("1")}, 1 }))
	}
	stateIs(k, "that has got a version", old[0].Run, journal.Limited)
	stateIs(k, "that is paused", old[1].Run, journal.Paused)
	takeIn(n)
	k.same("begun when the step ends", n.end(step).Runs, 1)
	k.same("the first", n.ends(flowRoute), []journal.RunID{old[0].Run})
	takeIn(n)
	k.same("the next", n.ends(flowRoute), []journal.RunID{other})
	k.ok(k.admin(old[1].Run, driver.AdminResume))
	k.same("begun when it is resumed", takeIn(n), 1)
	k.same("the last", n.ends(flowRoute), []journal.RunID{old[1].Run})
	takeIn(n)
	linesAre(k, "at the end")
}

// More keys than a round looks at wait for what all share, and their scope is paused: rounds end,
// and who comes later begins. All of them come back, those of a key in order.
func manyHaltedArePassed(k *kit) {
	const keys = 80
	setLimit(k, journal.Limit{Name: "all", Concurrency: 1})
	setLimit(k, journal.Limit{Name: "key", Concurrency: 1, Total: 1})
	n := &limiter{k: k, m: k.join(leaseLong, flowRoute, slowRoute)}
	scoped(k, driver.AdminPause, journal.Scope{Queue: slowRoute.Queue})
	var list []journal.Start
	for i := range 2 * keys {
		list = append(list, journal.Start{Queue: slowRoute.Queue, Limits: []journal.LimitNeed{need("all", ""), need("key", fmt.Sprint(i%keys))}})
	}
	slow := map[journal.RunID]int{}
	for i, out := range k.starts(list...) {
		slow[out.Run] = i
	}
	other := limited(k, 1, need("all", ""))
	k.same("begun", takeIn(n), 1)
	k.same("who has begun", n.ends(flowRoute, slowRoute), other)
	k.same("begun behind it", takeIn(n), 0)
	scoped(k, driver.AdminResume, journal.Scope{Queue: slowRoute.Queue})
	last := map[int]int{}
	for range 2 * keys {
		k.same("begun", takeIn(n), 1)
		for _, run := range n.ends(flowRoute, slowRoute) {
			i := slow[run]
			if before, had := last[i%keys]; i >= keys && (!had || before != i-keys) {
				k.t.Errorf("run %d of a key begins before run %d", i, i-keys)
			}
			last[i%keys] = i
		}
	}
	k.same("begun at last", takeIn(n), 0)
	linesAre(k, "at the end")
}

// Runs that end while their scope is paused leave nothing, and who comes later begins.
func haltedEnd(k *kit) {
	setLimit(k, journal.Limit{Name: "l", Concurrency: 1})
	n := &limiter{k: k, m: k.join(leaseLong, flowRoute, slowRoute)}
	scope := journal.Scope{Queue: slowRoute.Queue}
	scoped(k, driver.AdminPause, scope)
	slow := ofSlow(k, 2, need("l", ""))
	takeIn(n)
	for _, run := range slow {
		_, err := k.j.Admin(k.ctx, driver.AdminAction{Kind: driver.AdminTerminate, Run: run})
		k.ok(err)
		takeIn(n)
	}
	linesAre(k, "when all have ended")
	later := ofSlow(k, 1, need("l", ""))
	takeIn(n)
	scoped(k, driver.AdminResume, scope)
	k.same("begun when the scope is resumed", takeIn(n), 1)
	k.same("who has begun", n.ends(flowRoute, slowRoute), later)
}
