package journaltest

import (
	"context"
	"errors"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A store that was closed by its own program does not come back, so nobody must wait for it.
var shutChecks = []check{
	{"Closed_NobodyWaitsForAClosedStore", nobodyWaits},
}

// Every verb of a store that was closed, and a watch that was under way, fails at once with
// ErrStoreClosed, which is not ErrUnavailable: callers repeat that.
func nobodyWaits(k *kit) {
	s, ok := k.store.(interface{ Close() })
	if !ok {
		k.t.Fatalf("the store under test, a %T, has no Close", k.store)
	}
	m, err := k.j.Join(k.ctx, journal.Node{Name: "node", Routes: []journal.Route{flowRoute}, Lease: leaseLong, Grace: graceOfNodes})
	k.ok(err)
	own := k.own(m.ID(), 1)[0]
	watched, heard := make(chan error, 1), make(chan struct{}, 1)
	go func() {
		watched <- k.j.Watch(k.ctx, func(driver.Hint) {
			select {
			case heard <- struct{}{}:
			default:
			}
		})
	}()
	select {
	case <-heard:
	case <-time.After(patience):
		k.t.Fatal("the watch does not begin")
	}
	k.shut = true
	s.Close()
	ctx, cancel := context.WithTimeout(k.ctx, patience)
	defer cancel()
	calls := map[string]func() error{
		"watch": func() error { return k.j.Watch(ctx, func(driver.Hint) {}) },
		"nodes": func() error { _, err := k.j.Nodes(ctx); return err },
		"start": func() error { _, err := k.j.Start(ctx, nil, []journal.Start{{Workflow: flow}}); return err },
		"send": func() error {
			_, err := k.j.Send(ctx, nil, []journal.Message{{Run: own.run, Kind: journal.MessageSignal, Name: "s"}})
			return err
		},
		"claim":  func() error { _, err := k.j.Claim(ctx, driver.ClaimRequest{Node: m.ID(), Max: 1}); return err },
		"commit": func() error { _, err := k.j.Commit(ctx, []driver.Commit{own.build(keep, started())}); return err },
		"load":   func() error { _, err := k.j.Load(ctx, []driver.LoadRequest{{Run: own.run}}); return err },
		"list":   func() error { _, err := k.j.List(ctx, journal.ListFilter{}); return err },
		"ends":   func() error { _, err := k.j.Ends(ctx, []journal.RunID{own.run}); return err },
		"admin": func() error {
			_, err := k.j.Admin(ctx, driver.AdminAction{Run: own.run, Kind: driver.AdminTerminate})
			return err
		},
		"audit": func() error { _, err := k.j.Audit(ctx, journal.AuditFilter{}); return err },
		"join": func() error {
			_, err := k.j.Join(ctx, journal.Node{Name: "late", Lease: leaseLong, Grace: graceOfNodes})
			return err
		},
		"renew":   func() error { _, err := m.Renew(ctx); return err },
		"look":    func() error { _, err := m.Look(ctx); return err },
		"owned":   func() error { _, err := m.Owned(ctx); return err },
		"release": func() error { return m.Release(ctx, []driver.Holding{{Run: own.run}}) },
		"reap":    func() error { _, err := m.Reap(ctx, nil); return err },
		"leave":   func() error { return m.Leave(ctx) },
	}
	if tx, ok := k.store.(driver.TxStore); ok {
		calls["begin"] = func() error { _, err := tx.Begin(ctx); return err }
	}
	check := func(verb string, err error) {
		if !errors.Is(err, journal.ErrStoreClosed) || errors.Is(err, journal.ErrUnavailable) {
			k.t.Errorf("%s: got %v, want ErrStoreClosed", verb, err)
		}
	}
	check("the watch from before", <-watched)
	for range 2 { // the second time after a leave, whatever the order
		for verb, call := range calls {
			check(verb, call())
		}
	}
}
