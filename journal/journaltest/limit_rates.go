package journaltest

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Rates change while they are spent (J14).
var rateLimitChecks = []check{
	{"J14_ARateThatIsRaisedHoldsAtOnce", rateRaised},
	{"J14_ARateThatIsLoweredHoldsAtOnce", rateLowered},
	{"J14_ARateThatIsRemovedIsForgotten", rateRemoved},
	{"J14_TheRowOfAKeyTakesOverWhatWasSpent", rateOfAKey},
	{"J14_AClaimOfAnotherRateGivesNothingBack", rateSettled},
}

// spender is a node that begins and ends claims of the limit "rate".
type spender struct{ *limiter }

// spends tells whether a claim of a cost begins now. It waits no longer if it does not.
func (s spender) spends(key string, cost int64) bool {
	s.k.t.Helper()
	w := s.want(nth(int(s.last)), journal.LimitNeed{Name: "rate", Key: key, Cost: cost})
	begins := len(s.ask(w)) > 0
	s.end(w)
	return begins
}

// spent expects that so much of a key begins now, and that one more does not for a time: at most
// so long, and no minute less.
func (s spender) spent(what, key string, free int64, wait time.Duration) {
	s.k.t.Helper()
	for i := range free {
		if !s.spends(key, 1) {
			s.k.t.Errorf("%s: only %d begin at once, want %d", what, i, free)
		}
	}
	w := s.want(nth(int(s.last)), journal.LimitNeed{Name: "rate", Key: key, Cost: 1})
	a := s.round(driver.LimitRound{Wants: []driver.Want{w}})
	s.k.same("granted beyond that, "+what, a.Granted, nil)
	if got := a.Due[driver.LimitKey{Name: "rate", Key: key}].Sub(a.Now); got > wait+time.Millisecond || got < wait-time.Minute {
		s.k.t.Errorf("%s: the next begins in %s, want %s", what, got, wait)
	}
	s.end(w)
}

// pass lets the store's clock go on: what is granted when a rate changes is taken to be of before.
func (l *limiter) pass() {
	l.k.t.Helper()
	was := l.round(driver.LimitRound{}).Now
	l.k.eventually("the store's clock goes on", func() bool { return l.round(driver.LimitRound{}).Now.After(was) })
}

func setRate(k *kit, key string, n int64, per time.Duration, burst int64) {
	k.t.Helper()
	setLimit(k, journal.Limit{Name: "rate", Key: key, Rate: journal.Rate{N: n, Per: per, Burst: burst}})
}

// What was spent of a lower rate is an amount of the higher one. A run that waits is looked at.
func rateRaised(k *kit) {
	setRate(k, "", 1000, 24*time.Hour, 1000)
	s := spender{newLimiter(k)}
	k.same("all of it", s.spends("", 1000), true)
	k.same("all of another key", s.spends("k", 1000), true)
	run := limited(k, 1, journal.LimitNeed{Name: "rate", Key: "k", Cost: 1000})[0]
	k.same("begun", takeIn(s.limiter), 0)
	setRate(k, "", 2000, 24*time.Hour, 2000)
	k.same("as much once more", s.spends("", 998), true)
	s.spent("of twice the rate", "", 2, 24*time.Hour/2000)
	k.same("begun of twice the rate", takeIn(s.limiter), 1)
	k.same("claimed", k.take(s.m.ID(), 1)[0].run, run)
	setRate(k, "", 2000, 24*time.Hour, 2005)
	s.spent("of a larger burst", "", 5, 24*time.Hour/2000)
	setRate(k, "", 1000, time.Millisecond, 2000)
	k.eventually("a cost of all begins", func() bool { return s.spends("", 2000) })
}

// What was spent of a higher rate is spent of the lower one, and a full burst of it is no more than
// one of the lower.
func rateLowered(k *kit) {
	setRate(k, "", 100, time.Hour, 10)
	s := spender{newLimiter(k)}
	for range 4 {
		k.same("the first", s.spends("some", 1), true)
		k.same("of another key", s.spends("all", 2), true)
	}
	k.same("the rest", s.spends("all", 2), true)
	k.same("of a third key", s.spends("much", 100), true)
	setRate(k, "", 10, time.Hour, 5)
	s.spent("of one that has spent 4 of a burst of 5", "some", 1, 6*time.Minute)
	s.spent("of one that has spent a burst of 10", "all", 0, 6*time.Minute)
	// 100 at 100 an hour are an hour, of which a burst of 5 at 10 an hour is half an hour
	s.spent("of one that has spent far beyond the burst", "much", 0, 36*time.Minute)
	setRate(k, "", 10, time.Hour, 2)
	s.spent("of a smaller burst", "some", 0, 24*time.Minute)
}

// A limit that is removed, or whose rate is, has nothing spent when it comes again.
func rateRemoved(k *kit) {
	setRate(k, "", 1, 24*time.Hour, 1)
	s := spender{newLimiter(k)}
	k.same("the first", s.spends("", 1), true)
	k.same("the second", s.spends("", 1), false)
	_, err := k.j.Admin(k.ctx, driver.AdminAction{Kind: driver.AdminRemoveLimit, Limit: &journal.Limit{Name: "rate"}})
	k.ok(err)
	k.same("without a limit", s.spends("", 1), true)
	setRate(k, "", 1, 24*time.Hour, 1)
	s.spent("of the limit set again", "", 1, 24*time.Hour)
	setLimit(k, journal.Limit{Name: "rate", Concurrency: 1})
	setRate(k, "", 1, 24*time.Hour, 1)
	s.spent("of the rate set again", "", 1, 24*time.Hour)
}

// A row of a key that comes or goes changes the rate of the key, and of no other. A change of the
// row for all keys is none of a key that has its own.
func rateOfAKey(k *kit) {
	setRate(k, "", 1, time.Hour, 1)
	s := spender{newLimiter(k)}
	for _, key := range []string{"", "a", "b"} {
		k.same("the first", s.spends(key, 1), true)
	}
	setRate(k, "a", 10, time.Hour, 5)
	s.spent("of the row of the key", "a", 4, 6*time.Minute)
	s.spent("of another key", "b", 0, time.Hour)
	setRate(k, "", 2, time.Hour, 3)
	s.spent("of the row of the key", "a", 0, 6*time.Minute)
	s.spent("of another key", "b", 2, 30*time.Minute)
	s.spent("of the empty key", "", 2, 30*time.Minute)
	_, err := k.j.Admin(k.ctx, driver.AdminAction{Kind: driver.AdminRemoveLimit, Limit: &journal.Limit{Name: "rate", Key: "a"}})
	k.ok(err)
	s.spent("without the row of the key", "a", 0, 30*time.Minute) // it has spent 5 of a burst of 3
	setLimit(k, journal.Limit{Name: "rate", Key: "a", Concurrency: 1})
	k.same("of a row without a rate", s.spends("a", 1), true)
	setRate(k, "a", 1, time.Hour, 1)
	s.spent("of a row that has got a rate", "a", 1, time.Hour)
}

// A claim that was granted under another rate, or none, gives back nothing of what others have
// reserved since. What it has used beyond its cost is owed of the present one.
func rateSettled(k *kit) {
	n := newLimiter(k)
	cost := func(cost int64) journal.LimitNeed { return journal.LimitNeed{Name: "rate", Cost: cost} }
	free, owing := n.want(nth(0), cost(1000)), n.want(nth(0), cost(1))
	k.same("granted without a limit", len(n.ask(free, owing)), 2)
	setRate(k, "", 1000, 24*time.Hour, 1000)
	n.pass()
	half, rest := n.want(nth(1), cost(500)), n.want(nth(2), cost(500))
	k.same("granted", len(n.ask(half, rest)), 2)
	waits := n.want(nth(3), cost(100))
	k.same("granted beyond the burst", n.ask(waits), nil)
	settled := func(w driver.Want, used int64) driver.Want { w.Needs = []journal.LimitNeed{cost(used)}; return w }
	k.same("granted when the one without a rate has used nothing", n.end(settled(free, 0)).Granted, nil)
	setRate(k, "", 1000, 24*time.Hour, 999)
	k.same("granted when one of this rate has used less", n.end(settled(half, 300)).Granted, []int64{waits.ID})
	setRate(k, "", 1100, 24*time.Hour, 1100)
	n.pass()
	other := n.want(nth(4), cost(200))
	k.same("granted of a higher rate", n.ask(other), []int64{other.ID})
	late := n.want(nth(5), cost(100))
	k.same("granted beyond it", n.ask(late), nil)
	k.same("granted when one of the rate before has used nothing", n.end(settled(rest, 0)).Granted, nil)
	k.same("granted when one of this rate has used less", n.end(settled(other, 50)).Granted, []int64{late.ID})
	n.end(settled(owing, 951))
	s := spender{n} // 2000 are spent of a burst of 1100
	s.spent("when one has used more", "", 0, 901*24*time.Hour/1100)
}
