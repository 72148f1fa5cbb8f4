package journaltest

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/state"
)

const (
	flow         = "flow" // the workflow of most runs
	graceOfNodes = 1500 * time.Millisecond
	leaseLong    = time.Minute            // never runs out during a test
	leaseTiny    = 150 * time.Millisecond // runs out while a test waits for it
	patience     = 90 * time.Second       // for what must happen soon, or after a back-off; a loaded machine is slow
	glance       = 5 * time.Millisecond   // between two looks
)

var flowRoute = journal.Route{Queue: journal.DefaultQueue, Workflow: flow, Version: 1}

// kit is a store under test with shorthands that fail the test. Its methods may be called from the
// test's goroutine only, unless they return an error. When a test that passed ends, everything that
// it left in the store is audited: the invariants hold for every run, whatever the check was about.
type kit struct {
	t     *testing.T
	ctx   context.Context
	store driver.Store
	view  driver.Store // the store without the runs that only fill batches, see crowded
	j     *driver.Journal
	shut  bool // the check has closed the store: there is nothing to audit
}

func newKit(t *testing.T, s driver.Store) *kit {
	k := &kit{t: t, ctx: t.Context(), store: s, view: s, j: driver.New(s, nil)}
	t.Cleanup(func() {
		if !t.Failed() && !k.shut {
			k.audit(context.Background())
		}
	})
	return k
}

func (k *kit) ok(err error) {
	k.t.Helper()
	if err != nil {
		k.t.Fatal(err)
	}
}

// same reports a difference. Empty and nil lists and maps are equal: stores need not tell them
// apart. A want of nil stands for an empty list or map.
func (k *kit) same(what string, got, want any) {
	k.t.Helper()
	if v := reflect.ValueOf(got); want == nil && v.IsValid() && v.Len() == 0 {
		return
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		k.t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// eventually waits until a condition holds.
func (k *kit) eventually(what string, holds func() bool) {
	k.t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(glance)
	defer tick.Stop()
	for !holds() {
		if time.Now().After(deadline) {
			k.t.Fatalf("it did not happen: %s", what)
		}
		<-tick.C
	}
}

// together calls n functions at once and waits for them. The first error fails the test.
func (k *kit) together(n int, fn func(i int) error) {
	k.t.Helper()
	gate, errs := make(chan struct{}), make(chan error, n)
	for i := range n {
		go func() {
			<-gate
			errs <- fn(i)
		}()
	}
	close(gate)
	for range n {
		if err := <-errs; err != nil {
			k.t.Error(err)
		}
	}
	if k.t.Failed() {
		k.t.FailNow()
	}
}

// flowSchema is a schema that the nodes of tests have. A store may write its JSON otherwise.
var flowSchema = json.RawMessage(`{"title":"ü<","type":["string","null"]}`)

// join makes a node that serves flow, and leaves when the test ends.
func (k *kit) join(lease time.Duration, routes ...journal.Route) driver.Membership {
	k.t.Helper()
	if len(routes) == 0 {
		routes = []journal.Route{flowRoute}
	}
	signals := map[journal.Route][]string{routes[0]: {"go", "höh"}}
	types := map[journal.Route][]journal.Type{flowRoute: {{Kind: journal.TypeWorkflow, In: flowSchema, Out: flowSchema}, {Kind: journal.TypeSignal, Name: "höh"}}}
	m, err := k.j.Join(k.ctx, journal.Node{Name: "node", Routes: routes, Signals: signals, Types: types, Lease: lease, Grace: graceOfNodes})
	k.ok(err)
	k.t.Cleanup(func() {
		if err := m.Leave(context.Background()); err != nil {
			k.t.Errorf("leave: %v", err)
		}
	})
	return m
}

// starts returns what was started, in order, or fails.
func (k *kit) starts(list ...journal.Start) []journal.Started {
	k.t.Helper()
	for i := range list {
		if list[i].Workflow == "" {
			list[i].Workflow = flow
		}
	}
	out, err := k.j.Start(k.ctx, nil, list)
	k.ok(err)
	if len(out) != len(list) {
		k.t.Fatalf("%d outcomes for %d starts", len(out), len(list))
	}
	for _, o := range out {
		k.ok(o.Err)
	}
	return out
}

// begin starts n runs and returns their ids.
func (k *kit) begin(n int) []journal.RunID {
	k.t.Helper()
	ids := make([]journal.RunID, n)
	for i, o := range k.starts(make([]journal.Start, n)...) {
		ids[i] = o.Run
	}
	return ids
}

// claim takes up to max tasks of flow.
func (k *kit) claim(node journal.NodeID, max int) driver.Claim {
	k.t.Helper()
	c, err := k.j.Claim(k.ctx, driver.ClaimRequest{Node: node, Routes: []journal.Route{flowRoute}, Max: max, Suspects: 1})
	k.ok(err)
	if len(c.Tasks) > max {
		k.t.Fatalf("claimed %d tasks, asked for %d", len(c.Tasks), max)
	}
	return c
}

// own starts n runs and claims them for node.
func (k *kit) own(node journal.NodeID, n int) []*owner {
	k.t.Helper()
	k.begin(n)
	return k.take(node, n)
}

// take claims exactly n tasks for node. More may not be due.
func (k *kit) take(node journal.NodeID, n int) []*owner {
	k.t.Helper()
	c := k.claim(node, n+1)
	if len(c.Tasks) != n {
		k.t.Fatalf("claimed %d tasks, want %d", len(c.Tasks), n)
	}
	owners := make([]*owner, n)
	for i, task := range c.Tasks {
		owners[i] = k.owner(node, task)
	}
	return owners
}

// one is own for a single run.
func (k *kit) one(node journal.NodeID) *owner {
	k.t.Helper()
	return k.own(node, 1)[0]
}

// nothingDue fails if a task of flow can be claimed.
func (k *kit) nothingDue(node journal.NodeID) {
	k.t.Helper()
	if c := k.claim(node, 1); len(c.Tasks) != 0 {
		k.t.Fatalf("claimed run %s, want nothing", c.Tasks[0].Task.Run)
	}
}

// send puts one signal into an inbox.
func (k *kit) send(run journal.RunID, name, key string) journal.Sent {
	k.t.Helper()
	sent := k.sends(journal.Message{Run: run, Kind: journal.MessageSignal, Name: name, Key: key})[0]
	k.ok(sent.Err)
	return sent
}

func (k *kit) sends(messages ...journal.Message) []journal.Sent {
	k.t.Helper()
	out, err := k.j.Send(k.ctx, nil, messages)
	k.ok(err)
	if len(out) != len(messages) {
		k.t.Fatalf("%d outcomes for %d messages", len(out), len(messages))
	}
	return out
}

// history loads one run.
func (k *kit) history(run journal.RunID) driver.History {
	k.t.Helper()
	h, err := state.Whole(k.ctx, k.j, run)
	k.ok(err)
	k.ok(h.Err)
	return h
}

func (k *kit) load(r driver.LoadRequest) driver.History {
	k.t.Helper()
	list, err := k.j.Load(k.ctx, []driver.LoadRequest{r})
	k.ok(err)
	if len(list) != 1 {
		k.t.Fatalf("%d histories for one request", len(list))
	}
	return list[0]
}

// row returns a run's row, with its task or its terminal event.
func (k *kit) row(run journal.RunID) journal.Run {
	k.t.Helper()
	page, err := k.j.List(k.ctx, journal.ListFilter{IDs: []journal.RunID{run}})
	k.ok(err)
	if len(page.Runs) != 1 {
		k.t.Fatalf("listed %d runs with id %s", len(page.Runs), run)
	}
	return page.Runs[0]
}

// rush makes a task that waits for a time due now, if the store can do that to itself, so that the
// test need not wait.
func (k *kit) rush(run journal.RunID) {
	k.t.Helper()
	if r, ok := k.store.(Rusher); ok {
		k.ok(r.Rush(k.ctx, run))
	}
}

// takeSoon is take for one task that becomes due by itself.
func (k *kit) takeSoon(node journal.NodeID) (o *owner) {
	k.t.Helper()
	k.eventually("a task becomes due", func() bool {
		for _, task := range k.claim(node, 1).Tasks {
			o = k.owner(node, task)
		}
		return o != nil
	})
	return o
}

// expire waits until the lease of a node has run out by the store's clock.
func (k *kit) expire(node journal.NodeID) {
	k.t.Helper()
	if e, ok := k.store.(Expirer); ok {
		k.ok(e.Expire(k.ctx, node))
	}
	k.eventually(fmt.Sprintf("the lease of node %d runs out", node), func() bool {
		nodes, err := k.j.Nodes(k.ctx)
		k.ok(err)
		for _, n := range nodes {
			if n.ID == node {
				return false
			}
		}
		return true
	})
}
