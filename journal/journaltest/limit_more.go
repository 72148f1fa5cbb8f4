package journaltest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A rate lets its burst begin at once, and then one after the other; it says when.
func limitRates(k *kit) {
	setLimit(k, journal.Limit{Name: "rate", Rate: journal.Rate{N: 10, Per: time.Hour, Burst: 3}})
	n := newLimiter(k)
	var wants []driver.Want
	for i := range 5 {
		wants = append(wants, n.want(nth(i), need("rate", "")))
	}
	a := n.round(driver.LimitRound{Wants: wants})
	k.same("granted at once", a.Granted, []int64{wants[0].ID, wants[1].ID, wants[2].ID})
	due := a.Due[driver.LimitKey{Name: "rate"}]
	if wait := due.Sub(a.Now); wait < 5*time.Minute+59*time.Second || wait > 6*time.Minute {
		k.t.Errorf("the next is due in %s, want 6m", wait)
	}
	b := n.end(wants[0])
	k.same("granted because one has ended", b.Granted, nil)
	if got := n.round(driver.LimitRound{Look: []driver.LimitKey{{Name: "rate"}}}).Due[driver.LimitKey{Name: "rate"}]; !got.Equal(due) {
		k.t.Errorf("it is due at %s, and before at %s", got, due)
	}
	k.same("granted of another key", len(n.ask(n.want(nth(0), need("rate", "other")))), 1)
	setLimit(k, journal.Limit{Name: "fast", Rate: journal.Rate{N: 1, Per: time.Millisecond}})
	quick := []driver.Want{n.want(nth(0), need("fast", "")), n.want(nth(1), need("fast", ""))}
	got := len(n.ask(quick...))
	k.eventually("the rate lets the second begin", func() bool {
		got += len(n.round(driver.LimitRound{Look: []driver.LimitKey{{Name: "fast"}}}).Granted)
		return got == 2
	})
	huge := n.want(nth(0), journal.LimitNeed{Name: "rate", Key: "huge", Cost: 100})
	k.same("granted of a cost above the burst", len(n.ask(huge)), 1)
	small := n.want(nth(0), need("rate", "huge"))
	a = n.round(driver.LimitRound{Wants: []driver.Want{small}})
	if wait := a.Due[driver.LimitKey{Name: "rate", Key: "huge"}].Sub(a.Now); wait < 9*time.Hour+40*time.Minute || wait > 9*time.Hour+48*time.Minute {
		k.t.Errorf("after a cost of 100 at 10 an hour the next of burst 3 is due in %s, want 9h48m", wait)
	}
}

// What a claim has reserved and not used is there for others at once; what it has used beyond that
// is owed.
func limitSettles(k *kit) {
	setLimit(k, journal.Limit{Name: "tokens", Rate: journal.Rate{N: 1000, Per: 24 * time.Hour, Burst: 1000}})
	n := newLimiter(k)
	cost := func(cost int64) journal.LimitNeed { return journal.LimitNeed{Name: "tokens", Cost: cost} }
	guess, rest := n.want(nth(0), cost(900)), n.want(nth(1), cost(800))
	k.same("granted", n.ask(guess, rest), []int64{guess.ID})
	guess.Needs = []journal.LimitNeed{cost(150)}
	k.same("granted when less was used", n.end(guess).Granted, []int64{rest.ID})
	rest.Needs = []journal.LimitNeed{cost(2850)}
	n.end(rest)
	a := n.round(driver.LimitRound{Wants: []driver.Want{n.want(nth(2), cost(1000))}})
	k.same("granted when more was used", a.Granted, nil)
	if wait := a.Due[driver.LimitKey{Name: "tokens"}].Sub(a.Now); wait < 71*time.Hour || wait > 72*time.Hour {
		k.t.Errorf("after 3000 of 1000 a day the next 1000 are due in %s, want 72h", wait)
	}
}

// What a node holds is free with the transaction that declares it dead, and when it leaves; what it
// waited for is gone.
func limitsOfTheDead(k *kit) {
	setLimit(k, journal.Limit{Name: "lost", Concurrency: 1, Total: 1})
	alive, leaves, dies := newLimiter(k), newLimiter(k), &limiter{k: k, m: k.join(leaseTiny)}
	held := dies.want(nth(0), need("lost", ""))
	k.same("the first holder", len(dies.ask(held, dies.want(nth(1), need("lost", "")))), 1)
	second := leaves.want(nth(2), need("lost", ""))
	k.same("granted beside it", leaves.ask(second), nil)
	third := alive.want(nth(3), need("lost", ""))
	k.same("granted beside it", alive.ask(third), nil)
	k.expire(dies.m.ID())
	k.same("granted after the lease", alive.round(driver.LimitRound{Look: []driver.LimitKey{{Name: "lost"}}}).Others, nil)
	reaped, err := alive.m.Reap(k.ctx, nil)
	k.ok(err)
	k.same("declared dead", slices.Contains(reaped.Nodes, dies.m.ID()), true)
	refusedRound(k, dies)
	look := driver.LimitRound{Look: []driver.LimitKey{{Name: "lost"}}}
	k.same("granted to the next", alive.round(look).Others, []journal.NodeID{leaves.m.ID()})
	k.ok(leaves.m.Leave(k.ctx))
	refusedRound(k, leaves)
	k.same("granted to the last", alive.round(look).Granted, []int64{third.ID})
}

// A round whose answer was lost is sent again, and says what became of it. What the store has lost
// is held again.
func limitRoundsRepeat(k *kit) {
	setLimit(k, journal.Limit{Name: "again", Concurrency: 1})
	n := newLimiter(k)
	a, b := n.want(nth(0), need("again", "")), n.want(nth(1), need("again", ""))
	round := driver.LimitRound{Wants: []driver.Want{a, b}, Compare: true}
	first := n.round(round)
	k.same("granted", first.Granted, []int64{a.ID})
	again := n.round(round)
	k.same("granted again", again.Granted, nil)
	k.same("what the store knows", again.Claims, []driver.KnownClaim{{ID: a.ID, Held: true, Needs: a.Needs}, {ID: b.ID, Needs: b.Needs}})
	k.same("granted by the end", n.end(a).Granted, []int64{b.ID})
	k.same("granted by the end, again", n.end(a).Granted, nil)
	back := n.want(nth(2), need("again", ""))
	back.Held = true
	k.same("granted of what is executed", n.ask(back), []int64{back.ID})
	c := n.want(nth(3), need("again", ""))
	k.same("granted beside the two", n.ask(c), nil)
	k.same("granted beside one", n.end(b).Granted, nil)
	k.same("granted at last", n.end(back).Granted, []int64{c.ID})
}

// A want that is asked for again by a round that says so stays what it is. A round that does not
// say so has happened late: nothing of it is done.
func limitWantsRepeat(k *kit) {
	setLimit(k, journal.Limit{Name: "twice", Total: 1})
	n := newLimiter(k)
	a, b := n.want(nth(0), need("twice", "")), n.want(nth(1), need("twice", ""))
	k.same("granted", n.ask(a, b), []int64{a.ID})
	c := n.want(nth(2), need("twice", "other"))
	again := n.round(driver.LimitRound{Wants: []driver.Want{c, b, a}, Repeats: true, Held: true})
	k.same("granted again", again.Granted, nil)
	k.same("held", again.Claims, []driver.KnownClaim{{ID: a.ID, Held: true, Needs: a.Needs}})
	d := n.want(nth(3), need("twice", ""))
	late := driver.LimitRound{Wants: []driver.Want{d, b}, Releases: []driver.LimitRelease{{ID: a.ID, Needs: a.Needs}}}
	if got, err := n.m.Limits(k.ctx, late); err == nil {
		k.t.Errorf("a round that happens behind its repetition is carried out: %+v", got)
	}
	k.same("held behind the late round", n.holds(), []int64{a.ID})
	late = driver.LimitRound{Wants: []driver.Want{d}, Repeats: true, Late: func(*driver.LimitRound) {}}
	if _, err := n.m.Limits(k.ctx, late); !errors.Is(err, journal.ErrInvalid) {
		k.t.Errorf("a round that repeats has late wants: %v", err)
	}
	k.same("granted by the end of a", n.end(a).Granted, []int64{c.ID})
	k.same("granted by the end of c", n.end(c).Granted, []int64{b.ID})
	k.same("granted by the end of b", n.end(b).Granted, nil)
	e := n.want(nth(4), need("twice", ""))
	k.same("granted of what comes", n.ask(d, e), []int64{d.ID})
	e.Held = true // the store has forgotten the grant alone
	held := n.round(driver.LimitRound{Wants: []driver.Want{e}, Releases: []driver.LimitRelease{{ID: e.ID, Needs: e.Needs}, {ID: d.ID, Needs: d.Needs}}})
	k.same("granted of what waited and is executed", held.Granted, []int64{e.ID})
	k.same("held at last", n.holds(), []int64{e.ID})
	n.end(e)
}

// A round takes in what has come while it waited for the locks of its limits, once, and nothing of
// a limit that it has not locked.
func limitRoundsGather(k *kit) {
	setLimit(k, journal.Limit{Name: "late", Concurrency: 1})
	n := newLimiter(k)
	first, gone, last := n.want(nth(0), need("late", "")), n.want(nth(1), need("late", "")), n.want(nth(3), need("late", ""))
	k.same("granted", n.ask(first, gone), []int64{first.ID})
	calls := 0
	earlier, other := n.want(nth(2), need("late", "")), n.want(nth(2), need("late", "other"))
	late := func(r *driver.LimitRound) {
		calls++
		r.Wants = append(r.Wants, earlier, other)
		for _, w := range []driver.Want{gone, first} {
			r.Releases = append(r.Releases, driver.LimitRelease{ID: w.ID, Needs: w.Needs})
		}
	}
	got := n.round(driver.LimitRound{Wants: []driver.Want{last}, Late: late})
	k.same("calls of Late", calls, 1)
	k.same("granted of what has come", got.Granted, []int64{earlier.ID, other.ID})
	k.same("held", n.holds(), []int64{earlier.ID, other.ID})
	late = func(r *driver.LimitRound) { r.Wants = append(r.Wants, n.want(nth(4), need("not locked", ""))) }
	_, err := n.m.Limits(k.ctx, driver.LimitRound{Wants: []driver.Want{n.want(nth(4), need("late", ""))}, Late: late})
	if !errors.Is(err, journal.ErrInvalid) {
		k.t.Errorf("a round was given a limit that it has not locked: %v", err)
	}
	k.same("what the store knows", len(n.round(driver.LimitRound{Compare: true}).Claims), 3)
	k.same("granted when that ends", n.end(earlier).Granted, []int64{last.ID})
}

// A limit that is lowered holds from the next round on, one that is raised lets those in who wait
// when somebody looks, and one that is removed bounds nothing.
func limitsChange(k *kit) {
	n := newLimiter(k)
	var early, wants []driver.Want
	for i := range 3 {
		early = append(early, n.want(nth(i), need("live", "")))
	}
	k.same("granted before there is a limit", len(n.ask(early...)), 3)
	setLimit(k, journal.Limit{Name: "live", Concurrency: 2, Total: 4})
	for i := range 6 {
		wants = append(wants, n.want(nth(10+i), need("live", "")))
	}
	k.same("granted while 3 of 2 are held", n.ask(wants...), nil)
	k.same("granted while 2 of 2 are held", n.end(early[0]).Granted, nil)
	look := driver.LimitRound{Look: []driver.LimitKey{{Name: "live"}}}
	setLimit(k, journal.Limit{Name: "live", Concurrency: 5, Total: 4})
	k.same("granted of a total of 4", len(n.round(look).Granted), 2)
	setLimit(k, journal.Limit{Name: "live", Concurrency: 5})
	k.same("granted of 5", len(n.round(look).Granted), 1)
	setLimit(k, journal.Limit{Name: "live", Concurrency: 9, Total: 6})
	k.same("granted of a total of 6", len(n.round(look).Granted), 1)
	_, err := k.j.Admin(k.ctx, driver.AdminAction{Kind: driver.AdminRemoveLimit, Limit: &journal.Limit{Name: "live"}})
	k.ok(err)
	k.same("granted without a limit", len(n.round(look).Granted), 2)
}

// Every change of a limit has one row, and what changes nothing has none.
func limitsAreAudited(k *kit) {
	n := newLimiter(k)
	setLimit(k, journal.Limit{Name: "audited", Concurrency: 2})
	setLimit(k, journal.Limit{Name: "audited", Concurrency: 2})
	setLimit(k, journal.Limit{Name: "audited", Concurrency: 3, Rate: journal.Rate{N: 5, Per: time.Second}})
	w := n.want(nth(0), need("audited", ""))
	k.same("granted", len(n.ask(w)), 1)
	claim := driver.AdminAction{Kind: driver.AdminReleaseClaim, Claim: &journal.LimitClaim{Node: n.m.ID(), ID: w.ID}, Actor: "eva"}
	_, err := k.j.Admin(k.ctx, claim)
	k.ok(err)
	k.same("held after an operator's release", n.holds(), nil)
	if _, err = k.j.Admin(k.ctx, claim); !errors.Is(err, journal.ErrNoClaim) {
		k.t.Errorf("a second release: %v", err)
	}
	gone := driver.AdminAction{Kind: driver.AdminRemoveLimit, Limit: &journal.Limit{Name: "audited"}, Actor: "eva"}
	k.together(4, func(int) error {
		if _, err := k.j.Admin(k.ctx, gone); !errors.Is(err, journal.ErrNoLimit) {
			return err
		}
		return nil
	})
	list, err := k.j.Audit(k.ctx, journal.AuditFilter{Actor: "eva"})
	k.ok(err)
	var said []string
	for _, e := range list {
		said = append(said, strings.TrimSpace(e.Verb+" "+e.Detail+" "+e.Reason))
		k.same("the run of "+e.Verb, e.Run == w.Run, e.Verb == "release-claim")
		k.same("it releases the claim", driver.ReleasesClaim(&e, n.m.ID(), w.ID), e.Verb == "release-claim")
	}
	k.same("rows", said, []string{
		`remove-limit limit "audited": 3 at once; 5 per 1s`,
		fmt.Sprintf(`release-claim claim %d:%d, limit "audited", key "", step "call" of node %d`, n.m.ID(), w.ID, n.m.ID()),
		`set-limit limit "audited": 3 at once; 5 per 1s, before 2 at once the bank asked`,
		`set-limit limit "audited": 2 at once the bank asked`,
	})
}

// What is no limit is refused, with the field.
func limitsAreChecked(k *kit) {
	for text, l := range map[string]journal.Limit{
		"is empty":               {},
		"reserved":               {Name: "l", Key: "~total", Concurrency: 1},
		"bounds nothing":         {Name: "l"},
		"Concurrency is -1":      {Name: "l", Concurrency: -1},
		"Total is 5":             {Name: "l", Key: "k", Total: 5},
		"Total is 1000001":       {Name: "l", Total: journal.LimitHoldersMax + 1},
		"Rate.N is 0":            {Name: "l", Rate: journal.Rate{Per: time.Second}},
		"Rate.Per is 0s":         {Name: "l", Rate: journal.Rate{N: 1}},
		"Rate.Burst is -2":       {Name: "l", Rate: journal.Rate{N: 1, Per: time.Second, Burst: -2}},
		"Weight is 1001":         {Name: "l", Concurrency: 1, Weight: 1001},
		"Ageing is -1ns":         {Name: "l", Concurrency: 1, Ageing: -1},
		"holds a control":        {Name: "two\nlines", Concurrency: 1},
		"limit name in bytes":    {Name: strings.Repeat("x", journal.NameBytesMax+1), Concurrency: 1},
		"Rate.N is 1000000001":   {Name: "l", Rate: journal.Rate{N: journal.LimitCostMax + 1, Per: time.Second}},
		"MaxBacklog is -1":       {Name: "l", Concurrency: 1, MaxBacklog: -1},
		"MaxBacklog is 100001":   {Name: "l", Concurrency: 1, MaxBacklog: journal.LimitBacklogMax + 1},
		"OnFull is reject":       {Name: "l", Concurrency: 1, OnFull: journal.OnFullReject},
		"OnFull is wait":         {Name: "l", Concurrency: 1, MaxBacklog: 1, OnFull: journal.OnFullWait},
		"OnFull is OnFull(9)":    {Name: "l", Concurrency: 1, MaxBacklog: 1, OnFull: 9},
		"at most 8784h0m0s, or ": {Name: "l", Concurrency: 1, Ageing: journal.LimitPerMax + 1},
	} {
		_, err := k.j.Admin(k.ctx, driver.AdminAction{Kind: driver.AdminSetLimit, Limit: &l})
		if !errors.Is(err, journal.ErrInvalid) || !strings.Contains(fmt.Sprint(err), text) {
			k.t.Errorf("%+v: %v, want %q", l, err, text)
		}
	}
	for _, a := range []driver.AdminAction{
		{Kind: driver.AdminSetLimit},
		{Kind: driver.AdminReleaseClaim, Claim: &journal.LimitClaim{}},
		{Kind: driver.AdminTerminate, Limit: &journal.Limit{Name: "l", Concurrency: 1}},
		{Kind: driver.AdminSetLimit, Run: journal.NewRunID(), Limit: &journal.Limit{Name: "l", Concurrency: 1}},
		{Kind: driver.AdminRemoveLimit, Limit: &journal.Limit{}},
	} {
		if _, err := k.j.Admin(k.ctx, a); !errors.Is(err, journal.ErrInvalid) {
			k.t.Errorf("%s: %v", a.Kind, err)
		}
	}
	n := newLimiter(k)
	for text, needs := range map[string][]journal.LimitNeed{
		"named twice":    {need("a", ""), need("a", "k")},
		"needs no limit": nil,
		"the cost is -1": {{Name: "a", Cost: -1}},
		"is empty":       {{}},
	} {
		_, err := n.m.Limits(k.ctx, driver.LimitRound{Wants: []driver.Want{n.want(nth(0), needs...)}})
		if !errors.Is(err, journal.ErrInvalid) || !strings.Contains(fmt.Sprint(err), text) {
			k.t.Errorf("needs %v: %v, want %q", needs, err, text)
		}
	}
}

// A page tells limits, lines and claims, of all or of one.
func limitsAreListed(k *kit) {
	setLimit(k, journal.Limit{Name: "b", Concurrency: 1})
	setLimit(k, journal.Limit{Name: "a", Concurrency: 1, Rate: journal.Rate{N: 1, Per: time.Hour}})
	setLimit(k, journal.Limit{Name: "a", Key: "t2", Concurrency: 2})
	n := newLimiter(k)
	held := n.want(nth(0), need("a", "t1"), need("b", ""))
	first, second := n.want(nth(1), need("b", "")), n.want(nth(2), need("b", ""))
	second.Priority = 4
	k.same("granted", n.ask(held, first, second), []int64{held.ID})
	page, err := k.j.Limits(k.ctx, journal.LimitFilter{Uses: 10, Claims: 10})
	k.ok(err)
	var names []string
	for _, l := range page.Limits {
		names = append(names, l.String()+" by "+l.Actor+", "+l.Reason)
		if ago := page.Now.Sub(l.Time); ago < 0 || ago > time.Hour {
			k.t.Errorf("%s is of %s", l.Name, l.Time)
		}
	}
	k.same("limits", names, []string{`limit "a": 1 at once; 1 per 1h0m0s by eva, the bank asked`,
		`limit "a", key "t2": 2 at once by eva, the bank asked`, `limit "b": 1 at once by eva, the bank asked`})
	if len(page.Uses) != 2 || page.Uses[1].NextAt.Before(page.Now.Add(59*time.Minute)) {
		k.t.Fatalf("lines: %+v", page.Uses)
	}
	page.Uses[1].NextAt = time.Time{}
	k.same("lines", page.Uses, []journal.LimitUse{{Name: "b", Held: 1, Waiting: 2}, {Name: "a", Key: "t1", Held: 1}})
	claim := func(w driver.Want, name, key string, place int) journal.LimitClaim {
		return journal.LimitClaim{Limit: name, Key: key, Node: n.m.ID(), ID: w.ID, Run: w.Run, Cmd: w.Cmd, Step: w.Step, Cost: 1, Since: w.Since,
			Place: place, Priority: w.Priority}
	}
	claims := func(f journal.LimitFilter) []journal.LimitClaim {
		page, err := k.j.Limits(k.ctx, f)
		k.ok(err)
		for i := range page.Claims {
			c := &page.Claims[i]
			if (c.Place == 0) != (page.Now.Sub(c.Granted) < time.Hour) {
				k.t.Errorf("claim of %q at place %d is granted at %s", c.Limit, c.Place, c.Granted)
			}
			c.Granted = time.Time{}
		}
		return page.Claims
	}
	k.same("claims", claims(journal.LimitFilter{Claims: 10}),
		[]journal.LimitClaim{claim(held, "a", "t1", 0), claim(held, "b", "", 0), claim(first, "b", "", 1), claim(second, "b", "", 2)})
	k.same("three claims", len(claims(journal.LimitFilter{Claims: 3})), 3)
	k.same("claims of b", claims(journal.LimitFilter{Name: "b", Claims: 10})[1:], []journal.LimitClaim{claim(first, "b", "", 1), claim(second, "b", "", 2)})
	k.same("claims of a run", claims(journal.LimitFilter{Run: second.Run, Claims: 10}), []journal.LimitClaim{claim(second, "b", "", 2)})
	k.same("claims of a key", claims(journal.LimitFilter{Name: "a", Key: "t1", Claims: 10}), []journal.LimitClaim{claim(held, "a", "t1", 0)})
	if _, err := k.j.Limits(k.ctx, journal.LimitFilter{Key: "k"}); !errors.Is(err, journal.ErrInvalid) {
		k.t.Errorf("a key without a name: %v", err)
	}
}
