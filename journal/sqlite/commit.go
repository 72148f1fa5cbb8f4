package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// J3 is the condition of each statement that changes the task: owner, fence and turn decide, and
// owner > 0 keeps node 0, which is nobody, from owning the runs that nobody owns. Each answers with
// a row, or with none if the commit is refused.
//
// The task is found by its primary key. What differs between the statements is which indexes of the
// task they change: a turn that keeps its run touches none, and that is nearly every turn.
const (
	// commitKeepSQL changes no indexed column: it is by far the most frequent one.
	commitKeepSQL = `
UPDATE reprise_tasks SET turn = turn + 1, unproven = 0, strikes = 0, attempts = ?, waiting = ?, problem = NULL
WHERE run_id = ? AND owner = ? AND owner > 0 AND fence = ? AND turn = ?
RETURNING inbox_last, visible_at`

	// commitVisibleSQL follows if messages have come (J6), or those that came are consumed.
	commitVisibleSQL = `UPDATE reprise_tasks SET visible_at = ? WHERE run_id = ?`

	// commitFreeSQL parks, releases or blocks. A parked run with a newer message than it has seen
	// is visible (J6).
	commitFreeSQL = `
UPDATE reprise_tasks
SET turn = turn + 1, unproven = 0, strikes = 0, attempts = ?, waiting = ?, problem = ?, state = ?, owner = 0,
    visible_at = iif(inbox_last > ?, ?, ?)
WHERE run_id = ? AND owner = ? AND owner > 0 AND fence = ? AND turn = ?
RETURNING inbox_last`

	commitRemoveSQL = `
DELETE FROM reprise_tasks WHERE run_id = ? AND owner = ? AND owner > 0 AND fence = ? AND turn = ? RETURNING inbox_last`
)

// commitEventSQL appends to a history. J1: the primary key refuses a number that exists, which is
// an error of this member alone.
const commitEventSQL = `
INSERT INTO reprise_events (run_id, generation, seq, at, inbox, cmd, attempt, kind, name, encoding, issued, payload)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// commitCloseSQL is of one transaction with the terminal event and the end of the task (J7). The
// fence stays with the run, for the owner that asks whether its commit was written (J4).
const commitCloseSQL = `UPDATE reprise_runs SET status = ?, closed_at = ?, closed_seq = ?, closed_fence = ? WHERE id = ?`

// commitReadSQL reads what became of a refused commit, for driver.Commit.WrittenAs (J4).
const commitReadSQL = `
SELECT t.fence, t.turn, t.inbox_last, r.closed_fence
FROM reprise_runs r LEFT JOIN reprise_tasks t ON t.run_id = r.id WHERE r.id = ?`

// Commit implements driver.Store. The batch is one job of the writer, so it is one transaction,
// perhaps together with jobs of others; each member has its own outcome all the same (J2).
func (s *Store) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	if len(commits) == 1 && commits[0].Tx != nil {
		out, err := s.commitInTx(ctx, &commits[0])
		return []driver.Outcome{out}, err
	}
	size := 0
	for i := range commits {
		if commits[i].Tx != nil {
			return nil, fmt.Errorf("commit %s: a member with a transaction must be alone: %w", commits[i].Run, journal.ErrInvalid)
		}
		size += driver.CommitBytes(&commits[i])
	}
	out := make([]driver.Outcome, len(commits))
	err := s.write(ctx, size, func(b *batch) error { return s.commitAll(b, commits, out) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// commitAll writes a batch. A member whose effects cannot be written is left out, together with its
// turn, at the next attempt (J2): a turn without its effects would be half a commit. Each attempt
// leaves out one more member, so the loop ends.
func (s *Store) commitAll(b *batch, commits []driver.Commit, out []driver.Outcome) error {
	faults := map[int]error{}
	for {
		at := 0
		err := b.member(func() (err error) { at, err = s.commitMembers(b, commits, out, faults); return err })
		if !memberFault(err) {
			return err
		}
		faults[at] = s.memberError(err)
	}
}

// commitMembers writes the turns of the members without fault first, then what they do to others.
// So it makes no difference whether a message arrives in the inbox of a member that stands behind
// the sender's or ahead of it. An error is about the effects of one member, which it names, or
// about the whole batch.
func (s *Store) commitMembers(b *batch, commits []driver.Commit, out []driver.Outcome, faults map[int]error) (at int, err error) {
	var acting []int // members with effects
	for i := range commits {
		if err := faults[i]; err != nil {
			out[i] = driver.Outcome{Now: now(), Err: err}
			continue
		}
		written := false
		if out[i], written, err = s.commit(b, &commits[i]); err != nil {
			return i, err
		}
		if written && commits[i].HasEffects() {
			acting = append(acting, i)
		}
	}
	if len(acting) == 0 {
		return 0, nil
	}
	e := newEffects(s, b)
	for _, i := range acting {
		if err := e.write(&commits[i], &out[i]); err != nil {
			return i, err
		}
	}
	for _, i := range acting {
		if err := e.applyClosePolicies(&commits[i], &out[i]); err != nil {
			return i, err
		}
	}
	for i := range out {
		out[i].InboxLast = max(out[i].InboxLast, e.arrived[commits[i].Run])
	}
	return 0, nil
}

// commit writes the turn of one member. An error is about the whole batch; the member's own is in
// the outcome, and nothing of the member is written then.
func (s *Store) commit(b *batch, c *driver.Commit) (out driver.Outcome, written bool, err error) {
	err = b.member(func() error { out, written, err = writeTurn(b, c); return err })
	if memberFault(err) {
		return driver.Outcome{Now: now(), Err: s.memberError(err)}, false, nil
	}
	return out, written, err
}

// memberError is what the owner is told of a member's fault: a SeqError as it is, because it says
// which history the turn was built on, and any other error translated.
func (s *Store) memberError(err error) error {
	if e, ok := errors.AsType[*journal.SeqError](err); ok {
		return e
	}
	return s.translate(err)
}

// writeTurn writes a turn into its own run, or finds out why not. written is also false for a turn
// that an earlier try has written: its effects are stored as well then, and must not be carried out
// twice.
func writeTurn(q querier, c *driver.Commit) (out driver.Outcome, written bool, err error) {
	at := now()
	out, written, err = writeTask(q, c, at)
	if err != nil {
		return out, false, err
	}
	if !written {
		out, err = readBack(q, c, at)
		return out, false, err
	}
	for i := range c.Events {
		err := writeEvent(q, c.Run, c.Generation, &c.Events[i])
		if duplicateRow(err) {
			err = fmt.Errorf("%w: %w", &journal.SeqError{Run: c.Run, Seq: c.Events[0].Seq}, err)
		}
		if err != nil {
			return out, false, err
		}
	}
	if t := c.Terminal(); t != nil {
		status, _ := journal.StatusOf(t.Kind)
		_, err = q.exec(commitCloseSQL, int64(status), at.UnixMicro(), int64(t.Seq), int64(c.Fence), uuidArg(c.Run))
	} else if c.Continue != nil {
		err = nextGeneration(q, c.Run, c.Continue)
	}
	return out, true, err
}

// writeTask checks the owner and changes the task. ok is false for a commit that is refused.
//
// Messages and turns meet here (J6). The statement returns the number of the newest message; if the
// turn has not seen it, the task must be visible, so that the run is looked at again. A turn that
// keeps its run normally finds the column as it should be, and writes it only if it is not.
func writeTask(q querier, c *driver.Commit, at time.Time) (out driver.Outcome, ok bool, err error) {
	out.Now = at
	stored, err := driver.EncodeAttempts(c.Attempts)
	if err != nil {
		return out, false, fmt.Errorf("commit %s: attempts: %w", c.Run, err)
	}
	attempts, waiting := nullBytes(stored), joinWaiting(c.Waiting)
	var visible time.Time
	read := func(r row) error {
		ok, out.InboxLast = true, journal.InboxSeq(r.int(0))
		if len(r) > 1 {
			visible = r.time(1)
		}
		return nil
	}
	run, node, fence, turn := uuidArg(c.Run), int64(c.Node), int64(c.Fence), int64(c.Turn)
	switch c.Next.Kind {
	case driver.NextKeep:
		err = q.query(commitKeepSQL, read, attempts, waiting, run, node, fence, turn)
		if unread := out.InboxLast > c.InboxSeen; err == nil && ok && unread == visible.IsZero() {
			_, err = q.exec(commitVisibleSQL, visibleFor(unread, at), run)
		}
	case driver.NextClose:
		err = q.query(commitRemoveSQL, read, run, node, fence, turn)
	default:
		state, next := int64(journal.Ready), nullTime(c.Next.At)
		message := any(at.UnixMicro()) // when it is visible if there is a message
		switch c.Next.Kind {
		case driver.NextRelease:
			next = message
		case driver.NextBlock:
			state, message = int64(journal.Blocked), next
		}
		err = q.query(commitFreeSQL, read, attempts, waiting, nullText(c.Next.Problem), state, int64(c.InboxSeen), message, next,
			run, node, fence, turn)
	}
	return out, ok, err
}

// visibleFor is when a kept task is visible: at once if a message is unread, so that
// claimAttentionSQL finds it, else never.
func visibleFor(unread bool, at time.Time) any {
	if unread {
		return at.UnixMicro()
	}
	return nil
}

// writeEvent appends one event.
func writeEvent(q querier, run journal.RunID, g journal.Generation, ev *journal.Event) error {
	p := driver.StoredPayload(ev)
	_, err := q.exec(commitEventSQL, uuidArg(run), int64(g), int64(ev.Seq), ev.Time.UnixMicro(), nullInt(int64(ev.Inbox)),
		nullInt(int32(ev.Cmd)), nullInt(ev.Attempt), int64(ev.Kind), nullText(ev.Name), nullText(p.Encoding),
		nullText(journal.EncodeIssued(ev.Issued)), nullBytes(p.Data))
	return err
}

// readBack tells an own write of an earlier try from lost ownership (J4).
func readBack(q querier, c *driver.Commit, at time.Time) (driver.Outcome, error) {
	out := driver.Outcome{Now: at, Err: journal.ErrFenced}
	err := q.query(commitReadSQL, func(r row) error {
		fence, turn, closed := journal.Fence(r.int(0)), journal.Turn(r.int(1)), journal.Fence(r.int(3))
		out.InboxLast = journal.InboxSeq(r.int(2))
		if c.WrittenAs(fence, turn, closed) {
			out.Err = nil
		}
		return nil
	}, uuidArg(c.Run))
	return out, err
}
