package journaltest

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/state"
)

// asks is the first event of a run that issues commands other than steps.
func asks(list ...journal.Issued) journal.Event {
	return journal.Event{Kind: journal.RunStarted, Issued: list}
}

func asksChild(children int) journal.Event {
	list := make([]journal.Issued, children)
	for i := range list {
		list[i] = journal.Issued{Kind: journal.CommandChild, Name: flow}
	}
	return asks(list...)
}

func asksSend(names ...string) journal.Event {
	list := make([]journal.Issued, len(names))
	for i, name := range names {
		list[i] = journal.Issued{Kind: journal.CommandSend, Name: name}
	}
	return asks(list...)
}

// child returns the start of a child that command cmd of this run asks for.
func (o *owner) child(cmd journal.Cmd, policy journal.ClosePolicy) journal.Start {
	return journal.Start{ID: journal.NewRunID(), Workflow: flow,
		Parent: &journal.Parent{Run: o.run, Generation: o.gen, Cmd: cmd, Policy: policy}}
}

// bears starts a child for each policy, in the first turn of this run, and returns their ids.
func (o *owner) bears(policies ...journal.ClosePolicy) []journal.RunID {
	o.k.t.Helper()
	c := o.build(keep, asksChild(len(policies)))
	ids := make([]journal.RunID, len(policies))
	for i, policy := range policies {
		c.Starts = append(c.Starts, o.child(journal.Cmd(i+1), policy))
		ids[i] = c.Starts[i].ID
	}
	o.submit(c)
	return ids
}

// takeAll claims everything that is due, and returns it by run.
func (k *kit) takeAll(node journal.NodeID) map[journal.RunID]*owner {
	k.t.Helper()
	owners := map[journal.RunID]*owner{}
	for _, task := range k.claim(node, 1000).Tasks {
		owners[task.Task.Run] = k.owner(node, task)
	}
	return owners
}

// takeRun claims everything that is due, which must hold a run.
func (k *kit) takeRun(node journal.NodeID, run journal.RunID) *owner {
	k.t.Helper()
	o := k.takeAll(node)[run]
	if o == nil {
		k.t.Fatalf("run %s is not due", run)
	}
	return o
}

// closing builds the close of a run that applies the policies of its children.
func (o *owner) closing(events ...journal.Event) driver.Commit {
	c := o.build(closed, append(events, completed(`"done"`))...)
	c.Children = true
	return c
}

// withOutcome adds to a closing commit what tells the run's parent.
func (o *owner) withOutcome(c driver.Commit) driver.Commit {
	o.k.t.Helper()
	r := o.k.row(o.run)
	m, waits := r.ParentMessage(c.Terminal())
	if !waits {
		o.k.t.Fatalf("run %s has no parent", o.run)
	}
	c.Messages = append(c.Messages, m)
	return c
}

// aimed returns a signal to another run that command cmd of the sender wants an answer to.
func aimed(cmd journal.Cmd, run journal.RunID, name, key string) journal.Message {
	m := signal(run, name, key)
	m.Cmd = cmd
	return m
}

func update(run journal.RunID, name, key string) journal.Message {
	m := signal(run, name, key)
	m.Kind = journal.MessageUpdate
	return m
}

// first returns the message that a run must consume next.
func (k *kit) first(run journal.RunID) journal.Message {
	k.t.Helper()
	h := k.history(run)
	if len(h.Inbox) == 0 {
		k.t.Fatalf("nothing waits for run %s", run)
	}
	return h.Inbox[0]
}

// waits returns what a run has not consumed, which must be so many messages.
func (k *kit) waits(run journal.RunID, messages int) []journal.Message {
	k.t.Helper()
	h := k.history(run)
	if len(h.Inbox) != messages {
		k.t.Fatalf("%d messages wait for run %s, want %d: %+v", len(h.Inbox), run, messages, h.Inbox)
	}
	return h.Inbox
}

// inboxOf returns what waits for a run in short: the kind, the name and the number.
func inboxOf(k *kit, run journal.RunID) (list []string) {
	k.t.Helper()
	for _, m := range k.history(run).Inbox {
		list = append(list, fmt.Sprintf("%d %s %d", m.Kind, m.Name, m.Number))
	}
	return list
}

// inboxIs compares what waits for a run with messages of kinds and names, from number 1.
func (k *kit) inboxIs(run journal.RunID, want ...string) {
	k.t.Helper()
	k.same(fmt.Sprintf("the inbox of run %s", run), inboxOf(k, run), want)
}

// failure decodes a payload.
func (k *kit) failure(p journal.Payload) *journal.Failure {
	k.t.Helper()
	f, err := journal.DecodeFailure(p)
	k.ok(err)
	return f
}

// gone fails if there is a run with the id.
func (k *kit) gone(run journal.RunID) {
	k.t.Helper()
	if h := k.load(driver.LoadRequest{Run: run}); h.Err == nil {
		k.t.Errorf("run %s exists: %+v", run, h.Run)
	}
}

// stateOf reads everything.
func stateOf(k *kit) state.State {
	k.t.Helper()
	s, err := state.Of(k.ctx, k.view)
	k.ok(err)
	s.Nodes = nil // leases are renewed
	return s
}

// unchanged fails if what a function does shows anywhere.
func (k *kit) unchanged(what string, do func()) {
	k.t.Helper()
	before := stateOf(k)
	do()
	k.same(what+" changed the state", stateOf(k), before)
}
