package journaltest

import (
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// owner is a run in the hands of a node, with what the node knows of it. It builds the commits that
// an actor would, and, where a check wants it, those that an actor must not: the caller changes
// what build returned before it submits it. An owner that is not told of a takeover goes on as a
// zombie does.
type owner struct {
	k     *kit
	node  journal.NodeID
	run   journal.RunID
	gen   journal.Generation
	fence journal.Fence
	turn  journal.Turn
	head  journal.Head // the newest event
	seen  journal.InboxSeq
	at    time.Time // of the newest event

	limited bool // the run holds limits
}

// owner returns the owner of a claimed task, which loads its history.
func (k *kit) owner(node journal.NodeID, c driver.Claimed) *owner {
	k.t.Helper()
	if c.Task.Owner != node || c.Task.Fence < 1 || c.Task.Run != c.Run.ID {
		k.t.Fatalf("claimed task %+v of run %s, want it owned by %d", c.Task, c.Run.ID, node)
	}
	o := &owner{k: k, node: node, run: c.Task.Run, gen: c.Task.Generation, fence: c.Task.Fence, turn: c.Task.Turn,
		limited: len(c.Run.Limits) > 0}
	o.learn(k.history(o.run))
	return o
}

// bornOwner returns the owner of a run that a node owns from its start, with an input.
func bornOwner(k *kit, node journal.NodeID, run journal.RunID, input journal.Payload) *owner {
	o := &owner{k: k, node: node, run: run, gen: 1, fence: journal.FenceAtBirth}
	o.head.Link = journal.OriginOf(run, 1, 0, input)
	return o
}

// learn takes over what a history says.
func (o *owner) learn(h driver.History) {
	o.head = headOf(&h)
	for _, ev := range h.Events {
		o.at = ev.Time
	}
	o.seen = seenOf(h)
}

// headOf returns the newest event of a whole history.
func headOf(h *driver.History) journal.Head {
	if n := len(h.Events); n > 0 {
		return journal.Head{Seq: h.Events[n-1].Seq, Link: h.Events[n-1].Link}
	}
	return journal.Head{Link: originOf(&h.Run)}
}

// seenOf returns the number of the newest message that is consumed, of an open run whose inbox was
// loaded from its beginning. Its events alone do not tell: a rejected message has none.
func seenOf(h driver.History) journal.InboxSeq {
	var behind journal.InboxSeq // of what the generation began with
	if h.Run.Continued != nil {
		behind = h.Run.Continued.Seen
	}
	for _, m := range h.Inbox {
		if m.Number > behind {
			return m.Number - 1
		}
	}
	return h.Run.Task.InboxLast
}

// build returns the commit of the next turn without submitting it. It numbers, dates and links the
// events.
func (o *owner) build(next driver.Next, events ...journal.Event) driver.Commit {
	c := driver.Commit{Run: o.run, Node: o.node, Fence: o.fence, Turn: o.turn, Generation: o.gen, Head: o.head,
		InboxSeen: o.seen, Next: next, Limited: o.limited}
	at := o.at
	if now := o.k.j.Now(); now.After(at) {
		at = now
	}
	for i, ev := range events {
		ev.Seq = o.head.Seq + journal.Seq(i) + 1
		if ev.Time.IsZero() {
			ev.Time = at
		}
		c.InboxSeen = max(c.InboxSeen, ev.Inbox)
		c.Events = append(c.Events, ev)
	}
	chain(&c)
	return c
}

// chain links the events of a commit, which were changed.
func chain(c *driver.Commit) {
	link := c.Head.Link
	for i := range c.Events {
		ev := &c.Events[i]
		ev.Time = ev.Time.UTC().Truncate(time.Microsecond)
		link = ev.LinkAfter(link)
		ev.Link = link
	}
}

// accept takes note that a commit of this owner was written.
func (o *owner) accept(c *driver.Commit) {
	o.seen, o.head = max(o.seen, c.InboxSeen), c.NewHead()
	if o.turn = c.Turn; !c.AppendOnly {
		o.turn++
	}
	if n := len(c.Events); n > 0 {
		o.at = c.Events[n-1].Time
	}
	if next := c.Continue; next != nil {
		o.gen, o.seen = o.gen+1, next.Seen
		o.head = journal.Head{Link: journal.OriginOf(o.run, o.gen, next.Seen, next.Input)}
	}
}

// commit writes the next turn, or fails the test.
func (o *owner) commit(next driver.Next, events ...journal.Event) driver.Outcome {
	o.k.t.Helper()
	return o.submit(o.build(next, events...))
}

// submit writes a commit of this owner, or fails the test.
func (o *owner) submit(c driver.Commit) driver.Outcome {
	o.k.t.Helper()
	out, err := o.k.commits(c)
	o.k.ok(err)
	o.k.ok(out[0].Err)
	if len(out[0].Started) != len(c.Starts) || len(out[0].Sent) != len(c.Messages) {
		o.k.t.Fatalf("%d children and %d messages, but the answer is %+v", len(c.Starts), len(c.Messages), out[0])
	}
	o.accept(&c)
	return out[0]
}

// refused submits a commit that must come back with the error that is.
func (o *owner) refused(c driver.Commit, what string, is func(error) bool) {
	o.k.t.Helper()
	out, err := o.k.commits(c)
	o.k.ok(err)
	if !is(out[0].Err) {
		o.k.t.Errorf("%s: got %v", what, out[0].Err)
	}
}

// commits submits a batch. It may be called from any goroutine.
func (k *kit) commits(list ...driver.Commit) ([]driver.Outcome, error) {
	out, err := k.j.Commit(k.ctx, list)
	if err == nil && len(out) != len(list) {
		err = fmt.Errorf("%d outcomes for %d commits", len(out), len(list))
	}
	return out, err
}

// The next states of a task.
var (
	keep    = driver.Next{Kind: driver.NextKeep}
	park    = driver.Next{Kind: driver.NextPark}
	release = driver.Next{Kind: driver.NextRelease}
	closed  = driver.Next{Kind: driver.NextClose}
)

func parkUntil(at time.Time) driver.Next { return driver.Next{Kind: driver.NextPark, At: at} }

func block(problem string, at time.Time) driver.Next {
	return driver.Next{Kind: driver.NextBlock, Problem: problem, At: at}
}

// The events of a run that runs steps. Each outcome must answer an issued command: the audit checks
// it.

func started(steps ...string) journal.Event {
	ev := journal.Event{Kind: journal.RunStarted}
	for _, name := range steps {
		ev.Issued = append(ev.Issued, journal.Issued{Kind: journal.CommandStep, Name: name})
	}
	return ev
}

func stepDone(cmd journal.Cmd, name, output string, then ...string) journal.Event {
	ev := started(then...)
	ev.Kind, ev.Cmd, ev.Name, ev.Attempt = journal.StepCompleted, cmd, name, 1
	ev.Payload = journal.Payload{Data: []byte(output)}
	return ev
}

func received(m journal.Message) journal.Event { return m.Event() }

func completed(output string) journal.Event {
	return journal.Event{Kind: journal.RunCompleted, Payload: journal.Payload{Data: []byte(output)}}
}

func ended(kind journal.Kind) journal.Event {
	if kind == journal.RunCompleted {
		return completed(`"done"`)
	}
	return journal.Event{Kind: kind, Payload: journal.EncodeFailure(&journal.Failure{Type: "test", Message: kind.String()})}
}
