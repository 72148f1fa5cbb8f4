package journaltest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// crowdFlow is the workflow of the runs that share the batches. The checks claim flow, so they
// never own one of these, and crowded hides them from listings.
const crowdFlow = "crowd"

// crowded is a store whose batches of one member become larger ones on the way. The caller sees
// its own member alone.
//
// Calls that race must race in the store, so each takes a crew of its own: the runs of one crew
// are in one call at a time, as the commits of a run have an order.
type crowded struct {
	driver.Store
	position
	kit  *kit // of the store itself
	node journal.NodeID

	mu    sync.Mutex
	crews []*crew // that are in no call
}

// crew is the other members of a batch. Their ids are smaller than those of a check's runs, or
// larger: stores write batches in the order of ids.
type crew struct {
	owners []*owner // before the check's member, then behind it; nil for one that has to be started
	calls  int
}

// with lends a crew, all of whose runs are open and owned. A crew whose call failed is not used
// again: what became of its runs is not known.
func (s *crowded) with(ctx context.Context, f func(c *crew) error) error {
	s.mu.Lock()
	c := &crew{owners: make([]*owner, s.before+s.behind)}
	if n := len(s.crews); n > 0 {
		c, s.crews = s.crews[n-1], s.crews[:n-1]
	}
	s.mu.Unlock()
	if err := s.fill(ctx, c); err != nil {
		return err
	}
	c.calls++
	if err := f(c); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crews = append(s.crews, c)
	return nil
}

// fill starts the runs that a crew lacks.
func (s *crowded) fill(ctx context.Context, c *crew) error {
	var starts []journal.Start
	var places []int
	for i, o := range c.owners {
		if o == nil {
			starts, places = append(starts, s.start(i, s.node)), append(places, i)
		}
	}
	if len(starts) == 0 {
		return nil
	}
	out, err := s.kit.j.Start(ctx, nil, starts)
	if err != nil {
		return err
	}
	for k, i := range places {
		if out[k].Err != nil || !out[k].Owned {
			return fmt.Errorf("start of another member: owned %v, %w", out[k].Owned, out[k].Err)
		}
		c.owners[i] = bornOwner(s.kit, s.node, out[k].Run, starts[k].Input)
	}
	return nil
}

// start returns a start at a place of the crew.
func (s *crowded) start(place int, owner journal.NodeID) journal.Start {
	st := journal.Start{ID: journal.NewRunID(), Workflow: crowdFlow, Owner: owner}
	st.ID[0] = 0
	if place >= s.before {
		st.ID[0] = 0xff
	}
	st.SetDefaults()
	return st
}

// Commit implements driver.Store.
func (s *crowded) Commit(ctx context.Context, commits []driver.Commit) (own []driver.Outcome, err error) {
	if len(commits) != 1 || commits[0].Tx != nil {
		return s.Store.Commit(ctx, commits)
	}
	err = s.with(ctx, func(c *crew) error {
		others := make([]driver.Commit, len(c.owners))
		for i := range others {
			others[i] = s.turn(c, i, commits[0].Next.Kind == driver.NextClose)
		}
		out, err := s.Store.Commit(ctx, slices.Insert(slices.Clone(others), s.before, commits[0]))
		if err != nil {
			return err
		}
		own = slices.Clone(out[s.before : s.before+1])
		for i, o := range slices.Delete(out, s.before, s.before+1) {
			if o.Err != nil {
				return fmt.Errorf("another member of the batch, at place %d: %w", i, o.Err)
			}
			if c.owners[i].accept(&others[i]); others[i].Next.Kind != driver.NextKeep {
				c.owners[i] = nil
			}
		}
		return nil
	})
	return own, err
}

// turn builds the next turn of another member. What it is depends on its place, and on how often
// the crew was lent.
func (s *crowded) turn(c *crew, place int, closes bool) driver.Commit {
	o := c.owners[place]
	switch {
	case closes && len(c.owners) == 1:
		return o.ends()
	case !s.effects:
		return o.plainTurn(place, c.calls)
	}
	return o.turnWithEffects(place, c.owners[(place+1)%len(c.owners)].run)
}

// ends closes a run.
func (o *owner) ends() driver.Commit {
	if o.head.Seq == 0 {
		return o.build(closed, started(), completed("1"))
	}
	return o.build(closed, completed("1"))
}

// step is an event that may follow on any other of these runs.
func (o *owner) step() journal.Event {
	if o.head.Seq == 0 {
		return started("a")
	}
	return stepDone(journal.Cmd(o.head.Seq), "a", "1", "a")
}

// plainTurn is a turn that writes its own run only.
func (o *owner) plainTurn(place, calls int) driver.Commit {
	later := o.k.j.Now().Add(leaseLong)
	switch place % 4 {
	case 0:
		return o.build(keep, o.step())
	case 1:
		return o.append(o.step())
	case 2:
		c := o.build(keep, o.step())
		c.Attempts = []journal.Attempt{{Cmd: journal.Cmd(o.head.Seq) + 1, Name: "a", Made: 3, NextAt: later}}
		return c
	}
	ends := []driver.Next{park, release, parkUntil(later), block("p", later)}
	if n := (place/4 + calls) % (len(ends) + 1); n < len(ends) {
		return o.build(ends[n], o.step())
	}
	return o.ends()
}

// turnWithEffects is a turn that does something to others.
func (o *owner) turnWithEffects(place int, neighbour journal.RunID) driver.Commit {
	switch place % 5 {
	case 0:
		c := o.build(keep, o.step())
		c.Messages = []journal.Message{signal(neighbour, "crowd", journal.NewRunID().String())}
		return c
	case 1:
		return o.continued(keep, nil, started())
	case 2:
		c := o.build(release, asks(journal.Issued{Kind: journal.CommandChild, Name: crowdFlow}))
		child := o.child(1, journal.CloseAbandon)
		child.Workflow, child.Delay = crowdFlow, leaseLong
		child.SetDefaults()
		c.Starts = []journal.Start{child}
		return c
	case 3:
		c := o.ends()
		c.Children = true
		return c
	}
	return o.build(keep, o.step())
}

// Start implements driver.Store. The others have keys before and behind those of checks, or none.
func (s *crowded) Start(ctx context.Context, tx journal.Tx, starts []journal.Start) ([]journal.Started, error) {
	if len(starts) != 1 || tx != nil {
		return s.Store.Start(ctx, tx, starts)
	}
	all := make([]journal.Start, s.before+s.behind)
	for i := range all {
		if all[i] = s.start(i, 0); i%2 == 0 {
			all[i].Key = "!" + all[i].ID.String()
		}
		if i >= s.before && all[i].Key != "" {
			all[i].Key = "~" + all[i].Key
		}
		if i%3 == 0 {
			all[i].Owner = s.node
		} else {
			all[i].Delay = leaseLong
		}
		if m := signal(all[i].ID, "crowd", "1"); s.effects && i%4 == 0 {
			all[i].Message = &m
		}
	}
	out, err := s.Store.Start(ctx, nil, slices.Insert(all, s.before, starts[0]))
	if err != nil {
		return nil, err
	}
	own := slices.Clone(out[s.before : s.before+1])
	for i, o := range slices.Delete(out, s.before, s.before+1) {
		if o.Err != nil || !o.Created {
			return nil, fmt.Errorf("start of another member, at place %d: created %v, %w", i, o.Created, o.Err)
		}
	}
	return own, nil
}

// Send implements driver.Store.
func (s *crowded) Send(ctx context.Context, tx journal.Tx, messages []journal.Message) (own []journal.Sent, err error) {
	if len(messages) != 1 || tx != nil {
		return s.Store.Send(ctx, tx, messages)
	}
	err = s.with(ctx, func(c *crew) error {
		all := make([]journal.Message, len(c.owners))
		for i, o := range c.owners {
			all[i] = signal(o.run, "crowd", journal.NewRunID().String())
		}
		out, err := s.Store.Send(ctx, nil, slices.Insert(all, s.before, messages[0]))
		if err != nil {
			return err
		}
		own = slices.Clone(out[s.before : s.before+1])
		for i, o := range slices.Delete(out, s.before, s.before+1) {
			if o.Err != nil || o.Duplicate || o.Owner != s.node {
				return fmt.Errorf("message to another member, at place %d: %+v", i, o)
			}
		}
		return nil
	})
	return own, err
}

// Begin implements driver.TxStore.
func (s *crowded) Begin(ctx context.Context) (journal.Tx, error) {
	t, ok := s.Store.(driver.TxStore)
	if !ok {
		return nil, journal.ErrInvalid
	}
	return t.Begin(ctx)
}

// List implements journal.Store.
func (s *crowded) List(ctx context.Context, f journal.ListFilter) (journal.RunPage, error) {
	page, err := s.Store.List(ctx, f)
	page.Runs = slices.DeleteFunc(page.Runs, func(r journal.Run) bool { return r.Workflow == crowdFlow })
	return page, err
}

// Nodes implements journal.Store.
func (s *crowded) Nodes(ctx context.Context) ([]journal.Node, error) {
	nodes, err := s.Store.Nodes(ctx)
	return slices.DeleteFunc(nodes, func(n journal.Node) bool { return n.ID == s.node }), err
}
