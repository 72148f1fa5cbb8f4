package postgres_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// aside are words of requests that belong to no call: sessions that are opened and asked whether
// they live, questions after other processes, and hints.
var aside = []string{"pg_advisory_lock_shared", "select n.process from", "ping", "listen", "pg_notify"}

// cutRequest loses the n-th request from now that belongs to a call, and all of its connection.
// happened disarms the link and tells whether there was such a request.
func (p *proxied) cutRequest(n int) (happened func() bool) {
	count, cut := 0, make(chan struct{})
	p.link.CutBefore(func(at pgtest.Point) bool {
		if !at.Answered || slices.ContainsFunc(aside, at.Mentions) {
			return false
		}
		count++
		return count == n
	}, func() { close(cut) })
	return func() bool {
		p.link.CutWhen(nil, nil)
		select {
		case <-cut:
			return true
		default:
			return false
		}
	}
}

// TestJ4_NoLostRequestIsASuccess: whichever request of a call never reaches the server, the call
// does not say that it was carried out. Each call is made on something new until all its requests
// have been lost once, and then once more without a fault.
func TestJ4_NoLostRequestIsASuccess(t *testing.T) {
	t.Parallel()
	p := newProxied(t)
	ctx := t.Context()
	member := func() driver.Membership {
		m, err := p.j.Join(ctx, journal.Node{Name: "other", Routes: []journal.Route{flowRoute}, Lease: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = m.Leave(t.Context()) })
		return m
	}
	starts := func(list ...journal.Start) func() error {
		return func() error {
			for i := range list {
				list[i].Workflow = "flow"
			}
			out, err := p.j.Start(ctx, nil, list)
			for _, o := range out {
				err = errors.Join(err, o.Err, o.Sent.Err)
			}
			return err
		}
	}
	commits := func(list ...driver.Commit) func() error {
		return func() error {
			out, err := p.j.Commit(ctx, list)
			for _, o := range out {
				err = errors.Join(err, o.Err)
			}
			return err
		}
	}
	run := func() journal.RunID { return start(t, p.direct, journal.Start{Delay: time.Hour}).Run }
	first := func(next driver.Next, events ...journal.Event) driver.Commit {
		return commitOf(p.j, born(t, p.direct, p.node), next, append([]journal.Event{began("a")}, events...)...)
	}
	calls := map[string]func() func() error{
		"start one":  func() func() error { return starts(journal.Start{}) },
		"start many": func() func() error { return starts(journal.Start{}, journal.Start{Owner: p.node}) },
		"start with a key that is taken": func() func() error {
			key := journal.NewRunID().String()
			start(t, p.direct, journal.Start{Key: key})
			return starts(journal.Start{Key: key}, journal.Start{Key: key + "b", Reuse: journal.ReuseAllow})
		},
		"start with a message": func() func() error {
			return starts(journal.Start{Message: &journal.Message{Kind: journal.MessageSignal, Name: "s"}})
		},
		"send": func() func() error {
			m := []journal.Message{{Run: run(), Kind: journal.MessageSignal, Name: "s"}}
			return func() error {
				out, err := p.j.Send(ctx, nil, m)
				if err == nil {
					err = out[0].Err
				}
				return err
			}
		},
		"claim": func() func() error {
			start(t, p.direct, journal.Start{})
			return func() error {
				c, err := p.j.Claim(ctx, driver.ClaimRequest{Node: p.node, Routes: []journal.Route{flowRoute}, Max: 100})
				if err == nil && len(c.Tasks) == 0 {
					err = errors.New("nothing claimed")
				}
				return err
			}
		},
		"commit one":  func() func() error { return commits(first(keep)) },
		"commit many": func() func() error { return commits(first(keep), first(park)) },
		"close many":  func() func() error { return commits(first(closing, completed()), first(closing, completed())) },
		"append": func() func() error {
			c := first(keep)
			commit(t, p.direct, c)
			return commits(appending(c, stepDone(1, "a")))
		},
		"commit with effects": func() func() error {
			c := first(keep)
			c.Messages = []journal.Message{{Run: run(), Kind: journal.MessageSignal, Name: "s"}}
			c.Starts = []journal.Start{{Workflow: "flow", Delay: time.Hour, Parent: &journal.Parent{Run: c.Run, Generation: 1, Cmd: 2}}}
			return commits(c, first(keep))
		},
		"load": func() func() error {
			c := first(keep)
			commit(t, p.direct, c)
			return func() error {
				list, err := p.j.Load(ctx, []driver.LoadRequest{{Run: c.Run}})
				if err == nil && (list[0].Err != nil || len(list[0].Events) != 1) {
					err = fmt.Errorf("loaded %+v", list[0])
				}
				return err
			}
		},
		"list": func() func() error {
			id := run()
			return func() error {
				page, err := p.j.List(ctx, journal.ListFilter{IDs: []journal.RunID{id}})
				if err == nil && (len(page.Runs) != 1 || page.Now.IsZero()) {
					err = fmt.Errorf("listed %+v", page)
				}
				return err
			}
		},
		"list nothing": func() func() error {
			return func() error {
				page, err := p.j.List(ctx, journal.ListFilter{Workflow: "none"})
				if err == nil && page.Now.IsZero() {
					err = errors.New("a page without a time")
				}
				return err
			}
		},
		"nodes": func() func() error {
			return func() error {
				list, err := p.j.Nodes(ctx)
				if err == nil && len(list) == 0 {
					err = errors.New("no nodes")
				}
				return err
			}
		},
		"join": func() func() error {
			return func() error {
				m, err := p.j.Join(ctx, journal.Node{Name: "other", Routes: []journal.Route{flowRoute}, Lease: time.Hour})
				if err == nil {
					err = m.Leave(ctx)
				}
				return err
			}
		},
		"look":  func() func() error { m := member(); return func() error { _, err := m.Look(ctx); return err } },
		"reap":  func() func() error { m := member(); return func() error { _, err := m.Reap(ctx, nil); return err } },
		"leave": func() func() error { m := member(); return func() error { return m.Leave(ctx) } },
		"owned": func() func() error {
			m := member()
			born(t, p.j, m.ID())
			return func() error {
				list, err := m.Owned(ctx)
				if err == nil && len(list) != 1 {
					err = fmt.Errorf("owns %v", list)
				}
				return err
			}
		},
		"release": func() func() error {
			m := member()
			c := born(t, p.j, m.ID())
			return func() error {
				err := m.Release(ctx, []driver.Holding{{Run: c.Run.ID, Generation: 1, Fence: c.Task.Fence}})
				if err == nil && events(t, p.direct, c.Run.ID) != nil {
					err = errors.New("events")
				}
				return err
			}
		},
	}
	for _, kind := range []driver.AdminKind{driver.AdminResume, driver.AdminTerminate, driver.AdminSetLabels, driver.AdminSetPriority} {
		calls[fmt.Sprint("admin ", kind)] = func() func() error {
			a := driver.AdminAction{Run: run(), Kind: kind, Reason: "a test", Labels: map[string]*string{"a": new("1")}, Priority: 5}
			return func() error { _, err := p.j.Admin(ctx, a); return err }
		}
	}
	for name, prepare := range calls {
		for n := 1; ; n++ {
			call := prepare()
			happened := p.cutRequest(n)
			err := call()
			if !happened() {
				if err != nil || n == 1 {
					t.Errorf("%s, without a fault: %v, after %d that were lost", name, err, n-1)
				}
				break
			}
			if !errors.Is(err, journal.ErrUnavailable) {
				t.Errorf("%s, request %d is lost: got %v, want %v", name, n, err, journal.ErrUnavailable)
			}
		}
	}
}
