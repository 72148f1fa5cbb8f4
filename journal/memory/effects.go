package memory

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// effects does what a written turn does to others, but for the children that a closed run leaves
// behind. The order is that of the commit's fields, and with it the numbers that messages get in
// the run's own inbox. A child that could not start, and a message that its sender asks about, come
// back as messages of this very moment (J2).
func (db *database) effects(c *driver.Commit, out *driver.Outcome, now time.Time) {
	// The run may be closed by now, by its own turn. Replies are kept all the same: a run may
	// answer an update in its last turn.
	r := db.runs[c.Run]
	if c.Published != nil {
		r.run.Published = clonePublished(c.Published)
	}
	if c.Labels != nil {
		r.run.Relabel(c.Labels)
	}
	if len(c.Limits) > 0 {
		askForMore(db, r, c.Limits, now)
	}
	if c.Pause != "" {
		a := c.PauseAction()
		db.note(&a, r.run.Workflow, "", now)
	}
	for _, rep := range c.Replies {
		r.reply(rep)
	}
	for i := range c.Starts {
		o := db.start(&c.Starts[i], now)
		// A start that found its own run of an earlier try counts as created: no message says
		// otherwise.
		if m, refused := c.RefusedChild(&c.Starts[i], &o); refused {
			db.deliver(m, now)
		}
		out.Started = append(out.Started, o)
	}
	for i := range c.Messages {
		o := db.send(&c.Messages[i], now)
		if m, asked := c.SendAnswer(&c.Messages[i], &o); asked {
			db.deliver(m, now)
		}
		out.Sent = append(out.Sent, o)
	}
}

// deliver sends a message of the engine's own. If the run is closed or gone, the
// message is dropped: nobody waits for the engine to hear of that.
func (db *database) deliver(m journal.Message, now time.Time) { db.send(&m, now) }

// reply keeps an answer with its update. One that was rejected leaves no trace: its key is as good
// as new (J5).
func (r *record) reply(rep journal.Reply) {
	r.answers[rep.Number] = journal.Answer{Payload: clonePayload(rep.Payload), Rejected: rep.Rejected}
	// The message stays in the inbox under its number, since numbers have no gaps. Only its key is
	// free.
	if rep.Rejected {
		delete(r.known, r.inbox[rep.Number-1].Key)
	}
}

// terminate closes a run as an operator, or its parent, wants it.
func (db *database) terminate(r *record, reason string, list []journal.RunID, now time.Time) []journal.RunID {
	return end(db, r, journal.Event{Kind: journal.RunTerminated, Payload: journal.TerminatedPayload(reason)}, list, now)
}

// end closes a run whoever owns it: the owner's next commit finds no task and is refused (J3, J7).
// Its parent is told, and its children meet their policies: those that are terminated too come
// behind those of a list. The event's time is not earlier than that of the event before, whose time
// came from the owner.
func end(db *database, r *record, ev journal.Event, list []journal.RunID, now time.Time) []journal.RunID {
	seq, at := r.newest()
	if at.Before(now) {
		at = now
	}
	ev.Seq, ev.Time = seq+1, at
	// Its owner learns that something was taken from it, and no commit can take this end for its
	// own: the event has no link (J4).
	if owner := db.nodes[r.task.Owner]; owner != nil {
		owner.recalled++
	}
	db.dequeue(r)
	r.events = append(r.events, ev)
	status, _ := journal.StatusOf(ev.Kind)
	db.close(r, status, now)
	if m, waits := r.run.ParentMessage(&ev); waits {
		db.deliver(m, now)
	}
	return db.closeChildren(r.run.ID, list, now)
}

// cancelOldest makes room for a run that comes, and returns what it has closed.
func cancelOldest(db *database, a *driver.Arrival, rooms []*driver.LimitRoom, now time.Time) (closed []journal.RunID) {
	spared := func(run journal.RunID) bool { r := db.runs[run]; return r.beyond || r.run.Generation > 1 }
	for _, r := range rooms {
		for _, k := range a.Oldest {
			if r == nil || r.LimitKey != k {
				continue
			}
			why := driver.LimitEnd{LimitKey: k, MaxBacklog: r.Limit.MaxBacklog}
			if run, waits := db.limits.oldest(k, spared); waits {
				closed = cancelWaiting(db, db.runs[run], &why, closed, now)
			}
		}
	}
	return closed
}

// cancelWaiting closes a run that waits for a limit which is full, and notes it in the audit (J12).
// It appends what it has closed to a list.
func cancelWaiting(db *database, r *record, why *driver.LimitEnd, closed []journal.RunID, now time.Time) []journal.RunID {
	a := why.Action(r.run.ID)
	db.note(&a, r.run.Workflow, "", now)
	return end(db, r, journal.Event{Kind: journal.RunCancelled, Payload: why.Payload()}, append(closed, r.run.ID), now)
}
