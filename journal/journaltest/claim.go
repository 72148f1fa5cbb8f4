package journaltest

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A claim is fair and exact: the routes that were asked for, the most urgent first, the oldest
// first, no task twice.
var claimChecks = []check{
	{"Claim_OnlyRoutesAsked", claimRoutes},
	{"Claim_UrgentFirstThenOldest", claimOrder},
	{"Claim_OneOfEightByAge", claimByAge},
	{"Claim_NoTaskTwice", claimNoTaskTwice},
	{"Claim_FenceGrows", claimFenceGrows},
	{"Claim_NothingForZero", claimZero},
	{"Claim_CountsWhatItLeaves", claimCounts},
	{"Claim_ReturnsWhatTheRunWaitedFor", claimReturnsTask},
	{"Claim_ReconcilesALaterOwnership", reconcileLater},
	{"Claim_LeavesOutWhatIsLarge", claimApart},
}

// A claim returns tasks of the routes that it names, and no other queue, workflow or version: code
// that is not there cannot run them.
func claimRoutes(k *kit) {
	routes := []journal.Route{
		flowRoute, {Queue: "q", Workflow: flow, Version: 1}, {Queue: journal.DefaultQueue, Workflow: flow, Version: 2},
		{Queue: journal.DefaultQueue, Workflow: "other", Version: 1},
	}
	node := k.join(leaseLong, routes...).ID()
	want := map[journal.Route]journal.RunID{}
	for _, r := range routes {
		want[r] = k.starts(journal.Start{Workflow: r.Workflow, Version: r.Version, Queue: r.Queue})[0].Run
	}
	claim := func(routes ...journal.Route) map[journal.Route]journal.RunID {
		k.t.Helper()
		c, err := k.j.Claim(k.ctx, driver.ClaimRequest{Node: node, Routes: routes, Max: 10})
		k.ok(err)
		got := map[journal.Route]journal.RunID{}
		for _, t := range c.Tasks {
			got[journal.Route{Queue: t.Task.Queue, Workflow: t.Task.Workflow, Version: t.Task.Version}] = t.Task.Run
		}
		return got
	}
	k.same("no routes", claim(), nil)
	k.same("unknown route", claim(journal.Route{Queue: "q", Workflow: "other", Version: 1}), nil)
	k.same("one route", claim(routes[1]), map[journal.Route]journal.RunID{routes[1]: want[routes[1]]})
	delete(want, routes[1])
	k.same("the others", claim(routes...), want)
}

// strict and aged are the chance of claims: with strict as few tasks as may be are chosen by age,
// with aged as many.
const strict, aged = 8, 7

// The urgent come first, then those that have waited longest. Without the order a busy queue
// starves its oldest runs.
func claimOrder(k *kit) {
	node := k.join(leaseLong).ID()
	want := map[int16][]journal.RunID{}
	for i := range 30 {
		priority := int16(1 + i%5)
		want[priority] = append(want[priority], k.starts(journal.Start{Priority: priority})[0].Run)
	}
	var got, order []journal.RunID
	for priority := int16(journal.PriorityMin); priority <= journal.PriorityMax; priority++ {
		order = append(order, want[priority]...)
	}
	for len(got) < len(order) {
		c, err := k.j.Claim(k.ctx, driver.ClaimRequest{Node: node, Routes: []journal.Route{flowRoute}, Max: 7, Chance: strict})
		k.ok(err)
		if len(c.Tasks) == 0 {
			break
		}
		for _, t := range c.Tasks {
			got = append(got, t.Task.Run)
		}
	}
	// Within one answer the order may differ, across answers it may not: compare in steps of the
	// answers' size.
	for from := 0; from < len(order); from += 7 {
		to := min(from+7, len(order))
		missing := map[journal.RunID]bool{}
		for _, id := range order[from:to] {
			missing[id] = true
		}
		for _, id := range got[from:min(to, len(got))] {
			delete(missing, id)
		}
		if len(missing) > 0 {
			k.t.Fatalf("claims %d to %d lack %d of the most urgent, oldest runs", from, to, len(missing))
		}
	}
}

// One place of eight goes to the oldest task, whatever its priority: the least urgent ones do not
// wait for ever while more urgent ones arrive. The other seven go by priority.
func claimByAge(k *kit) {
	node := k.join(leaseLong).ID()
	other := journal.Route{Queue: journal.DefaultQueue, Workflow: "other", Version: 1} // of the newest tasks
	var low, high []journal.RunID
	for range 5 {
		low = append(low, k.starts(journal.Start{Priority: journal.PriorityMax})[0].Run)
	}
	for range 40 {
		high = append(high, k.starts(journal.Start{Priority: journal.PriorityMin, Workflow: other.Workflow})[0].Run)
	}
	for _, c := range []struct {
		max    int
		chance uint32
		byAge  int
	}{{1, strict, 0}, {1, aged, 1}, {7, strict, 0}, {8, strict, 1}, {9, aged, 2}} {
		claim, err := k.j.Claim(k.ctx, driver.ClaimRequest{Node: node, Routes: []journal.Route{flowRoute, other}, Max: c.max, Chance: c.chance})
		k.ok(err)
		want := slices.Concat(low[:c.byAge], high[:c.max-c.byAge])
		low, high = low[c.byAge:], high[c.max-c.byAge:]
		k.same(fmt.Sprintf("claim of %d with chance %d", c.max, c.chance), runsOf(claim), sortedIDs(want...))
	}
}

// runsOf returns the runs of a claim in a defined order.
func runsOf(c driver.Claim) []journal.RunID {
	var list []journal.RunID
	for _, t := range c.Tasks {
		list = append(list, t.Task.Run)
	}
	return sortedIDs(list...)
}

// claimNoTaskTwice: claimers step over each other's rows, and together they get everything exactly
// once.
func claimNoTaskTwice(k *kit) {
	const claimers, runs = 8, 400
	k.begin(runs)
	nodes := make([]journal.NodeID, claimers)
	for i := range nodes {
		nodes[i] = k.join(leaseLong).ID()
	}
	var mu sync.Mutex
	claimed := map[journal.RunID]int{}
	total := func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(claimed)
	}
	k.together(claimers, func(i int) error {
		for total() < runs {
			r := driver.ClaimRequest{Node: nodes[i], Routes: []journal.Route{flowRoute}, Max: 7}
			c, err := k.j.Claim(k.ctx, r)
			if err != nil {
				return err
			}
			mu.Lock()
			for _, t := range c.Tasks {
				if claimed[t.Task.Run]++; claimed[t.Task.Run] > 1 || t.Task.Owner != nodes[i] {
					err = errors.Join(err, fmt.Errorf("run %s was claimed again, for %d", t.Task.Run, t.Task.Owner))
				}
			}
			mu.Unlock()
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Every claim adds to the fence, also one by the node that owned the run before. It is what makes
// earlier owners recognisable.
func claimFenceGrows(k *kit) {
	a, b := k.join(leaseLong).ID(), k.join(leaseLong).ID()
	o := k.one(a)
	for want := int64(1); want < 6; want++ {
		if o.fence.Count() != want || o.turn != journal.Turn(want-1) {
			k.t.Fatalf("fence %d, turn %d, want %d and %d", o.fence, o.turn, want, want-1)
		}
		if want == 1 {
			o.commit(release, started())
		} else {
			o.commit(release)
		}
		o = k.take([]journal.NodeID{a, b}[want%2], 1)[0]
	}
}

// A claim for nothing acquires nothing and still says when something will be due.
func claimZero(k *kit) {
	node := k.join(leaseLong).ID()
	k.begin(3)
	c := k.claim(node, 0)
	if len(c.Tasks) != 0 || c.Now.IsZero() {
		k.t.Errorf("claim of nothing: %+v", c)
	}
	k.take(node, 3)
}

// A claim for nothing counts the tasks that are due and that nobody has claimed. A node that is
// full learns from it whether somebody waits for a place.
func claimCounts(k *kit) {
	node := k.join(leaseLong).ID()
	k.starts(journal.Start{Delay: time.Hour})
	k.starts(journal.Start{Workflow: "of nobody"})
	k.same("before anything is due", k.claim(node, 0).Waiting, 0)
	k.begin(3)
	k.starts(journal.Start{Priority: journal.PriorityMax})
	k.same("all", k.claim(node, 0).Waiting, 4)
	k.same("of a claim that takes", k.claim(node, 1).Waiting, 0)
	k.same("the rest", k.claim(node, 0).Waiting, 3)
	k.take(node, 3)
	k.same("none", k.claim(node, 0).Waiting, 0)
	k.begin(driver.WaitingMax + 1)
	k.same("more than is counted", k.claim(node, 0).Waiting, driver.WaitingMax)
}

// A claimed task carries what its last commit left: attempts, turn and what the run waits for. The
// new owner goes on from there.
func claimReturnsTask(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	c := o.build(release, started("a", "b"))
	beat := journal.Payload{Encoding: "x", Data: []byte{0, 255}}
	c.Attempts = []journal.Attempt{
		{Cmd: 1, Name: "a", Made: 2, NextAt: k.j.Now(), Failure: &journal.Failure{Type: "T", Message: "no\x00pe"}, Heartbeat: &beat},
		{Cmd: 2, Name: "b", Made: 1, NextAt: k.j.Now()},
	}
	c.Waiting = []string{"step a", "signal ünï"}
	o.submit(c)
	k.same("waiting", k.row(o.run).Task.Waiting, c.Waiting)
	k.same("attempts", k.row(o.run).Task.Attempts, c.Attempts)
	claimed := k.claim(node, 1).Tasks[0]
	k.same("attempts, claimed", claimed.Task.Attempts, c.Attempts)
	o = k.owner(node, claimed)
	k.same("attempts, loaded", k.history(o.run).Run.Task.Attempts, c.Attempts)
	next := o.build(keep, stepDone(1, "a", "1"))
	next.Attempts = c.Attempts[1:]
	o.submit(next)
	k.same("attempts after a commit", k.row(o.run).Task.Attempts, c.Attempts[1:])
	o.commit(keep, stepDone(2, "b", "1"))
	k.same("attempts at the end", k.row(o.run).Task.Attempts, nil)
}

// reconcileLater: a run that was committed to under an earlier fence, but not under this one.
func reconcileLater(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	o.commit(release, started())
	k.take(node, 1) // this answer is lost
	c, err := k.j.Claim(k.ctx, driver.ClaimRequest{Node: node, Routes: []journal.Route{flowRoute}, Max: 3, Reconcile: true})
	k.ok(err)
	if len(c.Tasks) != 1 || c.Tasks[0].Task.Fence.Count() != 2 || c.Tasks[0].Task.Turn != 1 {
		k.t.Fatalf("reconciled %+v", c.Tasks)
	}
	k.owner(node, c.Tasks[0]).commit(closed, completed("1"))
}
