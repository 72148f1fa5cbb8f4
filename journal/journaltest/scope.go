package journaltest

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A scope is paused as soon as every node has heeded the pause (J11), and the audit says who has
// done what (J12).
var scopeChecks = []check{
	{"J11_AScopeIsPausedWhenAllNodesHeed", scopesAreHeeded},
	{"J11_NumbersOfPausesComeInOrder", scopesInOrder},
	{"J12_ScopesAreAudited", scopesAreAudited},
	{"J11_ScopesAreChecked", scopesAreChecked},
	{"J12_ADrainIsAuditedOnce", drains},
	{"J12_AViewIsAuditedWhenItChanges", views},
}

// scoped acts on a scope and returns the number of its pause.
func scoped(k *kit, kind driver.AdminKind, s journal.Scope) int64 {
	k.t.Helper()
	out, err := k.j.Admin(k.ctx, driver.AdminAction{Kind: kind, Scope: &s, Actor: "eva", Reason: "the bank is down"})
	k.ok(err)
	return out.Pause
}

// pauseOf returns the pause of a scope, nil for none.
func pauseOf(k *kit, s journal.Scope) *journal.Pause {
	k.t.Helper()
	list, err := k.j.Pauses(k.ctx)
	k.ok(err)
	if i := slices.IndexFunc(list, func(p journal.Pause) bool { return p.Scope == s }); i >= 0 {
		return &list[i]
	}
	return nil
}

// heeds lets a node heed what the store says, and returns the pause of a scope as the node sees it.
func heeds(k *kit, m driver.Membership, s journal.Scope) (seen *journal.Pause) {
	k.t.Helper()
	orders, err := m.Heed(k.ctx, 0)
	k.ok(err)
	var newest int64
	for i, p := range orders.Pauses {
		if newest = max(newest, p.Number); p.Scope == s {
			seen = &orders.Pauses[i]
		}
	}
	_, err = m.Heed(k.ctx, newest)
	k.ok(err)
	return seen
}

// unheeded tells whether a node has not heeded a pause.
func unheeded(p *journal.Pause, m driver.Membership) bool { return slices.Contains(p.Unheeded, m.ID()) }

// A pause waits for every node that is a member, those that have joined after it too, until it has
// heeded that very pause, or is gone. A pause that interrupts waits anew.
func scopesAreHeeded(k *kit) {
	one, other := k.join(leaseLong), k.join(leaseLong)
	s := journal.Scope{Queue: "heeded", Workflow: "w", Version: 2}
	number := scoped(k, driver.AdminPause, s)
	p := pauseOf(k, s)
	if p == nil || number == 0 || !unheeded(p, one) || !unheeded(p, other) {
		k.t.Fatalf("the pause %d is %+v", number, p)
	}
	k.same("the pause", *p, journal.Pause{Scope: s, Number: number, Time: p.Time, Actor: "eva", Reason: "the bank is down", Unheeded: p.Unheeded})
	if ago := k.j.Now().Sub(p.Time); ago < -time.Minute || ago > time.Hour {
		k.t.Errorf("it is of %s", p.Time)
	}
	seen := heeds(k, one, s)
	if seen == nil || seen.Number != number || len(seen.Unheeded) != 0 {
		k.t.Fatalf("a node sees %+v", seen)
	}
	if p = pauseOf(k, s); unheeded(p, one) || !unheeded(p, other) {
		k.t.Errorf("heeded by one: %+v", p)
	}
	k.same("the pause again", scoped(k, driver.AdminPause, s), number)
	again := scoped(k, driver.AdminInterrupt, s)
	if again <= number {
		k.t.Errorf("the interruption has number %d after %d", again, number)
	}
	k.same("an interruption, paused once more", scoped(k, driver.AdminPause, s), again)
	if p = pauseOf(k, s); !p.Interrupts || !unheeded(p, one) {
		k.t.Errorf("interrupted: %+v", p)
	}
	k.ok(func() error { _, err := one.Heed(k.ctx, number); return err }()) // of the pause that was replaced
	if p = pauseOf(k, s); !unheeded(p, one) {
		k.t.Errorf("heeded before it was there: %+v", p)
	}
	heeds(k, one, s)
	late := k.join(leaseLong)
	if p = pauseOf(k, s); unheeded(p, one) || !unheeded(p, late) || !unheeded(p, other) {
		k.t.Errorf("with a node that has just joined: %+v", p)
	}
	heeds(k, late, s)
	k.ok(other.Leave(k.ctx))
	if p = pauseOf(k, s); unheeded(p, one) || unheeded(p, late) || unheeded(p, other) {
		k.t.Errorf("heeded by all: %+v", p)
	}
	if _, err := other.Heed(k.ctx, again); !errors.Is(err, journal.ErrNodeLost) {
		k.t.Errorf("a node that has left heeds: %v", err)
	}
	k.same("the number after the resume", scoped(k, driver.AdminResume, s), int64(0))
	k.same("the pause after the resume", pauseOf(k, s) == nil, true)
	k.same("a node sees", heeds(k, one, s) == nil, true)
	if next := scoped(k, driver.AdminPause, s); next <= again || !unheeded(pauseOf(k, s), one) {
		k.t.Errorf("the next pause has number %d after %d: %+v", next, again, pauseOf(k, s))
	}
	scoped(k, driver.AdminResume, s)
}

// Whoever heeds the newest number has seen all pauses before it, whoever makes them at once.
func scopesInOrder(k *kit) {
	node := k.join(leaseLong)
	const each = 8
	scope := func(i, n int) journal.Scope {
		return journal.Scope{Queue: "ordered", Workflow: "w", Version: int32(1 + i*each + n)}
	}
	k.together(each, func(i int) error {
		for n := range each {
			s := scope(i, n)
			out, err := k.j.Admin(k.ctx, driver.AdminAction{Kind: driver.AdminPause, Scope: &s})
			if err != nil {
				return err
			}
			orders, err := node.Heed(k.ctx, 0)
			if err != nil {
				return err
			}
			list := orders.Pauses
			newest := slices.MaxFunc(list, func(a, b journal.Pause) int { return cmp.Compare(a.Number, b.Number) })
			if newest.Number < out.Pause {
				k.t.Errorf("pause %d is not among those up to %d", out.Pause, newest.Number)
			}
			if _, err := node.Heed(k.ctx, newest.Number); err != nil {
				return err
			}
			now, err := k.j.Pauses(k.ctx)
			if err != nil {
				return err
			}
			for _, p := range now {
				known := slices.ContainsFunc(list, func(q journal.Pause) bool { return q.Number == p.Number })
				if p.Number <= newest.Number && !known {
					k.t.Errorf("pause %d came after %d was heeded", p.Number, newest.Number)
				}
			}
		}
		return nil
	})
	for i := range each {
		for n := range each {
			scoped(k, driver.AdminResume, scope(i, n))
		}
	}
}

// Each pause and each resume that changes something has one row, which names the scope.
func scopesAreAudited(k *kit) {
	s := journal.Scope{Workflow: "audited"}
	for _, kind := range []driver.AdminKind{driver.AdminResume, driver.AdminPause, driver.AdminPause, driver.AdminInterrupt, driver.AdminInterrupt,
		driver.AdminResume, driver.AdminResume} {
		scoped(k, kind, s)
	}
	list, err := k.j.Audit(k.ctx, journal.AuditFilter{Actor: "eva"})
	k.ok(err)
	var said []string
	for _, e := range list {
		if e.Workflow == s.Workflow {
			said = append(said, e.Verb+" "+e.Detail+" "+e.Reason)
			k.same("run", e.Run, journal.RunID{})
		}
	}
	k.same("rows", said, []string{`resume workflow "audited" the bank is down`,
		`pause workflow "audited"; running steps are interrupted the bank is down`, `pause workflow "audited" the bank is down`})
	k.together(8, func(int) error { scoped(k, driver.AdminPause, journal.Scope{Workflow: "at once"}); return nil })
	list, err = k.j.Audit(k.ctx, journal.AuditFilter{Actor: "eva"})
	k.ok(err)
	k.same("rows of pauses at once", len(slices.DeleteFunc(list, func(e journal.AuditEntry) bool { return e.Workflow != "at once" })), 1)
	scoped(k, driver.AdminResume, journal.Scope{Workflow: "at once"})
}

// What is no scope, or no action on one, is refused.
func scopesAreChecked(k *kit) {
	for _, a := range []driver.AdminAction{
		{Kind: driver.AdminPause, Scope: &journal.Scope{}},
		{Kind: driver.AdminPause, Scope: &journal.Scope{Version: 1}},
		{Kind: driver.AdminPause, Scope: &journal.Scope{Queue: "q", Version: 1}},
		{Kind: driver.AdminPause, Scope: &journal.Scope{Workflow: "w", Version: -1}},
		{Kind: driver.AdminPause, Scope: &journal.Scope{Queue: "two\nlines"}},
		{Kind: driver.AdminTerminate, Scope: &journal.Scope{Queue: "q"}},
		{Kind: driver.AdminPause, Scope: &journal.Scope{Queue: "q"}, Run: journal.NewRunID()},
		{Kind: driver.AdminPause, Scope: &journal.Scope{Queue: "q"}, Actor: "two\nlines"},
	} {
		if _, err := k.j.Admin(k.ctx, a); !errors.Is(err, journal.ErrInvalid) {
			k.t.Errorf("%+v on %+v: %v", a, a.Scope, err)
		}
	}
	for text, s := range map[string]journal.Scope{`queue "a"`: {Queue: "a"}, `workflow "b" version 3`: {Workflow: "b", Version: 3},
		`queue "a", workflow "b"`: {Queue: "a", Workflow: "b"}} {
		k.same("text", s.String(), text)
	}
	r := journal.Route{Queue: "a", Workflow: "b", Version: 3}
	for want, list := range map[bool][]journal.Scope{
		true:  {{Queue: "a"}, {Workflow: "b"}, {Workflow: "b", Version: 3}, {Queue: "a", Workflow: "b", Version: 3}},
		false: {{Queue: "x"}, {Workflow: "x"}, {Workflow: "b", Version: 4}, {Queue: "x", Workflow: "b"}, {Queue: "a", Workflow: "x"}},
	} {
		for _, s := range list {
			k.same(s.String()+" covers it", s.Covers(r), want)
		}
	}
}
