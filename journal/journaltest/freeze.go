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

// A pause may make the timers of a run stand still until the resume (J11). What a store has to do
// for it: it keeps, by its own clock (J9), when they did.
var freezeChecks = []check{
	{"J11_TimersStandStillFromPauseToResume", freezes},
	{"J11_AnUnansweredFreezeIsTakenBack", freezeTakenBack},
	{"J11_AFreezeThatAnOwnerAnswersByItsDeath", freezeAnswered},
	{"J11_FreezesBesidePausesAndResumes", freezesTogether},
	{"J13_FreezesOutliveTheRunsEnd", freezesAfterTheEnd},
	{"J13_AForkGoesOnWithTheFreezes", freezesOfAFork},
	{"J11_FreezesHaveALimit", freezesEnd},
	{"J11_OnlyAPauseOfARunFreezes", freezeChecked},
}

// freeze pauses a run and freezes its timers.
func freeze(k *kit, run journal.RunID) driver.AdminOutcome {
	k.t.Helper()
	out, err := k.j.Admin(k.ctx, freezing(run))
	k.ok(err)
	return out
}

func freezing(run journal.RunID) driver.AdminAction {
	return driver.AdminAction{Run: run, Kind: driver.AdminPause, FreezeTimers: true, Actor: "eva"}
}

// frozen expects that a run has so many freezes, in their order, whoever asks; whether the last one
// lasts; and that the clock of the store says when it began or ended.
func frozen(k *kit, what string, run journal.RunID, n int, lasts bool) journal.Freezes {
	k.t.Helper()
	f := k.row(run).Freezes
	if len(f) != n || f.Lasts() != lasts {
		k.t.Fatalf("%s: the freezes are %v, want %d, and that the last one lasts: %t", what, f, n, lasts)
	}
	times := driver.FreezeTimes(f)
	if !slices.IsSortedFunc(times, time.Time.Compare) {
		k.t.Errorf("%s: %v are not in order", what, f)
	}
	if now := k.j.Now(); n > 0 && (times[len(times)-1].After(now.Add(time.Minute)) || times[0].Before(now.Add(-time.Hour))) {
		k.t.Errorf("%s: %v are not of the store's clock, which says %s", what, f, now)
	}
	for _, q := range []driver.LoadRequest{{}, {InboxOnly: true}, {Owned: true}, {InboxOnly: true, Owned: true}} {
		q.Run = run
		k.same(what+": loaded", k.load(q).Run.Freezes, f)
	}
	return f
}

// A freeze lasts from the pause that asks for it to the resume. Another pause does not begin or end
// one that lasts. A claim says what there was.
func freezes(k *kit) {
	node := k.join(leaseLong).ID()
	run := k.begin(1)[0]
	o := k.take(node, 1)[0]
	o.commit(parkUntil(k.j.Now().Add(time.Hour)), started())
	frozen(k, "never", run, 0, false)
	k.same("the pause", freeze(k, run), driver.AdminOutcome{State: journal.Paused})
	first := frozen(k, "paused", run, 1, true)
	k.ok(k.admin(run, driver.AdminPause))
	freeze(k, run)
	k.ok(k.admin(run, driver.AdminInterrupt)) // nobody owns it
	k.same("paused again", frozen(k, "paused again", run, 1, true), first)
	k.same("audit", details(k, run), []string{"pause: timers are frozen"})
	k.ok(k.admin(run, driver.AdminResume))
	first = frozen(k, "resumed", run, 1, false)
	k.ok(k.admin(run, driver.AdminResume))
	k.same("resumed again", frozen(k, "resumed again", run, 1, false), first)

	k.ok(k.admin(run, driver.AdminPause)) // without the option timers go on
	frozen(k, "paused without", run, 1, false)
	k.same("a pause that freezes only", freeze(k, run), driver.AdminOutcome{State: journal.Paused})
	frozen(k, "frozen later", run, 2, true)
	k.same("audit", len(details(k, run)), 2)
	k.ok(k.admin(run, driver.AdminResume))
	f := frozen(k, "resumed", run, 2, false)
	k.same("the first one", f[:1], first)

	claimed := k.claim(node, 1).Tasks[0]
	k.same("the claim", claimed.Run.Freezes, f)
	o = k.owner(node, claimed)
	c := o.build(keep, ended(journal.RunContinued))
	c.Continue = &journal.Continue{Version: 1}
	o.submit(c)
	k.same("the next generation", frozen(k, "the next generation", run, 2, false), f)
}

// The owner of a run may not hear of a pause that ends before it has answered. Its timers went on,
// and the freeze counts for nothing. What it has answered stays, whatever asks it again.
func freezeTakenBack(k *kit) {
	node := k.join(leaseLong).ID()
	for name, kind := range map[string]driver.AdminKind{"pausing": driver.AdminPause, "interrupting": driver.AdminInterrupt} {
		o := k.one(node)
		o.commit(keep, started("a"))
		a := freezing(o.run)
		a.Kind = kind
		k.ok(acts(k, a))
		frozen(k, name, o.run, 1, true)
		k.ok(k.admin(o.run, driver.AdminResume))
		frozen(k, name+", resumed", o.run, 0, false)

		freeze(k, o.run)
		o.submit(o.hold())
		answered := frozen(k, "answered", o.run, 1, true)
		k.ok(k.admin(o.run, driver.AdminInterrupt))
		stateIs(k, "interrupted", o.run, journal.Interrupting)
		divided := frozen(k, "interrupted", o.run, 2, true)
		if divided[0].From != answered[0].From || divided[0].Until != divided[1].From {
			k.t.Errorf("%v was divided into %v", answered, divided)
		}
		if kind == driver.AdminInterrupt {
			c := o.hold()
			c.Interrupted = true
			o.submit(c)
			k.ok(k.admin(o.run, driver.AdminResume))
			k.same("the whole", frozen(k, "answered, resumed", o.run, 2, false)[0], divided[0])
		} else {
			k.ok(k.admin(o.run, driver.AdminResume))
			k.same("the first part", frozen(k, "interrupted, resumed", o.run, 1, false), divided[:1])
		}
		o.commit(closed, stepDone(1, "a", "1"), completed("1"))
	}
}

// An owner answers by freeing the task too, and others do for one that is gone. A run that goes
// back stays paused, and its timers stand still.
func freezeAnswered(k *kit) {
	for name, free := range map[string]func(m driver.Membership, o *owner){
		"parked": func(_ driver.Membership, o *owner) { o.commit(park) },
		"left":   func(m driver.Membership, _ *owner) { k.ok(m.Leave(k.ctx)) },
		"reset":  func(_ driver.Membership, o *owner) { k.ok(back(k, driver.AdminReset, o.run, 1)) },
	} {
		m := k.join(leaseLong)
		o := k.one(m.ID())
		o.commit(keep, started("a"))
		freeze(k, o.run)
		was := frozen(k, name, o.run, 1, true)
		free(m, o)
		stateIs(k, name, o.run, journal.Paused)
		k.same(name, frozen(k, name, o.run, 1, true), was)
		k.ok(k.admin(o.run, driver.AdminResume))
		frozen(k, name+", resumed", o.run, 1, false)
		k.ok(k.admin(o.run, driver.AdminTerminate))
	}
}

// Timers of an open run stand still exactly while it is on hold, whoever pauses and resumes beside
// whom.
func freezesTogether(k *kit) {
	run := k.begin(1)[0]
	for range 30 {
		k.together(2, func(i int) error {
			if i == 0 {
				return acts(k, freezing(run))
			}
			return acts(k, driver.AdminAction{Run: run, Kind: driver.AdminResume})
		})
		if r := k.row(run); r.Freezes.Lasts() != (r.Task.State == journal.Paused) {
			k.t.Fatalf("the task is %s, the freezes are %v", r.Task.State, r.Freezes)
		}
	}
}

// A run may end while its timers stand still. They do so until its end: a retry goes on with what
// was left of their time then.
func freezesAfterTheEnd(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	o.commit(keep, started("a"))
	freeze(k, o.run)
	o.submit(o.hold())
	o.commit(closed, stepFailed(1, "a"), ended(journal.RunFailed))
	frozen(k, "closed", o.run, 1, true)
	end := k.row(o.run).ClosedAt
	k.ok(back(k, driver.AdminRetry, o.run, 1))
	f := frozen(k, "retried", o.run, 1, false)
	k.same("the end of the freeze", f[0].Until, end)
	stateIs(k, "retried", o.run, journal.Ready)
	k.take(node, 1)[0].commit(closed, stepDone(1, "a", "1"), completed("1"))
}

// A fork has timers of the run whose time is the same as there, and they go on. Nothing happens to
// those of the run.
func freezesOfAFork(k *kit) {
	node := k.join(leaseLong).ID()
	o := k.one(node)
	o.commit(park, started("a"))
	freeze(k, o.run)
	was := frozen(k, "the run", o.run, 1, true)
	a := forking(k, o.run, 1)
	k.ok(acts(k, a))
	f := frozen(k, "the fork", a.Fork.Run, 1, false)
	k.same("its beginning", f[0].From, was[0].From)
	k.same("its end", f[0].Until, k.row(a.Fork.Run).CreatedAt)
	k.same("the run", frozen(k, "the run", o.run, 1, true), was)
	k.ok(k.admin(o.run, driver.AdminTerminate))
	end := k.row(o.run).ClosedAt
	b := forking(k, o.run, 1)
	k.ok(acts(k, b))
	k.same("of a closed run", frozen(k, "of a closed run", b.Fork.Run, 1, false)[0].Until, end)
}

// A run keeps so many freezes. One more is refused, and changes nothing; a pause without is none.
// An interruption does not divide the last one.
func freezesEnd(k *kit) {
	o := k.one(k.join(leaseLong).ID())
	o.commit(keep, started("a"))
	run := o.run
	for n := range journal.FreezesMax {
		freeze(k, run)
		o.submit(o.hold())
		if n == journal.FreezesMax-1 {
			k.ok(k.admin(run, driver.AdminInterrupt))
			frozen(k, "interrupted", run, journal.FreezesMax, true)
			c := o.hold()
			c.Interrupted = true
			o.submit(c)
		}
		k.ok(k.admin(run, driver.AdminResume))
	}
	frozen(k, "full", run, journal.FreezesMax, false)
	k.unchanged("one more", func() {
		err := acts(k, freezing(run))
		if e, ok := errors.AsType[*journal.LimitError](err); !ok || e.Max != journal.FreezesMax || !strings.Contains(err.Error(), "without freezing") {
			k.t.Errorf("one more: %v", err)
		}
	})
	k.ok(k.admin(run, driver.AdminPause))
	stateIs(k, "without", run, journal.Pausing)
	frozen(k, "without", run, journal.FreezesMax, false)
}

// What is not the pause of an open run freezes no timers, and the error says how to go on.
func freezeChecked(k *kit) {
	run := k.begin(1)[0]
	scope := &journal.Scope{Queue: "q"}
	k.unchanged("what freezes nothing", func() {
		for _, a := range []driver.AdminAction{
			{Scope: scope, Kind: driver.AdminPause}, {Scope: scope, Kind: driver.AdminResume}, {Run: run, Kind: driver.AdminResume},
			{Run: run, Kind: driver.AdminTerminate}, {Node: 1, Kind: driver.AdminDrain},
		} {
			a.FreezeTimers = true
			if err := acts(k, a); !errors.Is(err, journal.ErrInvalid) || a.Scope != nil && !strings.Contains(fmt.Sprint(err), "bulk") {
				k.t.Errorf("%+v: %v", a, err)
			}
		}
		if err := acts(k, freezing(journal.NewRunID())); !errors.Is(err, journal.ErrNotFound) {
			k.t.Errorf("no run: %v", err)
		}
	})
	k.ok(k.admin(run, driver.AdminTerminate))
	if err := acts(k, freezing(run)); !errors.Is(err, journal.ErrClosed) {
		k.t.Errorf("a closed run: %v", err)
	}
}
