package journaltest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/faulty"
	"github.com/reprise-run/reprise/journal/journaltest/state"
)

// scenarioEnd is what a scenario leaves, without what differs from one repetition to the next.
type scenarioEnd struct {
	Answers []string // that do not depend on how often a call was made
	Runs    []state.Run
}

// performer carries a scenario out, and repeats calls whose outcome it does not know.
type performer struct {
	ctx   context.Context
	j     *driver.Journal
	route journal.Route
	ids   []journal.RunID
	nodes []driver.Membership
	owned map[journal.RunID]*owner
	end   scenarioEnd
}

// performerTries bounds how often a call is repeated. A scenario has one fault.
const performerTries = 3

// lost ends a scenario that cannot go on.
type lost struct{ err error }

// scenario carries the scenario out on a store, with runs and a workflow of its own. It also tells
// how many faults it met.
func scenario(ctx context.Context, store driver.Store, decide func(faulty.Call) faulty.Fault) (end scenarioEnd, faults int, err error) {
	f := faulty.New(store, &faulty.Options{Decide: decide})
	d := &performer{ctx: ctx, j: driver.New(f, nil), owned: map[journal.RunID]*owner{}}
	d.route = journal.Route{Queue: journal.DefaultQueue, Workflow: "faults " + journal.NewRunID().String(), Version: 1}
	for range 9 {
		d.ids = append(d.ids, journal.NewRunID())
	}
	err = d.live(store)
	return d.end, f.Faults(), err
}

// live ends early with the error of a call that cannot be carried out.
func (d *performer) live(store driver.Store) (err error) {
	defer func() {
		r := recover()
		l, ok := r.(lost)
		if r != nil && !ok {
			panic(r)
		}
		err = l.err
	}()
	d.first()
	d.second()
	d.third()
	d.read(store)
	return nil
}

// repeat makes a call until its outcome is known.
func (d *performer) repeat(what string, call func() error) {
	var err error
	for range performerTries {
		if err = call(); !errors.Is(err, journal.ErrUnavailable) {
			break
		}
	}
	if err != nil {
		panic(lost{fmt.Errorf("%s: %w", what, err)})
	}
}

func (d *performer) note(format string, args ...any) {
	d.end.Answers = append(d.end.Answers, fmt.Sprintf(format, args...))
}

// first is the life under node 0: starts, messages, and every kind of commit.
func (d *performer) first() {
	a, b, c := d.ids[0], d.ids[1], d.ids[2]
	node := d.join()
	key := d.route.Workflow
	d.start(journal.Start{ID: a, Key: key}, journal.Start{ID: b, Labels: map[string]string{"l": "b"}},
		journal.Start{ID: c, Owner: node}, journal.Start{ID: d.ids[3], Delay: time.Hour})
	d.send(signal(a, "s", "1"), signal(b, "s", "1"), signal(a, "s", "2"))
	d.claim(node, a, b, c)
	d.commit(d.owned[a].build(keep, started("x"), d.message(a, 1)), d.owned[b].build(park, started()),
		d.owned[c].build(closed, started(), completed("c")))
	d.commit(d.owned[a].build(keep, stepDone(1, "x", "1", "y")))
	d.claim(node, b) // its message made it visible (J6)
	d.send(signal(b, "s", "2"))
	d.commit(d.owned[b].build(park, d.message(b, 1), d.message(b, 2)))
	d.admin(b, driver.AdminResume, nil)
	d.claim(node, b)
	blocked := d.owned[b].build(block("code changed", d.j.Now().Add(time.Hour)))
	blocked.Attempts = []journal.Attempt{{Cmd: 1, Name: "x", Made: 1}}
	d.commit(blocked)
	d.repeat("renew", func() error { _, err := d.nodes[0].Renew(d.ctx); return err })
	d.repeat("look", func() error { _, err := d.nodes[0].Look(d.ctx); return err })
	d.repeat("leave", func() error { return d.nodes[0].Leave(d.ctx) })
}

// second is the life under node 1, which takes over.
func (d *performer) second() {
	a, b, c, e := d.ids[0], d.ids[1], d.ids[2], d.ids[4]
	node := d.join() // which makes the blocked run visible
	d.claim(node, a, b)
	d.commit(d.owned[a].build(closed, stepDone(2, "y", "2"), d.message(a, 2), completed("a")), d.owned[b].build(release))
	d.start(journal.Start{ID: e, Key: d.route.Workflow, Reuse: journal.ReuseAllow})
	d.send(signal(a, "s", "2"), signal(e, "s", "1"))
	d.admin(b, driver.AdminTerminate, journal.ErrClosed)
	d.admin(c, driver.AdminDelete, journal.ErrNotFound)
	d.claim(node, e)
	d.commit(d.owned[e].build(keep, started("z")))
	d.repeat("reap", func() error { _, err := d.nodes[1].Reap(d.ctx, nil); return err })
	d.repeat("nodes", func() error { _, err := d.j.Nodes(d.ctx); return err })
	d.commit(d.owned[e].build(keep, d.message(e, 1)))
	d.repeat("leave", func() error { return d.nodes[1].Leave(d.ctx) })
}

// third is a family under node 2: children, messages between runs, replies, a generation, and the
// close of them all.
func (d *performer) third() {
	p, child, sub, e := d.ids[5], d.ids[6], d.ids[7], d.ids[4]
	node := d.join()
	m := update(p, "u", "1")
	d.start(journal.Start{ID: p, Owner: node, Message: &m})
	d.send(update(p, "u", "2"), signal(p, "s", "3"), signal(p, "s", "4"))
	parent := d.owned[p]
	c := parent.build(keep, asks(journal.Issued{Kind: journal.CommandChild, Name: d.route.Workflow}, journal.Issued{Kind: journal.CommandSend, Name: "s"},
		journal.Issued{Kind: journal.CommandChild, Name: d.route.Workflow}))
	taken := parent.child(3, 0)
	c.Starts = []journal.Start{parent.child(1, journal.CloseTerminate), taken}
	c.Starts[0].ID, c.Starts[0].Owner, c.Starts[1].ID, c.Starts[1].Key = child, node, d.ids[8], d.route.Workflow
	c.Messages = []journal.Message{aimed(2, e, "s", "p"), {Run: d.ids[0], Kind: journal.MessageCancel}}
	d.family(&c)
	d.owned[child] = d.newOwner(node, child, journal.FenceAtBirth, 0)
	c = parent.reject(keep, []journal.InboxSeq{2}, d.received(p, 1), d.received(p, 3))
	c.Replies = append(c.Replies, journal.Reply{Number: 1, Payload: journal.Payload{Data: []byte("answer")}})
	d.family(&c)
	d.send(update(p, "u", "2")) // its key was freed
	c = parent.continued(keep, []journal.InboxSeq{3})
	d.family(&c)
	c = d.owned[child].build(keep, asksChild(1))
	c.Starts = []journal.Start{d.owned[child].child(1, journal.CloseCancel)}
	c.Starts[0].ID = sub
	d.family(&c)
	d.claim(node, sub, e)
	c = d.owned[sub].build(park, started())
	d.family(&c)
	c = parent.build(closed, started(), d.received(p, 3), d.received(p, 4), completed("p"))
	c.Children = true
	d.family(&c)
	d.admin(d.ids[0], driver.AdminDelete, journal.ErrNotFound)
	d.claim(node, sub) // which was cancelled
	d.repeat("leave", func() error { return d.nodes[2].Leave(d.ctx) })
}

// family commits a turn with children of the scenario's workflow.
func (d *performer) family(c *driver.Commit) {
	for i := range c.Starts {
		c.Starts[i].Workflow = d.route.Workflow
	}
	d.commit(*c)
}

// received is the event of a message that waits.
func (d *performer) received(run journal.RunID, number journal.InboxSeq) (ev journal.Event) {
	d.repeat("load", func() error {
		list, err := d.j.Load(d.ctx, []driver.LoadRequest{{Run: run, InboxOnly: true}})
		if err == nil {
			for _, m := range list[0].Inbox {
				if m.Number == number {
					ev = m.Event()
				}
			}
		}
		return err
	})
	return ev
}

func (d *performer) join() journal.NodeID {
	d.repeat("join", func() error {
		m, err := d.j.Join(d.ctx, journal.Node{Name: "node", Routes: []journal.Route{d.route}, Lease: leaseLong})
		if err == nil {
			d.nodes = append(d.nodes, m)
		}
		return err
	})
	m := d.nodes[len(d.nodes)-1]
	return m.ID()
}

func (d *performer) start(list ...journal.Start) {
	for i := range list {
		list[i].Workflow = d.route.Workflow
	}
	d.repeat("start", func() error {
		out, err := d.j.Start(d.ctx, nil, list)
		if err == nil {
			for i, o := range out {
				d.note("started %d: same run %v, created %v, owned %v, %v, with message %d, %v", i, o.Run == list[i].ID, o.Created, o.Owned, o.Err,
					o.Sent.Number, o.Sent.Err)
				if o.Owned {
					d.owned[o.Run] = d.newOwner(list[i].Owner, o.Run, journal.FenceAtBirth, 0)
				}
			}
		}
		return err
	})
}

func (d *performer) newOwner(node journal.NodeID, run journal.RunID, fence journal.Fence, turn journal.Turn) *owner {
	o := &owner{k: &kit{j: d.j}, node: node, run: run, gen: 1, fence: fence, turn: turn}
	o.head.Link = journal.OriginOf(run, 1, 0, journal.Payload{}) // of a run without events: others are loaded
	return o
}

func (d *performer) send(list ...journal.Message) {
	d.repeat("send", func() error {
		out, err := d.j.Send(d.ctx, nil, list)
		for i, s := range out {
			d.note("sent %d: number %d, owned %v, %v", i, s.Number, s.Owner != 0, s.Err)
		}
		return err
	})
}

// claim takes what is due until the node owns the runs. What an earlier answer may have told, it
// reconciles.
func (d *performer) claim(node journal.NodeID, runs ...journal.RunID) {
	d.repeat("claim", func() error {
		c, err := d.j.Claim(d.ctx, driver.ClaimRequest{Node: node, Routes: []journal.Route{d.route}, Max: 10, Suspects: 10, Reconcile: true})
		for _, task := range c.Tasks {
			if o := d.owned[task.Task.Run]; o == nil || o.fence < task.Task.Fence {
				d.owned[task.Task.Run] = d.newOwner(node, task.Task.Run, task.Task.Fence, task.Task.Turn)
			}
		}
		return err
	})
	for _, run := range runs {
		o := d.owned[run]
		if o == nil || o.node != node {
			panic(lost{fmt.Errorf("run %s was not claimed", run)})
		}
		d.repeat("load", func() error {
			list, err := d.j.Load(d.ctx, []driver.LoadRequest{{Run: run}})
			if err == nil {
				o.learn(list[0])
			}
			return err
		})
	}
}

func (d *performer) message(run journal.RunID, number journal.InboxSeq) journal.Event {
	m := signal(run, "s", fmt.Sprint(number))
	m.Number = number
	return m.Event()
}

func (d *performer) commit(list ...driver.Commit) {
	d.repeat("commit", func() error {
		out, err := d.j.Commit(d.ctx, list)
		for i, o := range out {
			d.note("committed %d: %v", i, o.Err)
			if o.Err == nil {
				d.owned[list[i].Run].accept(&list[i])
			}
		}
		return err
	})
}

// admin accepts that a repetition finds its work done.
func (d *performer) admin(run journal.RunID, op driver.AdminKind, done error) {
	tries := 0
	d.repeat("admin", func() error {
		tries++
		_, err := d.j.Admin(d.ctx, driver.AdminAction{Run: run, Kind: op, Reason: "a test"})
		if tries > 1 && done != nil && errors.Is(err, done) {
			return nil
		}
		return err
	})
}

// read notes what the store holds in the end, past all faults.
func (d *performer) read(store driver.Store) {
	s, err := state.Of(d.ctx, only{store, d.route.Workflow})
	if err != nil {
		panic(lost{err})
	}
	nodes := map[journal.NodeID]journal.NodeID{}
	for i, m := range d.nodes {
		nodes[m.ID()] = journal.NodeID(i + 1)
	}
	p := state.Plain{IDs: d.ids, Nodes: nodes, Text: map[string]string{d.route.Workflow: "faults"}}
	for i := range s.Runs {
		p.Run(&s.Runs[i])
	}
	d.end.Runs = s.Runs
}

// only narrows the listing of a store to one workflow.
type only struct {
	driver.Store
	workflow string
}

// List implements driver.Store.
func (o only) List(ctx context.Context, f journal.ListFilter) (journal.RunPage, error) {
	f.Workflow = o.workflow
	return o.Store.List(ctx, f)
}
