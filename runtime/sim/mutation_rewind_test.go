//go:build !race

package sim

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/bulk"
)

// reworded is a store that carries out another rewind than an operator asks for.
type reworded struct {
	store
	w      *world
	change func(w *world, a *driver.AdminAction)
}

// Admin implements driver.Store.
func (s reworded) Admin(ctx context.Context, a driver.AdminAction) (driver.AdminOutcome, error) {
	if a.Rewind != nil {
		rewind := *a.Rewind
		rewind.Next, rewind.Consumed, rewind.Unanswered = rewind.Next.Clone(), slices.Clone(rewind.Consumed), slices.Clone(rewind.Unanswered)
		a.Rewind = &rewind
		s.change(s.w, &a)
	}
	return s.store.Admin(ctx, a)
}

// rewords makes a mutation of a change of rewinds.
func rewords(change func(w *world, a *driver.AdminAction)) mutation {
	return func(w *world, s store) store { return reworded{s, w, change} }
}

// keeps makes a rewind keep some events more, or fewer.
func keeps(more int) mutation {
	return rewords(func(w *world, a *driver.AdminAction) {
		events := w.kept(a.Run).Events
		if n := int(a.Rewind.Head.Seq) + more; n > 0 && n < len(events) && a.Fork == nil {
			a.Rewind.Head = journal.Head{Seq: events[n-1].Seq, Link: events[n-1].Link}
			a.Rewind.Next.Seq = events[n-1].Seq
		}
	})
}

// dropsMessages leaves out what came behind the point.
func dropsMessages(_ *world, a *driver.AdminAction) { a.Rewind.Messages = driver.Again{None: true} }

// doubles has the last message that a kept event has consumed come again.
func doubles(_ *world, a *driver.AdminAction) {
	if n := len(a.Rewind.Consumed); n > 0 {
		a.Rewind.Consumed = a.Rewind.Consumed[:n-1]
	}
}

// rekeys gives a step that a retry runs again another key, as if the run were reset.
func rekeys(_ *world, a *driver.AdminAction) {
	if next := a.Rewind.Next; a.Kind == driver.AdminRetry && next.Seq > 0 {
		next.Steps = a.Rewind.Generation + 1
	}
}

// sameKeys leaves steps that a reset runs again their keys.
func sameKeys(_ *world, a *driver.AdminAction) {
	if a.Kind == driver.AdminReset && a.Rewind.Before == nil {
		a.Rewind.Next.Steps = 0
	}
}

// adopts takes what the code asks for behind the point for what the branch has asked for.
func adopts(_ *world, a *driver.AdminAction) {
	if list := a.Rewind.Next.Issued; len(list) > 0 {
		list[len(list)-1].Through += 3
	}
}

// leavesChildren leaves children of a branch alone.
func leavesChildren(_ *world, a *driver.AdminAction) { a.Rewind.KeepChildren = true }

// redraws goes on with the random numbers of the branch.
func redraws(_ *world, a *driver.AdminAction) {
	if list := a.Rewind.Next.Issued; len(list) > 0 {
		list[len(list)-1].Seq += 100
	}
}

// marked leaves a trace in a run that is forked.
type marked struct{ store }

// Admin implements driver.Store.
func (s marked) Admin(ctx context.Context, a driver.AdminAction) (driver.AdminOutcome, error) {
	out, err := s.store.Admin(ctx, a)
	if err == nil && a.Kind == driver.AdminFork {
		_, err = s.store.Admin(ctx, driver.AdminAction{Run: a.Run, Kind: driver.AdminSetLabels, Labels: map[string]*string{labelPrefix + "forked": new("yes")}})
	}
	return out, err
}

// unaware tells a node that joins of no pause, until it asks again.
type unaware struct{ store }

// Join implements driver.Store.
func (s unaware) Join(ctx context.Context, n journal.Node) (driver.Membership, error) {
	m, err := s.store.Join(ctx, n)
	if err != nil {
		return nil, err
	}
	return &newcomer{Membership: m}, nil
}

type newcomer struct {
	driver.Membership
	knows bool
}

// Heed implements driver.Membership.
func (m *newcomer) Heed(ctx context.Context, heeded int64) (driver.Orders, error) {
	o, err := m.Membership.Heed(ctx, heeded)
	if !m.knows {
		o.Pauses = nil
	}
	m.knows = true
	return o, err
}

// acquitted tells operators that every node heeds a pause as soon as it is stored.
type acquitted struct{ store }

// Pauses implements driver.Store.
func (s acquitted) Pauses(ctx context.Context) ([]journal.Pause, error) {
	list, err := s.store.Pauses(ctx)
	for i := range list {
		list[i].Unheeded = nil
	}
	return list, err
}

// amnesic does not look whether an action that is done once was done, and shows the newest entry of
// the audit alone, so that a page of a job that is repeated finds nothing of what was done.
type amnesic struct{ store }

// Admin implements driver.Store.
func (s amnesic) Admin(ctx context.Context, a driver.AdminAction) (driver.AdminOutcome, error) {
	a.Once = nil
	return s.store.Admin(ctx, a)
}

// Audit implements driver.Store.
func (s amnesic) Audit(ctx context.Context, f journal.AuditFilter) ([]journal.AuditEntry, error) {
	if f.Run.IsZero() && f.Limit > 1 {
		return nil, nil
	}
	list, err := s.store.Audit(ctx, f)
	for i := range list {
		list[i].Reason = ""
	}
	return list, err
}

// workedOften has jobs whose nodes die one after the other.
func workedOften(p *plan) {
	p.Faults = nil
	for i := range 12 {
		p.Faults = append(p.Faults, fault{At: time.Duration(i+1) * 170 * time.Millisecond, Kind: crash, Node: 1 + i%len(p.Nodes), For: 10 * time.Millisecond})
	}
	for i := range p.Runs {
		p.Runs[i].At /= 100
	}
	p.Jobs = []jobPlan{{At: 300 * time.Millisecond, Verb: bulk.Resume}, {At: 900 * time.Millisecond, Verb: bulk.Resume}}
}

// rewoundOften has operators go back in every run again and again.
func rewoundOften(p *plan) {
	m := &maker{Rand: randOf(p.Seed)}
	for i := range p.Runs {
		r := &p.Runs[i]
		for range 6 {
			r.Sends = append(r.Sends, m.back())
		}
		slices.SortStableFunc(r.Sends, func(a, b send) int { return cmp.Compare(a.At, b.At) })
	}
}

// scopedOften pauses all runs again and again, and restarts the nodes meanwhile.
func scopedOften(p *plan) {
	p.Faults = nil
	for i := range scopes {
		at := time.Duration(1+2*i) * time.Second
		p.Faults = append(p.Faults, fault{At: at, Kind: pauseScope, Node: i, For: 1900 * time.Millisecond})
		for k := range p.Nodes {
			p.Faults = append(p.Faults, fault{At: at + 500*time.Millisecond, Kind: crash, Node: k + 1, For: 10 * time.Millisecond})
		}
	}
}
