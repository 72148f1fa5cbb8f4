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

// Commit implements driver.Store. Each member has an outcome of its own; none of them can make the
// call fail (J2).
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

// commitAll writes the turns of a batch first, then what they do to others, in the order of the
// members. So it makes no difference whether a message arrives in the inbox of a member that stands
// behind the sender's or ahead of it.
//
// The order within is: all turns, then what each does to others, then the children of the runs that
// closed. A start of one member must be there before another member's close looks for children, and
// a member that is refused because it was written already does nothing of this again (J4).
func (db *database) commitAll(commits []driver.Commit, now time.Time) []driver.Outcome {
	out := make([]driver.Outcome, len(commits))
	for i := range commits {
		out[i] = db.commit(&commits[i], now)
	}
	// Effects in the order of members, so that two runs of one program do the same to each other.
	var closing []int
	for i := range commits {
		if c := &commits[i]; out[i].Err == nil {
			db.effects(c, &out[i], now)
			if c.Next.Kind == driver.NextClose && c.Children {
				closing = append(closing, i)
			}
		} else if out[i].Err == journal.ErrFenced && c.Tx == nil && c.WrittenAs(db.found(c)) { // J4
			out[i].Err = nil
		}
	}
	for _, i := range closing { // last: a member that is terminated with its parent may have started children
		out[i].Closed = db.closeChildren(commits[i].Run, nil, now)
	}
	for i := range commits {
		if r := db.runs[commits[i].Run]; out[i].Err == nil && r != nil && r.open {
			out[i].InboxLast = r.task.InboxLast
			if commits[i].TellsState() {
				out[i].State = r.task.State
			}
		}
	}
	return out
}

// found is what there is of a refused commit: its last event in whatever generation the run is now,
// and the task.
func (db *database) found(c *driver.Commit) driver.Found {
	r := db.runs[c.Run]
	if r == nil {
		return driver.Found{}
	}
	f := driver.Found{Owner: r.task.Owner, Fence: r.task.Fence, Turn: r.task.Turn, Generation: r.task.Generation}
	events := r.events
	if g := int(c.Generation); g >= 1 && g <= len(r.past) {
		events = r.past[g-1]
	}
	if n := int(c.NewHead().Seq); n >= 1 && n <= len(events) {
		f.Link = events[n-1].Link
	}
	return f
}

// commit writes one turn into its own run, or returns why not. Everything that can be refused is
// looked at before the first change, so there is nothing to undo. ErrFenced is the answer to every
// commit that does not come from the present owner, whatever it contains: a lost owner need not be
// told more (J3).
func (db *database) commit(c *driver.Commit, now time.Time) driver.Outcome {
	out := driver.Outcome{Now: now, Err: journal.ErrFenced}
	r := db.runs[c.Run]
	if r == nil || !r.open {
		return out
	}
	t := &r.task
	if c.AppendOnly && db.proves(c.Node) {
		return db.add(r, c, now)
	}
	if t.Owner == 0 || t.Owner != c.Node || !db.alive(c.Node) || t.Fence != c.Fence || t.Turn != c.Turn { // J3
		return out
	}
	if !r.follows(c) || !r.holds(c.Consumed) {
		return out
	}
	if c.AppendOnly {
		return db.add(r, c, now)
	}
	events, inbox, err := r.next(c)
	if err != nil {
		return driver.Outcome{Err: err}
	}
	attempts, err := driver.EncodeAttempts(c.Attempts)
	if err != nil {
		return driver.Outcome{Err: fmt.Errorf("commit %s: %w: %w", c.Run, journal.ErrInvalid, err)}
	}
	if err := tried(c.Tx); err != nil {
		return driver.Outcome{Err: err}
	}
	out.Err = nil
	db.dequeue(r)
	defer db.enqueue(r, now)
	// The events and what they consumed change together: a load never sees one without the other.
	r.events, r.front = append(r.events, events...), inbox
	if c.Next.Kind == driver.NextClose { // J7
		status, _ := journal.StatusOf(c.Terminal().Kind)
		db.close(r, status, now)
		return out
	}
	// The commit is accepted. From here on every case sets the whole task, so that nothing of the
	// turn before is left: attempts, what it waited for, strikes and a problem.
	t.Turn++
	t.Strikes, t.Problem, t.State = 0, c.Next.Problem, driver.CommittedState(c, t.State)
	if r.unconfirmed = false; c.Next.Kind != driver.NextBlock { // a blocked run keeps what it has
		r.attempts, r.waiting = attempts, strings.Join(c.Waiting, "\n")
	}
	if c.Next.Kind != driver.NextKeep {
		t.Owner, t.Link = 0, c.NewHead().Link
	}
	switch {
	case c.Next.Kind == driver.NextRelease:
		t.VisibleAt = now
	case c.Next.Kind == driver.NextBlock:
		t.VisibleAt = instant(c.Next.At)
	case t.InboxLast > c.InboxSeen && !(t.State.OnHold() && c.Next.Kind == driver.NextKeep): // of a hold the outcome tells
		// J6: a message has come that the turn did not see. A parked run must be claimed for it; a
		// run that stays with its owner is marked, so that the owner's next claim tells of it.
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

// nextGeneration begins the next generation. The task must be dequeued, because its route may
// change. The history of the generation before is kept, which no caller of the interface can see:
// checks read it.
func (r *record) nextGeneration(next *journal.Continue) {
	r.past, r.events = append(r.past, r.events), nil
	r.front = inboxFront{carried: slices.Clone(next.Carried), seen: next.Seen}
	r.run.Generation++
	r.run.Input, r.run.Version = clonePayload(next.Input), next.Version
	r.run.Continued = &journal.Continue{Seen: next.Seen, Carried: slices.Clone(next.Carried)}
	r.run.Rewound = nil
	r.task.Generation, r.task.Version = r.run.Generation, next.Version
	r.attempts, r.waiting = nil, ""
}

// add writes a commit that leaves the task alone. Whoever calls it has proved the owner (J3).
func (db *database) add(r *record, c *driver.Commit, now time.Time) driver.Outcome {
	if !r.follows(c) {
		return driver.Outcome{Now: now, Err: journal.ErrFenced}
	}
	events, _, err := r.next(c)
	if err != nil {
		return driver.Outcome{Err: err}
	}
	r.events = append(r.events, events...)
	return driver.Outcome{Now: now}
}

// follows tells whether the commit was built on the state that the run is in.
func (r *record) follows(c *driver.Commit) bool {
	return c.Generation == r.run.Generation && (c.Head.Link == 0 || c.Head == r.head())
}

// head is the newest event of the generation.
func (r *record) head() journal.Head {
	if n := len(r.events); n > 0 {
		return journal.Head{Seq: r.events[n-1].Seq, Link: r.events[n-1].Link}
	}
	var seen journal.InboxSeq
	if r.run.Continued != nil {
		seen = r.run.Continued.Seen
	}
	return journal.Head{Link: journal.OriginOf(r.run.ID, r.run.Generation, seen, r.run.Input)}
}

// holds tells whether the messages are in the inbox that a commit says it consumes.
func (r *record) holds(list []driver.Consumed) bool {
	for _, c := range list {
		if int(c.Number) > len(r.inbox) || r.inbox[c.Number-1].Digest() != c.Digest {
			return false
		}
	}
	return true
}

// close ends a run: terminal status and the end of the task are one step, as J7 asks for. The task
// must be dequeued.
func (db *database) close(r *record, status journal.Status, now time.Time) {
	db.removeChild(r)
	db.limits.endLimits(r.run.ID)
	r.open, r.run.Status, r.run.ClosedAt = false, status, now
	r.task, r.attempts, r.waiting = journal.Task{}, nil, ""
}

// next returns the events of a commit as they are stored, and the inbox behind them. Beyond what a
// store must refuse, a seq that exists (J1), it refuses what no owner that is in its right mind
// writes: gaps, and messages that do not exist or were consumed (J5).
func (r *record) next(c *driver.Commit) ([]journal.Event, inboxFront, error) {
	last, _ := r.newest()
	events := slices.Clone(c.Events)
	for i := range events {
		ev := &events[i]
		switch want := last + journal.Seq(i) + 1; {
		case ev.Seq != want:
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
