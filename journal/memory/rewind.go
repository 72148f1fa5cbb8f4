package memory

import (
	"bytes"
	"maps"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// rewind makes the next generation of a run out of the beginning of its present one (J13). All that
// can refuse it is looked at before the first change.
func (db *database) rewind(r *record, w *driver.Rewind, now time.Time) error {
	if r.run.Generation != w.Generation || int(w.Head.Seq) > len(r.events) ||
		w.Head.Seq > 0 && r.events[w.Head.Seq-1].Link != w.Head.Link || w.AtEnd && int(w.Head.Seq)+int(w.Behind) < len(r.events) {
		return driver.ErrMoved
	}
	attempts, err := driver.EncodeAttempts(w.Attempts())
	if err != nil {
		return err
	}
	if key := r.run.Key; key != "" && !r.holdsKey {
		if holder := db.keys[key]; holder != nil {
			return &journal.KeyConflictError{Key: key, Run: holder.run.ID, Workflow: holder.run.Workflow}
		}
		db.keys[key], r.holdsKey = r, true
	}
	in := w.Inbox(r.run.Continued, unreadBehind(db, r, w))
	db.dequeue(r)
	if owner := db.nodes[r.task.Owner]; owner != nil {
		owner.recalled++
	}
	kept := slices.Clone(r.events[:w.Head.Seq])
	r.past, r.events = append(r.past, r.events), kept
	r.readAgain(w, &in)
	r.run.Generation++
	r.run.Rewound = w.Next.Clone()
	if w.Version != 0 {
		r.run.Input, r.run.Version = clonePayload(w.Input), w.Version
	}
	reopened := !r.open
	// A task that no commit has changed is that of a run without a history, which nobody loads.
	t := journal.Task{Run: r.run.ID, Queue: r.run.Queue, Workflow: r.run.Workflow, Priority: r.run.Priority, Turn: 1, InboxLast: journal.InboxSeq(len(r.inbox))}
	if reopened { // its timers stood still until it was closed
		r.run.Freezes = driver.EndFreeze(r.run.Freezes, instant(r.run.ClosedAt))
	} else {
		t.Fence, t.Turn, t.State = r.task.Fence, r.task.Turn+1, driver.RewoundState(r.task.State)
	}
	due := now
	if w.Head.Seq == 0 && r.run.StartAt.After(now) { // it begins anew, and its time has not come
		due = r.run.StartAt
	}
	t.Generation, t.Version, t.VisibleAt = r.run.Generation, r.run.Version, due
	if t.State == journal.Limited {
		t.VisibleAt = time.Time{}
	}
	r.task, r.attempts, r.waiting, r.unconfirmed = t, attempts, "", false
	if reopened && len(r.run.Limits) > 0 {
		awaitLimits(db, r, due)
	} else if w.Version != 0 && db.limits.awaits(r.run.ID) {
		db.limits.reroute(db, r)
	}
	r.open, r.run.Status, r.run.ClosedAt = true, journal.Open, time.Time{}
	db.enqueue(r, now)
	if reopened {
		db.addChild(r)
	}
	db.rewindChildren(r, w, now)
	return nil
}

// unreadBehind returns the messages of a run that are not consumed behind the point.
func unreadBehind(db *database, r *record, w *driver.Rewind) (list []driver.Unread) {
	from := w.From(r.run.Continued)
	numbers := from.Carried
	for n := from.Seen + 1; int(n) <= len(r.inbox); n++ {
		numbers = append(numbers, n)
	}
	for _, n := range numbers {
		a, answered := r.answers[n]
		m := &r.inbox[n-1]
		list = append(list, driver.Unread{Number: n, Kind: m.Kind, Name: m.Name, Answered: answered && !a.Rejected, Rejected: a.Rejected, Stale: isStale(db, r, n)})
	}
	return list
}

// isStale tells whether a message is the answer of a child of the run that has gone on since.
func isStale(db *database, r *record, n journal.InboxSeq) bool {
	m := &r.inbox[n-1]
	a := driver.Answer{Kind: m.Kind, Key: m.Key, Payload: m.Payload}
	id, _, ok := a.Child()
	if !ok || r.known[m.Key] != n { // or it was freed before
		return ok
	}
	child := db.runs[id]
	if child == nil || child.run.Parent == nil || child.run.Parent.Run != r.run.ID {
		return false
	}
	return child.open || !a.Tells(child.terminal())
}

// readAgain puts the inbox back to where the kept events have left it.
func (r *record) readAgain(w *driver.Rewind, in *driver.Inbox) {
	r.run.Continued = &in.Begin
	now := *w
	now.Whole = false
	front := now.From(&in.Begin)
	r.front = inboxFront{carried: front.Carried, seen: front.Seen}
	for _, n := range in.Reopen {
		delete(r.answers, n)
	}
	for _, n := range in.Discard {
		r.answers[n] = journal.Answer{Payload: driver.Discarded()}
	}
	for _, n := range in.Freed {
		if key := r.inbox[n-1].Key; driver.FreedKey(key, n) != key {
			delete(r.known, key)
		}
	}
}

// rewindChildren cancels open children that nobody waits for any more, and brings the answers of
// those that have ended while the run was closed.
func (db *database) rewindChildren(r *record, w *driver.Rewind, now time.Time) {
	for _, c := range slices.SortedFunc(maps.Values(db.children[r.run.ID]), byRunID) {
		if w.Orphans(c.run.Parent) {
			db.deliver(journal.OrphanCancel(c.run.ID), now)
		}
	}
	for _, c := range slices.SortedFunc(maps.Values(db.runs), byRunID) {
		if p := c.run.Parent; p == nil || p.Run != r.run.ID || c.open || !w.Started(p.Generation, p.Cmd) {
			continue
		}
		if m, waits := c.run.ParentMessage(c.terminal()); waits {
			db.deliver(m, now) // a duplicate, if it came before the run was closed
		}
	}
}

func byRunID(a, b *record) int { return bytes.Compare(a.run.ID[:], b.run.ID[:]) }
