package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// commitFits is when a commit may be written. It is a condition of every statement that decides
// about one, and fitsArgs has its arguments.
//
//   - The first line is J3. owner > 0 keeps node 0, which is nobody, from owning the runs that
//     nobody owns.
//   - Then comes the state that the commit was built on (J1): the newest event of the generation
//     and its link, or that there is none. A commit whose owner could not load the history says
//     with the first argument that it does not know.
//   - The last line is the first message that the commit consumes (J5); both arguments are null if
//     it consumes none.
//
// All of it is in the statement that changes the task, because then a commit that is refused has
// changed nothing, and the check costs a probe of a primary key and no statement.
const commitFits = `t.run_id = ? AND t.owner = ? AND t.owner > 0 AND t.fence = ? AND t.turn = ? AND t.generation = ?
  AND (? OR (SELECT e.seq, e.link FROM reprise_events e
             WHERE e.run_id = t.run_id AND e.generation = t.generation ORDER BY e.seq DESC LIMIT 1) IS (?, ?))
  AND (SELECT m.digest FROM reprise_inbox m WHERE m.run_id = t.run_id AND m.number = ?) IS ?`

// The statements that change the task. Each answers with a row, or with none if the commit is
// refused.
//
// The task is found by its primary key. What differs between the statements is which indexes of the
// task they change: a turn that keeps its run touches none, and that is nearly every turn.
const (
	// commitKeepSQL changes no indexed column: it is by far the most frequent one.
	commitKeepSQL = `
UPDATE reprise_tasks AS t SET turn = turn + 1, unproven = 0, strikes = 0, attempts = ?, waiting = ?, problem = NULL
WHERE ` + commitFits + `
RETURNING inbox_last, visible_at, state`

	// commitVisibleSQL follows if messages have come (J6), or those that came are consumed.
	commitVisibleSQL = `UPDATE reprise_tasks SET visible_at = ? WHERE run_id = ?`

	// commitHoldSQL follows if the owner has heard of a pause, or pauses the run, and keeps it
	// (J11).
	commitHoldSQL = `UPDATE reprise_tasks SET state = 3 WHERE run_id = ?`

	// commitFreeSQL parks, releases or blocks. A parked run with a newer message than it has seen
	// is visible (J6). The link tells the next owner whether what it kept in memory is current. A
	// blocked run keeps its attempts and what it waited for.
	commitFreeSQL = `
UPDATE reprise_tasks AS t
SET turn = turn + 1, unproven = 0, strikes = 0, attempts = iif(?, attempts, ?), waiting = iif(?, waiting, ?), problem = ?,
    state = iif(state >= 3, 3, ?), -- J11: driver.CommittedState
    owner = 0, link = ?,
    visible_at = iif(inbox_last > ?, ?, ?)
WHERE ` + commitFits + `
RETURNING inbox_last`

	commitRemoveSQL = `DELETE FROM reprise_tasks AS t WHERE ` + commitFits + ` RETURNING inbox_last`
)

// commitOwnSQL is for a commit that changes nothing of its task: it only looks whether the commit
// fits. Looking and appending are two small statements, which are faster than one INSERT … SELECT
// with RETURNING: SQLite would copy the row to a table of its own first.
const commitOwnSQL = `SELECT t.inbox_last FROM reprise_tasks t WHERE ` + commitFits

// commitEventSQL appends to a history. J1: the primary key refuses a number that exists.
const commitEventSQL = `
INSERT INTO reprise_events (run_id, generation, seq, at, link, inbox, cmd, attempt, kind, name, encoding, issued, payload)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// commitCloseSQL is of one transaction with the terminal event and the end of the task (J7).
const commitCloseSQL = `UPDATE reprise_runs SET status = ?, closed_at = ?, closed_seq = ? WHERE id = ?`

// commitInboxSQL reads what was sent under numbers that follow each other.
const commitInboxSQL = `SELECT m.digest FROM reprise_inbox m WHERE m.run_id = ? AND m.number BETWEEN ? AND ? ORDER BY m.number`

// commitReadSQL reads what became of a refused commit, for driver.Commit.WrittenAs (J4).
const commitReadSQL = `
SELECT t.owner, t.fence, t.turn, t.inbox_last, t.state, t.generation,
       (SELECT e.link FROM reprise_events e WHERE e.run_id = r.id AND e.generation = ? AND e.seq = ?)
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
	var lost recalls
	err := s.write(ctx, size, func(b *batch) error { return s.commitAll(b, commits, out, &lost) })
	if s.nodes.recall(lost); err != nil {
		return nil, err
	}
	return out, nil
}

// commitAll writes a batch. A member whose effects cannot be written is left out, together with its
// turn, at the next attempt (J2): a turn without its effects would be half a commit. Each attempt
// leaves out one more member, so the loop ends. Damage of a page is an error of the whole call, see
// batch: callers write the members one by one then.
func (s *Store) commitAll(b *batch, commits []driver.Commit, out []driver.Outcome, lost *recalls) error {
	faults := map[int]error{}
	for {
		at := 0
		err := b.member(func() (err error) { at, err = s.commitMembers(b, commits, out, faults, lost); return err })
		if !memberFault(err) || damaged(err) {
			return err
		}
		faults[at] = s.translate(err)
	}
}

// commitMembers writes the turns of the members without fault first, then what they do to others.
// So it makes no difference whether a message arrives in the inbox of a member that stands behind
// the sender's or ahead of it. An error is about the effects of one member, which it names, or
// about the whole batch.
func (s *Store) commitMembers(b *batch, commits []driver.Commit, out []driver.Outcome, faults map[int]error, lost *recalls) (at int, err error) {
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
	e := newEffects(s, b, lost)
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
	if memberFault(err) && !damaged(err) {
		return driver.Outcome{Now: now(), Err: s.translate(err)}, false, nil
	}
	return out, written, err
}

// writeTurn writes a turn into its own run, or finds out why not. written is also false for a turn
// that an earlier try has written: its effects are stored as well then, and must not be carried out
// twice.
func writeTurn(q querier, c *driver.Commit) (out driver.Outcome, written bool, err error) {
	at := now()
	holds, err := holdsOthers(q, c)
	switch {
	case err != nil || !holds:
	case c.AppendOnly:
		out, written, err = owns(q, c, at)
	default:
		out, written, err = writeTask(q, c, at)
	}
	if err != nil {
		return out, false, err
	}
	if !written {
		out, err = readBack(q, c, at)
		return out, false, err
	}
	for i := range c.Events {
		if _, err := q.exec(commitEventSQL, eventArgs(c.Run, c.Generation, &c.Events[i])...); err != nil {
			return out, false, err
		}
	}
	if t := c.Terminal(); t != nil {
		status, _ := journal.StatusOf(t.Kind)
		_, err = q.exec(commitCloseSQL, int64(status), at.UnixMicro(), int64(t.Seq), uuidArg(c.Run))
	} else if c.Continue != nil {
		err = nextGeneration(q, c.Run, c.Continue)
	}
	return out, true, err
}

// holdsOthers tells whether the inbox has the very messages that a commit consumes, except the
// first, which commitFits looks for. They are nearly always numbered without gaps, so it is one
// statement, or none for one message; only messages that were carried over from the generation
// before, or consumed before, leave gaps.
func holdsOthers(q querier, c *driver.Commit) (holds bool, err error) {
	for list := c.Consumed[min(1, len(c.Consumed)):]; len(list) > 0; {
		n := 1
		for n < len(list) && list[n].Number == list[n-1].Number+1 {
			n++
		}
		same := 0
		err := q.query(commitInboxSQL, func(r row) error {
			if same < n && journal.Link(r.int(0)) == list[same].Digest {
				same++
			}
			return nil
		}, uuidArg(c.Run), int64(list[0].Number), int64(list[n-1].Number))
		if err != nil || same < n {
			return false, err
		}
		list = list[n:]
	}
	return true, nil
}

// fitsArgs returns the arguments of a statement: those given, then those of commitFits.
func fitsArgs(c *driver.Commit, before ...any) []any {
	var seq, link, number, digest any // null: of no event, of no message
	if c.Head.Seq != 0 {
		seq, link = int64(c.Head.Seq), int64(c.Head.Link)
	}
	if len(c.Consumed) > 0 {
		number, digest = int64(c.Consumed[0].Number), int64(c.Consumed[0].Digest)
	}
	args := append(make([]any, 0, len(before)+10), before...)
	return append(args, uuidArg(c.Run), int64(c.Node), int64(c.Fence), int64(c.Turn), int64(c.Generation),
		boolArg(c.Head.Link == 0), seq, link, number, digest)
}

// owns tells whether a commit that leaves the task alone fits.
//
// A commit with AppendOnly may prove its owner by the node's membership alone. Here the task is
// compared all the same: the statement that compares the newest event costs the same with it, and
// so nothing rests on the order in which the process's memory and the file change. A recall is then
// no more than a hint to the node, see nodes.recall.
func owns(q querier, c *driver.Commit, at time.Time) (out driver.Outcome, ok bool, err error) {
	out.Now = at
	err = q.query(commitOwnSQL, func(r row) error {
		ok, out.InboxLast = true, journal.InboxSeq(r.int(0))
		return nil
	}, fitsArgs(c)...)
	return out, ok, err
}

// writeTask changes the task if the commit fits. ok is false for a commit that is refused.
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
			visible, out.State = r.time(1), journal.TaskState(r.int(2))
		}
		return nil
	}
	switch c.Next.Kind {
	case driver.NextKeep:
		err = q.query(commitKeepSQL, read, fitsArgs(c, attempts, waiting)...)
		if err == nil && ok {
			err = settleKept(q, c, &out, visible, at)
		}
	case driver.NextClose:
		err = q.query(commitRemoveSQL, read, fitsArgs(c)...)
	default:
		state, next := int64(journal.Ready), nullTime(c.Next.At)
		message := any(at.UnixMicro()) // when it is visible if there is a message
		switch c.Next.Kind {
		case driver.NextRelease:
			next = message
		case driver.NextBlock:
			state, message = int64(journal.Blocked), next
		}
		keeps := boolArg(c.Next.Kind == driver.NextBlock)
		err = q.query(commitFreeSQL, read, fitsArgs(c, keeps, attempts, keeps, waiting, nullText(c.Next.Problem), state,
			int64(c.NewHead().Link), int64(c.InboxSeen), message, next)...)
	}
	return out, ok, err
}

// settleKept makes the task of a kept run visible if a message is unread, or else invisible, and
// paused if its owner answers a pause or pauses the run. A run that is on hold is invisible: the
// outcome tells its owner of the hold, and a resume makes it visible (J11).
func settleKept(q querier, c *driver.Commit, out *driver.Outcome, visible, at time.Time) error {
	state := driver.CommittedState(c, out.State)
	unread := out.InboxLast > c.InboxSeen && !state.OnHold()
	if unread == visible.IsZero() {
		if _, err := q.exec(commitVisibleSQL, visibleFor(unread, at), uuidArg(c.Run)); err != nil {
			return err
		}
	}
	if state == out.State {
		return nil
	}
	out.State = state
	_, err := q.exec(commitHoldSQL, uuidArg(c.Run))
	return err
}

// visibleFor is when a kept task is visible: at once if a message is unread, so that
// claimAttentionSQL finds it, else never.
func visibleFor(unread bool, at time.Time) any {
	if unread {
		return at.UnixMicro()
	}
	return nil
}

// eventArgs are the arguments of commitEventSQL.
func eventArgs(run journal.RunID, g journal.Generation, ev *journal.Event) []any {
	p := driver.StoredPayload(ev)
	return []any{uuidArg(run), int64(g), int64(ev.Seq), ev.Time.UnixMicro(), int64(ev.Link), nullInt(int64(ev.Inbox)),
		nullInt(int32(ev.Cmd)), nullInt(ev.Attempt), int64(ev.Kind), nullText(ev.Name), nullText(p.Encoding),
		nullText(journal.EncodeIssued(ev.Issued)), nullBytes(p.Data)}
}

// readBack tells an own write of an earlier try from a commit that is refused (J4).
func readBack(q querier, c *driver.Commit, at time.Time) (driver.Outcome, error) {
	out := driver.Outcome{Now: at, Err: journal.ErrFenced}
	err := q.query(commitReadSQL, func(r row) error {
		if out.InboxLast = journal.InboxSeq(r.int(3)); c.TellsState() {
			out.State = journal.TaskState(r.int(4))
		}
		found := driver.Found{Owner: journal.NodeID(r.int(0)), Fence: journal.Fence(r.int(1)), Turn: journal.Turn(r.int(2)),
			Generation: journal.Generation(r.int(5)), Link: journal.Link(r.int(6))}
		if c.WrittenAs(found) {
			out.Err = nil
		}
		return nil
	}, int64(c.Generation), int64(c.NewHead().Seq), uuidArg(c.Run))
	return out, err
}
