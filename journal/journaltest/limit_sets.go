package journaltest

import (
	"fmt"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Claims of several limits keep nobody waiting who does not need what holds them up (J14).
var limitSetChecks = []check{
	{"J14_ABacklogOfAnotherLimitIsPassed", backlogIsPassed},
	{"J14_ABacklogMovesWithWhatHoldsItUp", backlogMoves},
	{"J14_KeysOfATotalThatWaitElsewhereArePassed", keysArePassed},
	{"J14_ManySetsOfALineAreInOrder", setsInOrder},
	{"J14_AWeightThatChangesHoldsForManyKeys", weightsChange},
}

// settled makes a round and those that it asks for, and returns what was granted of the node.
func (l *limiter) settled(r driver.LimitRound) (granted []int64) {
	l.k.t.Helper()
	for range 50 {
		a := l.round(r)
		granted = append(granted, a.Granted...)
		if r = (driver.LimitRound{Look: a.Again}); len(a.Again) == 0 {
			slices.Sort(granted)
			return granted
		}
	}
	l.k.t.Errorf("rounds ask for more and more of %v", r.Look)
	return granted
}

// hourAgo is a time behind which everything of a check comes, on any clock.
func hourAgo(n int) time.Time {
	return time.Now().Add(time.Duration(n)*time.Millisecond - time.Hour)
}

// wants are as many wants of the same needs, in this order from a time on.
func (l *limiter) wants(from time.Time, n int, needs ...journal.LimitNeed) (list []driver.Want) {
	for i := range n {
		list = append(list, l.want(from.Add(time.Duration(i)*time.Millisecond), needs...))
	}
	return list
}

// Behind 200 runs and 200 steps of a tenant that is at its own limit, who needs only what they need
// beside it begins at once, and another tenant, too.
func backlogIsPassed(k *kit) {
	setLimit(k, journal.Limit{Name: "shared", Concurrency: 10})
	setLimit(k, journal.Limit{Name: "tenant", Concurrency: 1})
	n := newLimiter(k)
	var starts []journal.Start
	for range 200 {
		starts = append(starts, journal.Start{Limits: []journal.LimitNeed{need("shared", ""), need("tenant", "a")}})
	}
	runs := k.starts(starts...)
	k.same("runs of the tenant that begin", takeIn(n), 1)
	k.same("steps of the tenant that begin", n.settled(driver.LimitRound{Wants: n.wants(hourAgo(0), 200, need("shared", ""), need("tenant", "a"))}), nil)
	one := n.want(time.Now(), need("shared", ""))
	k.same("granted to a step that needs the shared limit alone", n.settled(driver.LimitRound{Wants: []driver.Want{one}}), []int64{one.ID})
	other := n.want(time.Now(), need("shared", ""), need("tenant", "b"))
	k.same("granted to another tenant", n.settled(driver.LimitRound{Wants: []driver.Want{other}}), []int64{other.ID})
	limited(k, 1, need("shared", ""))
	k.same("runs that need the shared limit alone and begin", takeIn(n), 1)
	linesAre(k, "with a backlog", journal.LimitUse{Name: "shared", Held: 4, Waiting: 399}, journal.LimitUse{Name: "tenant", Key: "a", Held: 1, Waiting: 399},
		journal.LimitUse{Name: "tenant", Key: "b", Held: 1})
	for _, c := range claimsOf(k, runs[199].Run) {
		k.same("place in the line of "+c.Limit, c.Place > 200, true)
	}
}

// What holds a backlog up changes from one of its limits to the other. Each time those of one limit
// pass, and the first of the backlog begins when it can, in the order of the line.
func backlogMoves(k *kit) {
	setLimit(k, journal.Limit{Name: "x", Concurrency: 1})
	setLimit(k, journal.Limit{Name: "y", Concurrency: 1})
	n := newLimiter(k)
	ask := func(what string, want []int64, wants ...driver.Want) {
		k.t.Helper()
		k.same(what, n.settled(driver.LimitRound{Wants: wants}), want)
	}
	end := func(what string, w driver.Want, want ...int64) {
		k.t.Helper()
		k.same(what, n.settled(driver.LimitRound{Releases: []driver.LimitRelease{{ID: w.ID, Needs: w.Needs}}}), want)
	}
	now := time.Now() // patience is not at work
	x, y := n.want(now, need("x", "")), n.want(now, need("y", ""))
	ask("granted first", []int64{x.ID, y.ID}, x, y)
	both := n.wants(now, 100, need("x", ""), need("y", ""))
	ask("granted of those that need both", nil, both...)
	y2 := n.want(now.Add(time.Second), need("y", ""))
	ask("granted while both are full", nil, y2)
	end("granted of y while x holds the backlog up", y, y2.ID)
	x2 := n.want(now.Add(time.Second), need("x", ""))
	ask("granted while both are full again", nil, x2)
	end("granted of x while y holds the backlog up", x, x2.ID)
	end("granted when y is free, and x is not", y2)
	urgent := n.want(now.Add(2*time.Second), need("x", ""), need("y", ""))
	urgent.Priority = journal.PriorityMin
	ask("granted to an urgent one while x is full", nil, urgent)
	end("granted when both are free", x2, urgent.ID)
	end("granted behind it", urgent, both[0].ID)
	end("granted behind the first", both[0], both[1].ID)
	linesAre(k, "of both", journal.LimitUse{Name: "x", Held: 1, Waiting: 98}, journal.LimitUse{Name: "y", Held: 1, Waiting: 98})
}

// More keys than a round looks at wait for the Total of a limit, and for another limit. Rounds end,
// and who needs the Total alone gets it; each key does when its other limit is free.
func keysArePassed(k *kit) {
	const keys = 70
	setLimit(k, journal.Limit{Name: "total", Total: 1})
	setLimit(k, journal.Limit{Name: "own", Concurrency: 1})
	n := newLimiter(k)
	now := time.Now()
	var holders, both []driver.Want
	for i := range keys {
		holders = append(holders, n.want(now, need("own", fmt.Sprint(i))))
		both = append(both, n.want(now, need("own", fmt.Sprint(i)), need("total", fmt.Sprint(i))))
	}
	y, z := n.want(now, need("total", "y")), n.want(now.Add(time.Second), need("total", "z"))
	k.same("granted first", len(n.settled(driver.LimitRound{Wants: append(slices.Clone(holders), y)})), keys+1)
	k.same("granted while all is held", n.settled(driver.LimitRound{Wants: append(slices.Clone(both), z)}), nil)
	k.same("granted when the total is free", n.settled(driver.LimitRound{Releases: []driver.LimitRelease{{ID: y.ID, Needs: y.Needs}}}), []int64{z.ID})
	k.same("granted when a key is free, and the total is not", n.end(holders[7]).Granted, nil)
	k.same("granted when both are", n.settled(driver.LimitRound{Releases: []driver.LimitRelease{{ID: z.ID, Needs: z.Needs}}}), []int64{both[7].ID})
	a := n.end(both[7])
	k.same("granted, and asked for again, when nobody can begin", append(a.Granted, int64(len(a.Again))), []int64{0})
	k.same("granted when another key is free", n.end(holders[69]).Granted, []int64{both[69].ID})
}

// In a line wait more sets than a round looks at, the last of them first. They begin in order, also
// when an earlier claim of one has come, and when the first of them wait for something else.
func setsInOrder(k *kit) {
	const sets = 150
	setLimit(k, journal.Limit{Name: "one", Concurrency: 1})
	setLimit(k, journal.Limit{Name: "each", Concurrency: 1})
	n := newLimiter(k)
	of := func(i int) []journal.LimitNeed {
		return []journal.LimitNeed{need("one", ""), need("each", fmt.Sprint(i))}
	}
	last := n.want(hourAgo(0), need("one", ""))
	k.same("granted first", n.ask(last), []int64{last.ID})
	now := time.Now()
	wants := make([]driver.Want, sets)
	for i := sets - 1; i >= 0; i-- {
		wants[i] = n.want(now.Add(time.Duration(i-sets)*time.Millisecond), of(i)...)
		k.same("granted while it is held", n.ask(wants[i]), nil)
	}
	next := func(what string, want driver.Want) {
		k.t.Helper()
		k.same(what, n.settled(driver.LimitRound{Releases: []driver.LimitRelease{{ID: last.ID, Needs: last.Needs}}}), []int64{want.ID})
		last = want
	}
	next("granted of many", wants[0])
	next("granted behind the first", wants[1])
	early := n.want(hourAgo(1), of(140)...)
	k.same("granted to an early one", n.ask(early), nil)
	next("granted when it has come", early)
	var own []driver.Want
	for i := 2; i < 120; i++ {
		own = append(own, n.want(hourAgo(2), need("each", fmt.Sprint(i))))
	}
	k.same("of a set each alone are granted", len(n.settled(driver.LimitRound{Wants: own})), len(own))
	next("granted while the first sets are held up", wants[120])
	next("granted behind it", wants[121])
	k.same("granted when the other limit has room", n.settled(driver.LimitRound{Releases: []driver.LimitRelease{{ID: own[5].ID, Needs: own[5].Needs}}}), nil)
	next("granted of those that were held up", wants[7])
}
