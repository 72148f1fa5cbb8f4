package journaltest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// No moment has more holders of a limit than it allows (J14).
var claimLimitChecks = []check{
	{"J14_NoMoreAreHeldThanALimitAllows", limitsHold},
	{"J14_ALineIsInOrder", limitLines},
	{"J14_KeysShareATotal", limitShares},
	{"J14_SeveralLimitsAreHeldTogether", limitsTogether},
	{"J14_RatesAreExact", limitRates},
	{"J14_WhatWasNotUsedIsGivenBack", limitSettles},
	{"J14_TheClaimsOfADeadNodeAreFree", limitsOfTheDead},
	{"J14_RoundsMayBeRepeated", limitRoundsRepeat},
	{"J14_WantsMayBeRepeated", limitWantsRepeat},
	{"J14_RoundsGatherBehindTheirLocks", limitRoundsGather},
	{"J14_LimitsChangeLive", limitsChange},
	{"J14_ManyNodesAtOnceExceedNothing", limitsUnderLoad},
	{"J12_LimitsAreAudited", limitsAreAudited},
	{"J14_LimitsAreChecked", limitsAreChecked},
	{"J14_LimitsAreListed", limitsAreListed},
}

// limiter is a node that claims limits.
type limiter struct {
	k    *kit
	m    driver.Membership
	last int64
}

func newLimiter(k *kit) *limiter { return &limiter{k: k, m: k.join(leaseLong)} }

// setLimit sets a limit.
func setLimit(k *kit, l journal.Limit) {
	k.t.Helper()
	_, err := k.j.Admin(k.ctx, driver.AdminAction{Kind: driver.AdminSetLimit, Limit: &l, Actor: "eva", Reason: "the bank asked"})
	k.ok(err)
}

// longAgo is when most claims of the checks fell due, so that those of one check have the order of
// their offsets.
func longAgo(offset time.Duration) time.Time {
	return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(offset)
}

func nth(n int) time.Time { return longAgo(time.Duration(n) * time.Millisecond) }

// want is a want of needs: "api", or "api/key".
func (l *limiter) want(since time.Time, needs ...journal.LimitNeed) driver.Want {
	l.last++
	return driver.Want{ID: l.last, Run: journal.NewRunID(), Cmd: 1, Step: "call", Priority: journal.PriorityDefault, Since: since, Needs: needs}
}

func need(name, key string) journal.LimitNeed {
	return journal.LimitNeed{Name: name, Key: key, Cost: 1}
}

func (l *limiter) round(r driver.LimitRound) driver.LimitAnswer {
	l.k.t.Helper()
	a, err := l.m.Limits(l.k.ctx, r)
	l.k.ok(err)
	slices.Sort(a.Granted)
	return a
}

// ask sends wants and returns those that are granted.
func (l *limiter) ask(wants ...driver.Want) []int64 {
	l.k.t.Helper()
	return l.round(driver.LimitRound{Wants: wants}).Granted
}

// end releases wants.
func (l *limiter) end(wants ...driver.Want) driver.LimitAnswer {
	l.k.t.Helper()
	var r driver.LimitRound
	for _, w := range wants {
		r.Releases = append(r.Releases, driver.LimitRelease{ID: w.ID, Needs: w.Needs})
	}
	return l.round(r)
}

// holds returns what the store says that the node holds.
func (l *limiter) holds() (ids []int64) {
	l.k.t.Helper()
	for _, c := range l.round(driver.LimitRound{Held: true}).Claims {
		if !c.Held {
			l.k.t.Errorf("claim %d waits, and is told as held", c.ID)
		}
		ids = append(ids, c.ID)
	}
	slices.Sort(ids)
	return ids
}

// Of five wants of two nodes two are granted, and each end lets the next begin, on whichever node.
// Another key has bounds of its own, and a name without a limit bounds nothing.
func limitsHold(k *kit) {
	setLimit(k, journal.Limit{Name: "api", Concurrency: 2})
	setLimit(k, journal.Limit{Name: "api", Key: "big", Concurrency: 3})
	one, other := newLimiter(k), newLimiter(k)
	a, b, c := one.want(nth(1), need("api", "")), one.want(nth(2), need("api", "")), one.want(nth(4), need("api", ""))
	d, e := other.want(nth(3), need("api", "")), other.want(nth(5), need("api", ""))
	k.same("granted to one", one.ask(a, b, c), []int64{a.ID, b.ID})
	k.same("granted to the other", other.ask(d, e), nil)
	got := one.end(a)
	k.same("granted to one when it ends something", got.Granted, nil)
	k.same("nodes that got something", got.Others, []journal.NodeID{other.m.ID()})
	k.same("held by the other", other.holds(), []int64{d.ID})
	k.same("held by one", one.holds(), []int64{b.ID})
	got = other.end(d)
	k.same("nodes that got something", got.Others, []journal.NodeID{one.m.ID()})
	k.same("held by one", one.holds(), []int64{b.ID, c.ID})
	k.same("granted when two end", other.round(driver.LimitRound{}).Granted, nil)
	one.end(b, c)
	k.same("held by the other", other.holds(), []int64{e.ID})
	other.end(e, e, d) // what has ended may end again
	var big []driver.Want
	for range 4 {
		big = append(big, one.want(nth(0), need("api", "big")))
	}
	k.same("granted of a key with a row of its own", len(one.ask(big...)), 3)
	var free []driver.Want
	for range 4 {
		free = append(free, one.want(nth(0), need("nobody knows it", "")))
	}
	answer := one.round(driver.LimitRound{Wants: free})
	k.same("granted without a limit", len(answer.Granted), 4)
	k.same("names without a limit", answer.Unknown, []string{"nobody knows it"})
}

// Within a key the order is by since, each priority a time later than the one above it; nothing
// starves.
func limitLines(k *kit) {
	setLimit(k, journal.Limit{Name: "line", Concurrency: 1, Ageing: time.Minute})
	n := newLimiter(k)
	wants := map[string]driver.Want{}
	add := func(name string, priority int16, since time.Duration) driver.Want {
		w := n.want(longAgo(since), need("line", ""))
		w.Priority = priority
		wants[name] = w
		return w
	}
	k.same("the first", len(n.ask(add("holder", 3, 0))), 1)
	n.ask(add("low, long ago", 5, 0), add("default", 3, 3*time.Minute+time.Second), add("urgent", 1, 3*time.Minute))
	n.ask(add("default, before", 3, 3*time.Minute), add("low, now", 5, 3*time.Minute))
	var order []string
	for now := "holder"; now != ""; {
		got := n.end(wants[now]).Granted
		if now = ""; len(got) > 0 {
			k.same("granted at once", len(got), 1)
			for name, w := range wants {
				if w.ID == got[0] {
					now = name
				}
			}
			order = append(order, now)
		}
	}
	k.same("the order", order, []string{"urgent", "low, long ago", "default, before", "default", "low, now"})
}

// Keys get of a Total what their weights say, as long as they wait.
func limitShares(k *kit) {
	setLimit(k, journal.Limit{Name: "share", Total: 14})
	for key, weight := range map[string]int{"two": 2, "four": 4} {
		setLimit(k, journal.Limit{Name: "share", Key: key, Weight: weight})
	}
	n := newLimiter(k)
	first := map[string][]driver.Want{}
	var round driver.LimitRound
	for i, key := range []string{"one", "two", "four"} {
		for j := range 30 {
			w := n.want(nth(i*100+j), need("share", key))
			first[key] = append(first[key], w)
			round.Wants = append(round.Wants, w)
		}
	}
	got := n.round(round).Granted
	held := func(ids []int64) string {
		count := map[string]int{}
		for key, list := range first {
			for _, w := range list {
				if slices.Contains(ids, w.ID) {
					count[key]++
				}
			}
		}
		return fmt.Sprint(count["one"], count["two"], count["four"])
	}
	k.same("held by weight", held(got), "2 4 8")
	for range 10 { // whatever ends, the shares stay
		w := got[rand.IntN(len(got))]
		n.round(driver.LimitRound{Releases: []driver.LimitRelease{{ID: w, Needs: []journal.LimitNeed{need("share", keyOf(first, w))}}}})
		got = n.holds()
		k.same("held by weight", held(got), "2 4 8")
	}
	late := n.want(nth(0), need("share", "late"))
	n.ask(late)
	n.round(driver.LimitRound{Releases: []driver.LimitRelease{{ID: got[0], Needs: []journal.LimitNeed{need("share", keyOf(first, got[0]))}}}})
	if got = n.holds(); !slices.Contains(got, late.ID) {
		k.t.Errorf("a key that holds nothing gets nothing of what becomes free: %v", got)
	}
}

func keyOf(wants map[string][]driver.Want, id int64) string {
	for key, list := range wants {
		if slices.ContainsFunc(list, func(w driver.Want) bool { return w.ID == id }) {
			return key
		}
	}
	return ""
}

// A claim of two limits holds both or none, and while one of them keeps it waiting it keeps nobody
// else, until it has waited for long: then it keeps the narrow one.
func limitsTogether(k *kit) {
	setLimit(k, journal.Limit{Name: "a", Concurrency: 1})
	setLimit(k, journal.Limit{Name: "b", Concurrency: 1})
	one, other := newLimiter(k), newLimiter(k)
	now := k.j.Now()
	holder := one.want(now, need("b", ""))
	k.same("the holder of b", len(one.ask(holder)), 1)
	both := one.want(now.Add(time.Millisecond), need("b", ""), need("a", ""))
	k.same("granted of a and b", one.ask(both), nil)
	alone := other.want(now.Add(2*time.Millisecond), need("a", ""))
	k.same("granted of a alone", len(other.ask(alone)), 1)
	k.same("granted when b is free and a is not", one.end(holder).Granted, nil)
	got := other.end(alone)
	k.same("nodes that got something when both are free", got.Others, []journal.NodeID{one.m.ID()})
	k.same("held", one.holds(), []int64{both.ID})
	next := other.want(now.Add(3*time.Millisecond), need("a", ""))
	k.same("granted while both are held", other.ask(next), nil)
	one.end(both)
	k.same("held when both are free", other.holds(), []int64{next.ID})
	other.end(next)
	patient := one.want(now.Add(-time.Hour), need("a", "narrow"), need("b", ""))
	holder = one.want(now, need("b", ""))
	k.same("the holder of b", len(one.ask(holder)), 1)
	k.same("granted to the one that has waited for long", one.ask(patient), nil)
	k.same("granted of a to one behind it", other.ask(other.want(now, need("a", "narrow"))), nil)
	k.same("granted when b is free", one.end(holder).Granted, []int64{patient.ID})
}

// limitsUnderLoad lets nodes claim and release as fast as they can, and counts outside of the
// store.
func limitsUnderLoad(k *kit) {
	limits := map[driver.LimitKey]int64{{Name: "x"}: 3, {Name: "y", Key: "1"}: 2, {Name: "y", Key: "2"}: 2, {Name: "y"}: 3}
	setLimit(k, journal.Limit{Name: "x", Concurrency: 3})
	setLimit(k, journal.Limit{Name: "y", Concurrency: 2, Total: 3})
	count := map[driver.LimitKey]*atomic.Int64{}
	for key := range limits {
		count[key] = new(atomic.Int64)
	}
	add := func(needs []journal.LimitNeed, by int64) {
		for _, n := range needs {
			keys := []driver.LimitKey{{Name: n.Name, Key: n.Key}}
			if n.Name == "y" {
				keys = append(keys, driver.LimitKey{Name: "y"})
			}
			for _, key := range keys {
				if got := count[key].Add(by); got > limits[key] {
					k.t.Errorf("%d hold %v, which allows %d", got, key, limits[key])
				}
			}
		}
	}
	var granted atomic.Int64
	nodes := make([]*limiter, 4)
	for i := range nodes {
		nodes[i] = newLimiter(k)
	}
	var mu sync.Mutex
	left := map[*limiter][]driver.Want{}
	k.together(len(nodes), func(i int) error {
		held, waits, err := churn(k, nodes[i], add, &granted)
		mu.Lock()
		left[nodes[i]] = append(held, waits...)
		mu.Unlock()
		for _, w := range held {
			add(w.Needs, -1)
		}
		return err
	})
	if granted.Load() < 20 { // else the churn has tested little
		k.t.Errorf("only %d were granted", granted.Load())
	}
	for n, wants := range left {
		for len(wants) > 0 {
			n.end(wants[:min(len(wants), 100)]...)
			wants = wants[min(len(wants), 100):]
		}
	}
	page, err := k.j.Limits(k.ctx, journal.LimitFilter{Uses: 100, Claims: 100})
	k.ok(err)
	k.same("what is left in lines", page.Uses, nil)
	k.same("what is left of claims", page.Claims, nil)
}

// churn is what one node does.
func churn(k *kit, n *limiter, add func([]journal.LimitNeed, int64), granted *atomic.Int64) (held, waits []driver.Want, err error) {
	chance := rand.New(rand.NewPCG(1, uint64(n.m.ID())))
	for range 40 {
		r := driver.LimitRound{Held: true}
		for len(held) > 0 && chance.IntN(3) > 0 {
			w := held[0]
			held = held[1:]
			add(w.Needs, -1)
			r.Releases = append(r.Releases, driver.LimitRelease{ID: w.ID, Needs: w.Needs})
		}
		for range chance.IntN(4) {
			needs := []journal.LimitNeed{need("x", "")}
			switch chance.IntN(3) {
			case 0:
				needs = []journal.LimitNeed{need("y", fmt.Sprint(1+chance.IntN(2)))}
			case 1:
				needs = append(needs, need("y", fmt.Sprint(1+chance.IntN(2))))
			}
			w := n.want(nth(int(n.last)), needs...)
			w.Priority = int16(1 + chance.IntN(5))
			r.Wants, waits = append(r.Wants, w), append(waits, w)
		}
		a, err := n.m.Limits(k.ctx, r)
		if err != nil {
			return held, waits, err
		}
		for _, c := range a.Claims {
			at := slices.IndexFunc(waits, func(w driver.Want) bool { return w.ID == c.ID })
			if at >= 0 {
				add(waits[at].Needs, 1)
				granted.Add(1)
				held, waits = append(held, waits[at]), slices.Delete(waits, at, at+1)
			}
		}
	}
	return held, waits, nil
}

// A node that is no member gets nothing.
func refusedRound(k *kit, n *limiter) {
	k.t.Helper()
	if _, err := n.m.Limits(k.ctx, driver.LimitRound{Wants: []driver.Want{n.want(nth(0), need("lost", ""))}}); !errors.Is(err, journal.ErrNodeLost) {
		k.t.Errorf("a round of a node that is gone: %v", err)
	}
}
