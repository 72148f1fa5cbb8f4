package sqlite

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// effects are what a turn does to others, in the transaction of the turn: so they happen exactly if
// the turn is written (J2).
//
// In a batch all turns are written first, then the effects of each in the order of the members, and
// close policies last. Turns come first so that a message finds the receiver's task as its turn in
// this batch has left it, whichever of the two members stands first. Close policies come last
// because a member that is terminated with its parent may have started children in the same batch.
type effects struct {
	s       *Store
	q       querier
	at      time.Time // of the turn
	arrived arrivals
	lost    *recalls
}

// newEffects begins the effects of a transaction. Each turn sets the time to its own, which its
// outcome reports as well.
func newEffects(s *Store, q querier, lost *recalls) *effects {
	return &effects{s: s, q: q, at: now(), arrived: arrivals{}, lost: lost}
}

// arrivals are the numbers of the newest messages that a transaction has put into inboxes. A member
// that a message was sent to must know it, or it would park without having seen it (J6).
type arrivals map[journal.RunID]journal.InboxSeq

// note notes a message that has arrived.
func (a arrivals) note(run journal.RunID, sent *journal.Sent) {
	if sent.Err == nil && !sent.Duplicate {
		a[run] = max(a[run], sent.Number)
	}
}

// write carries out the effects of a turn that is written, except what applyClosePolicies does.
// The order among them is that of the contract: replies, children, messages.
func (e *effects) write(c *driver.Commit, out *driver.Outcome) error {
	e.at = out.Now
	if err := publish(e.q, c); err != nil {
		return err
	}
	if err := relabel(e.q, c.Run, c.Labels); err != nil {
		return err
	}
	if err := notePause(e.q, c, e.at); err != nil {
		return err
	}
	if c.Limited && c.Next.Kind == driver.NextClose {
		if _, err := e.q.exec(limitEndSQL, uuidArg(c.Run)); err != nil {
			return err
		}
	}
	if len(c.Limits) > 0 {
		if err := askForMore(e.q, c, e.at); err != nil {
			return err
		}
	}
	for i := range c.Replies {
		if err := e.reply(c.Run, &c.Replies[i]); err != nil {
			return err
		}
	}
	if len(c.Starts) > 0 {
		out.Started = make([]journal.Started, len(c.Starts))
	}
	for i := range c.Starts {
		if err := e.start(c, &c.Starts[i], &out.Started[i]); err != nil {
			return err
		}
	}
	if len(c.Messages) > 0 {
		out.Sent = make([]journal.Sent, len(c.Messages))
	}
	for i := range c.Messages {
		if err := e.message(c, &c.Messages[i], &out.Sent[i]); err != nil {
			return err
		}
	}
	return nil
}

// applyClosePolicies applies the close policies of the children that a closed run leaves behind. It
// comes last in a batch: a member that is terminated with its parent may have started children.
func (e *effects) applyClosePolicies(c *driver.Commit, out *driver.Outcome) (err error) {
	if c.Children && c.Next.Kind == driver.NextClose {
		out.Closed, err = e.closeChildren(c.Run, nil)
	}
	return err
}

// start starts a child. If another run has the child's key, the parent gets a message about it,
// like one about the failure of a child.
func (e *effects) start(c *driver.Commit, st *journal.Start, out *journal.Started) (err error) {
	if *out, err = e.s.start(e, st); err != nil {
		return err
	}
	if st.Message != nil && out.Err == nil {
		e.arrived.note(out.Run, &out.Sent)
	}
	if st.Parent == nil { // nobody waits for it
		return nil
	}
	if m, refused := c.RefusedChild(st, out); refused {
		_, err = e.send(&m)
	}
	return err
}

// message sends to another run, and puts the answer into the sender's own inbox if it asked for
// one. The answer comes second, so a run that writes to itself finds its message before the answer
// to it.
func (e *effects) message(c *driver.Commit, m *journal.Message, out *journal.Sent) (err error) {
	if *out, err = e.send(m); err != nil {
		return err
	}
	if answer, wanted := c.SendAnswer(m, out); wanted {
		_, err = e.send(&answer)
	}
	return err
}

// send puts a message of a member into an inbox and notes that it has arrived.
func (e *effects) send(m *journal.Message) (journal.Sent, error) {
	sent, err := send(e.q, m, e.at)
	if err == nil {
		e.arrived.note(m.Run, &sent)
	}
	return sent, err
}

// cancelOldest makes room for a run that comes, and returns what it has closed.
func (e *effects) cancelOldest(a *driver.Arrival, rooms []*driver.LimitRoom) (closed []journal.RunID, err error) {
	for _, r := range rooms {
		for _, k := range a.Oldest {
			if r == nil || r.LimitKey != k || err != nil {
				continue
			}
			var oldest journal.RunID
			err = e.q.query(limitOldestSQL, func(r row) error { oldest = r.id(0); return nil }, k.Name, k.Key)
			if err == nil && !oldest.IsZero() {
				closed, err = e.cancelWaiting(oldest, &driver.LimitEnd{LimitKey: k, MaxBacklog: r.Limit.MaxBacklog}, closed)
			}
		}
	}
	return closed, err
}

// cancelWaiting closes a run that waits for a limit which is full, and notes it in the audit (J12).
// It appends what it has closed to a list.
func (e *effects) cancelWaiting(run journal.RunID, why *driver.LimitEnd, closed []journal.RunID) ([]journal.RunID, error) {
	t, err := find(e.q, run)
	if err != nil {
		return closed, err
	}
	ev, err := t.end(e, journal.RunCancelled, why.Payload())
	if err != nil {
		return closed, err
	}
	a := why.Action(run)
	if err := note(e.q, &a, t.run.Workflow, "", e.at); err != nil {
		return closed, err
	}
	return e.tellFamily(&t.run, ev, append(closed, run))
}
