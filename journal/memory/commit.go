package memory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Commit implements driver.Store.
func (s *Store) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	alone := len(commits) == 1
	for i := range commits {
		if commits[i].Tx != nil && !alone {
			return nil, fmt.Errorf("commit %s: a member with a transaction must be alone: %w", commits[i].Run, journal.ErrInvalid)
		}
	}
	if alone && commits[0].Tx != nil {
		out, err := s.commitInTx(ctx, &commits[0])
		return []driver.Outcome{out}, err
	}
	now, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	return s.db.commitAll(commits, now), nil
}

// commitAll writes the turns of a batch first, then what they do to others, in the order of the members. So it makes no
// difference whether a message arrives in the inbox of a member that stands behind the sender's or ahead of it.
func (db *database) commitAll(commits []driver.Commit, now time.Time) []driver.Outcome {
	out := make([]driver.Outcome, len(commits))
	for i := range commits {
		out[i] = db.commit(&commits[i], now)
	}
	var closing []int
	for i := range commits {
		if c := &commits[i]; out[i].Err == nil {
			db.effects(c, &out[i], now)
			if c.Next.Kind == driver.NextClose && c.Children {
				closing = append(closing, i)
			}
		} else if out[i].Err == journal.ErrFenced && c.Tx == nil && db.writtenBefore(c) {
			out[i].Err = nil
		}
	}
	for _, i := range closing { // last: a member that is terminated with its parent may have started children
		out[i].Closed = db.closeChildren(commits[i].Run, nil, now)
	}
	for i := range commits {
		if r := db.runs[commits[i].Run]; out[i].Err == nil && r != nil && r.open {
			out[i].InboxLast = r.task.InboxLast
		}
	}
	return out
}

// written tells a commit that was written by an earlier try from one of a lost owner (J4).
func (db *database) writtenBefore(c *driver.Commit) bool {
	r := db.runs[c.Run]
	return r != nil && (r.open && r.task.Fence == c.Fence && r.task.Turn == c.Turn+1 || r.closedFence == c.Fence && c.Fence > 0)
}

// commit writes one turn into its own run, or returns why not.
func (db *database) commit(c *driver.Commit, now time.Time) driver.Outcome {
	out := driver.Outcome{Now: now, Err: journal.ErrFenced}
	r := db.runs[c.Run]
	if r == nil || !r.open {
		return out
	}
	t := &r.task
	if t.Owner == 0 || t.Owner != c.Node || t.Fence != c.Fence || t.Turn != c.Turn { // J3
		return out
	}
	events, inbox, err := r.next(c)
	if err != nil {
		return driver.Outcome{Err: err}
	}
	attempts, err := driver.EncodeAttempts(c.Attempts)
	if err != nil {
		return driver.Outcome{Err: fmt.Errorf("commit %s: %w: %w", c.Run, journal.ErrInvalid, err)}
	}
	out.Err = nil
	db.dequeue(r)
	defer db.enqueue(r, now)
	r.events, r.front = append(r.events, events...), inbox
	if c.Next.Kind == driver.NextClose { // J7
		status, _ := journal.StatusOf(c.Terminal().Kind)
		db.close(r, status, c.Fence, now)
		return out
	}
	t.Turn++
	t.Strikes, t.Problem, t.State = 0, c.Next.Problem, journal.Ready
	r.unconfirmed, r.attempts, r.waiting = false, attempts, strings.Join(c.Waiting, "\n")
	if c.Next.Kind != driver.NextKeep {
		t.Owner = 0
	}
	switch {
	case c.Next.Kind == driver.NextRelease:
		t.VisibleAt = now
	case c.Next.Kind == driver.NextBlock:
		t.VisibleAt, t.State = instant(c.Next.At), journal.Blocked
	case t.InboxLast > c.InboxSeen: // J6
		t.VisibleAt = now
	case c.Next.Kind == driver.NextPark:
		t.VisibleAt = instant(c.Next.At)
	default:
		t.VisibleAt = time.Time{}
	}
	if c.Continue != nil {
		r.nextGeneration(c.Continue)
	}
	return out
}

// nextGeneration begins the next generation. The task must be lifted: its route may change.
func (r *record) nextGeneration(next *journal.Continue) {
	r.past, r.events = append(r.past, r.events), nil
	r.front = inboxFront{carried: slices.Clone(next.Carried), seen: next.Seen}
	r.run.Generation++
	r.run.Input, r.run.Version = clonePayload(next.Input), next.Version
	r.run.Continued = &journal.Continue{Seen: next.Seen, Carried: slices.Clone(next.Carried)}
	r.task.Generation, r.task.Version = r.run.Generation, next.Version
	r.attempts, r.waiting = nil, ""
}

// close ends a run. Its task must be lifted.
func (db *database) close(r *record, status journal.Status, fence journal.Fence, now time.Time) {
	db.removeChild(r)
	r.open, r.run.Status, r.run.ClosedAt, r.closedFence = false, status, now, fence
	r.task, r.attempts, r.waiting = journal.Task{}, nil, ""
}

// next returns the events of a commit as they are stored, and the inbox behind them. Beyond what a store must refuse, a
// seq that exists (J1), it refuses what no owner that is in its right mind writes: gaps, and messages that do not exist
// or were consumed (J5).
func (r *record) next(c *driver.Commit) ([]journal.Event, inboxFront, error) {
	last, _ := r.newest()
	events := slices.Clone(c.Events)
	for i := range events {
		ev := &events[i]
		switch want := last + journal.Seq(i) + 1; {
		case ev.Seq < want:
			return nil, inboxFront{}, &journal.SeqError{Run: c.Run, Seq: c.Events[0].Seq}
		case ev.Seq > want:
			return nil, inboxFront{}, fmt.Errorf("commit %s: event %d where %d is next (J1): %w", c.Run, ev.Seq, want, journal.ErrInvalid)
		}
		issued, err := journal.DecodeIssued(journal.EncodeIssued(ev.Issued))
		if err != nil {
			return nil, inboxFront{}, fmt.Errorf("commit %s: event %d: %w: %w", c.Run, ev.Seq, journal.ErrInvalid, err)
		}
		ev.Issued, ev.Time, ev.Payload = issued, instant(ev.Time), clonePayload(ev.Payload)
		if ev.Inbox != 0 {
			ev.Payload = journal.Payload{} // stored once, with the message
		}
	}
	inbox, err := r.consume(c)
	if err == nil {
		err = r.checkEffects(c, &inbox)
	}
	if err != nil {
		return nil, inboxFront{}, fmt.Errorf("commit %s: %w: %w", c.Run, journal.ErrInvalid, err)
	}
	return events, inbox, nil
}
