package driver

import (
	"time"

	"github.com/reprise-run/reprise/journal"
)

// callHints gathers the hints of one call, so that watchers are called after all of its answers are
// known and the store is asked to notify others once.
//
// A hint goes to one side. If a node of this process serves the route, or owns the run, the hint
// stays here; else it goes to the other processes. Both sides get it if all nodes here that serve
// the route are full: one of them must know that somebody waits, and another process may have room.
// And both get it where the journal cannot know who is concerned: when tasks are freed in bulk, and
// when close policies reach runs that the answer does not name.
type callHints struct {
	j             *Journal
	local, remote []Hint
}

func (n *callHints) publish() { n.j.publish(n.local, n.remote) }

// started handles one start. A run that is owned from birth needs no hint: its owner has the
// answer. One that waits for its delay is announced here only, with its time, since another process
// would have to set a timer that its own poll sets anyway.
func (n *callHints) started(st *journal.Start, o *journal.Started) {
	if st.Message != nil && o.Sent.Err == nil && !o.Created {
		n.sent(o.Run, &o.Sent)
	}
	if o.Err != nil || !o.Created || o.Owned {
		return
	}
	n.cancelled(o.Cancelled)
	h := Hint{Kind: HintTasks}
	if st.Delay > 0 {
		h.At = o.StartAt
	}
	if len(st.Limits) > 0 {
		n.limited(h.At)
		return
	}
	n.due(journal.Route{Queue: st.Queue, Workflow: st.Workflow, Version: st.Version}, h)
}

// cancelled handles runs that a start has closed. Parents and children may have got messages.
func (n *callHints) cancelled(runs []journal.RunID) {
	for _, run := range runs {
		n.closed(run, nil, 0)
		n.local, n.remote = append(n.local, Hint{Kind: HintTerminated, Run: run}), append(n.remote, Hint{Kind: HintTerminated, Run: run})
	}
	if len(runs) > 0 {
		n.local, n.remote = append(n.local, Hint{Kind: HintTasks}), append(n.remote, Hint{Kind: HintTasks})
	}
}

// due handles a task of a route that falls due at h.At, or has.
func (n *callHints) due(r journal.Route, h Hint) {
	serves, hasRoom := n.j.local.serves(r)
	if serves {
		n.local = append(n.local, h)
	}
	if !hasRoom && h.At.IsZero() {
		n.remote = append(n.remote, h)
	}
}

// limited handles claims of runs. One node is enough: one of this process, if there is any. Others
// are told of one that is to begin later, too: a node where no run needs a limit looks rarely, and
// finds the time when it does.
func (n *callHints) limited(at time.Time) {
	if n.j.local.hasNodes() {
		n.local = append(n.local, Hint{Kind: HintRunLimits, At: at})
	} else {
		n.remote = append(n.remote, Hint{Kind: HintRunLimits})
	}
}

// sent handles one message. Its answer names the owner of the run, or the route of a run that
// nobody owns and that the message has just made visible.
func (n *callHints) sent(run journal.RunID, o *journal.Sent) {
	switch {
	case o.Err != nil || o.Duplicate:
	case o.Owner != 0:
		h := Hint{Kind: HintInbox, Run: run, Node: o.Owner}
		if n.j.local.hosts(o.Owner) {
			n.local = append(n.local, h)
		} else {
			n.remote = append(n.remote, h)
		}
	default:
		n.due(o.Route, Hint{Kind: HintTasks})
	}
}

// committed handles one accepted turn.
func (n *callHints) committed(c *Commit, o *Outcome) {
	switch c.Next.Kind {
	case NextClose:
		n.closed(c.Run, c.Terminal(), c.Generation)
		if c.Limited || len(o.Closed) > 0 {
			n.limited(time.Time{})
		}
		if c.Children { // requests to those that are open: a claim also tells an owner of unread messages
			n.local, n.remote = append(n.local, Hint{Kind: HintTasks}), append(n.remote, Hint{Kind: HintTasks})
		}
	case NextPark:
		switch {
		case len(c.Limits) > 0:
			n.limited(time.Time{})
		case o.InboxLast > c.InboxSeen:
			n.local = append(n.local, Hint{Kind: HintTasks})
		case !c.Next.At.IsZero() && !c.Next.At.After(o.Now): // its node has no place for it
			n.local = append(n.local, Hint{Kind: HintTasks})
			n.remote = append(n.remote, Hint{Kind: HintTasks})
		case !c.Next.At.IsZero():
			n.local = append(n.local, Hint{Kind: HintTasks, At: c.Next.At})
		}
	case NextRelease: // its own node drains, others in this process or elsewhere may take it
		n.local = append(n.local, Hint{Kind: HintTasks})
		n.remote = append(n.remote, Hint{Kind: HintTasks})
	}
	if len(c.Replies) > 0 {
		n.closed(c.Run, nil, 0)
	}
	for k := range o.Started {
		n.started(&c.Starts[k], &o.Started[k])
	}
	for k := range o.Sent {
		n.sent(c.Messages[k].Run, &o.Sent[k])
	}
	for _, run := range o.Closed {
		n.closed(run, nil, 0)
		n.local, n.remote = append(n.local, Hint{Kind: HintTerminated, Run: run}), append(n.remote, Hint{Kind: HintTerminated, Run: run})
	}
}

// closed handles a run that has ended, or has answered an update. The terminal event goes only as
// far as memory is shared: other processes read it.
func (n *callHints) closed(run journal.RunID, terminal *journal.Event, g journal.Generation) {
	n.local = append(n.local, Hint{Kind: HintClosed, Run: run, Terminal: terminal, Generation: g})
	if n.j.local.closing() {
		n.remote = append(n.remote, Hint{Kind: HintClosed, Run: run})
	}
}

func (j *Journal) hintStarted(starts []journal.Start, index []int, out []journal.Started) {
	n := callHints{j: j}
	for k := range starts {
		n.started(&starts[k], &out[index[k]])
	}
	n.publish()
	j.changes.started(out, index)
}

func (j *Journal) hintSent(messages []journal.Message, index []int, out []journal.Sent) {
	n := callHints{j: j}
	for k := range messages {
		n.sent(messages[k].Run, &out[index[k]])
	}
	n.publish()
	j.changes.sent(messages)
}

func (j *Journal) hintCommitted(commits []Commit, out []Outcome) {
	n := callHints{j: j}
	for i := range commits {
		if out[i].Err == nil {
			n.committed(&commits[i], &out[i])
		}
	}
	n.publish()
	j.changes.committed(commits, out)
}

func (j *Journal) hintAdmin(a AdminAction, owner journal.NodeID) {
	defer j.changes.acted(a)
	if a.View != nil { // no node has anything to do with it
		return
	}
	if a.OnLimit() { // those who wait may go on
		hints := []Hint{{Kind: HintLimit}}
		if a.Kind == AdminReleaseClaim { // a run may begin that has waited
			hints = append(hints, Hint{Kind: HintTasks})
		}
		j.publish(hints, hints)
		return
	}
	if a.Scope != nil || a.Kind == AdminDrain { // every node has to look, or one
		hints := []Hint{{Kind: HintNode}}
		if a.Scope != nil { // its runs that wait for limits are passed, or come back
			hints = append(hints, Hint{Kind: HintLimit})
		}
		j.publish(hints, hints)
		return
	}
	switch a.Kind {
	case AdminTerminate, AdminFork, AdminRetry, AdminReset, AdminSkip, AdminEdit: // its limits end, or it asks for them
		hintLimited(j)
	case AdminPause, AdminInterrupt, AdminResume: // if it waits for limits it leaves its lines, or comes back
		if owner == 0 {
			hintLimited(j)
		}
	}
	switch a.Kind {
	case AdminPause, AdminInterrupt, AdminResume:
		if owner != 0 { // who looks, as for a message
			n := callHints{j: j}
			n.sent(a.Run, &journal.Sent{Owner: owner})
			n.publish()
		} else if a.Kind == AdminResume {
			j.publish([]Hint{{Kind: HintTasks}}, []Hint{{Kind: HintTasks}})
		}
	case AdminFork:
		j.publish([]Hint{{Kind: HintTasks}}, []Hint{{Kind: HintTasks}})
	case AdminRetry, AdminReset, AdminSkip, AdminEdit: // the owner that it had has to look, and children may have got requests
		hints := []Hint{{Kind: HintTerminated, Run: a.Run}, {Kind: HintTasks}}
		j.publish(hints, hints)
	case AdminTerminate: // its parent and its children may have got messages
		hints := []Hint{{Kind: HintTerminated, Run: a.Run}, {Kind: HintClosed, Run: a.Run}, {Kind: HintTasks}}
		j.publish(hints, hints)
	}
}

// hintLimited says that claims of runs have changed.
func hintLimited(j *Journal) {
	n := callHints{j: j}
	n.limited(time.Time{})
	n.publish()
}

func (j *Journal) publish(local, remote []Hint) {
	j.local.publish(local...)
	if len(remote) > 0 {
		j.store.Hints().Notify(remote)
	}
}
