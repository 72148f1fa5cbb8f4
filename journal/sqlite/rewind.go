package sqlite

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// rewindReadSQL reads what decides whether a run goes back (J13), and where its inbox begins. The
// writer executes it in the transaction that goes back, so nothing changes in between.
const rewindReadSQL = `
SELECT r.generation, e.link, r.key, r.holds_key, r.inbox_seen, r.carried,
       (SELECT max(m.number) FROM reprise_inbox m WHERE m.run_id = r.id),
       EXISTS (SELECT 1 FROM reprise_events e WHERE e.run_id = r.id AND e.generation = r.generation AND e.seq > ?2 + ?3)
FROM reprise_runs r
LEFT JOIN reprise_events e ON e.run_id = r.id AND e.generation = r.generation AND e.seq = ?2
WHERE r.id = ?1`

// What is not consumed behind the point: what comes after a number, and single ones before it.
const (
	rewindUnreadColumns = `SELECT m.number, m.kind, m.name, m.answered, m.key, m.encoding, m.payload FROM reprise_inbox m`
	rewindUnreadSQL     = rewindUnreadColumns + ` WHERE m.run_id = ? AND m.number > ? ORDER BY m.number`
	rewindCarriedSQL    = rewindUnreadColumns + ` WHERE m.run_id = ? AND m.number = +?`
)

// rewindEndSQL reads whether a child has ended, and how.
const rewindEndSQL = `
SELECT r.status, e.kind, e.encoding, e.payload
FROM reprise_runs r LEFT JOIN reprise_events e ON e.run_id = r.id AND e.generation = r.generation AND e.seq = r.closed_seq
WHERE r.id = ? AND r.parent_run = ?`

// rewindCopySQL copies the events that are kept, with their links.
const rewindCopySQL = `
INSERT INTO reprise_events (run_id, generation, seq, kind, cmd, inbox, at, link, name, attempt, encoding, payload, issued)
SELECT ?, e.generation + 1, e.seq, e.kind, e.cmd, e.inbox, e.at, e.link, e.name, e.attempt, e.encoding, e.payload, e.issued
FROM reprise_events e WHERE e.run_id = ? AND e.generation = ? AND e.seq <= ?`

// rewindRunSQL begins the next generation, and opens the run.
const (
	rewindRunSQL = `
UPDATE reprise_runs
SET generation = generation + 1, rewound = ?, inbox_seen = ?, carried = ?, holds_key = (key IS NOT NULL), status = 0, closed_at = NULL, closed_seq = NULL
WHERE id = ?`
	rewindInputSQL = `UPDATE reprise_runs SET version = ?, input = ?, input_encoding = ? WHERE id = ?`
)

// rewindTaskSQL takes the task away from whoever owns it: the owner's next commit names another
// generation, and is refused (J3). A run that was closed gets a task, which says that it was
// changed: else whoever claims it takes it for one without a history.
const (
	rewindTaskSQL = `
UPDATE reprise_tasks
SET generation = generation + 1, version = ?1, owner = 0, unproven = 0, turn = turn + 1, link = 0, attempts = ?5, waiting = NULL,
    strikes = 0, problem = NULL, state = ?2, visible_at = ?3
WHERE run_id = ?4`
	rewindOpenSQL = `
INSERT INTO reprise_tasks (run_id, visible_at, turn, generation, inbox_last, attempts, version, priority, queue, workflow)
SELECT r.id, ?1, 1, r.generation, ?2, ?4, r.version, r.priority, r.queue, r.workflow FROM reprise_runs r WHERE r.id = ?3`
)

// What becomes of messages behind the point, see driver.Inbox.
const (
	rewindFreeSQL   = `UPDATE reprise_inbox SET key = ? WHERE run_id = ? AND number = ?`
	rewindReopenSQL = `UPDATE reprise_inbox SET answered = NULL, answer = NULL, answer_encoding = NULL WHERE run_id = ? AND number = ? AND answered = 1`
	rewindKeySQL    = `SELECT m.key FROM reprise_inbox m WHERE m.run_id = ? AND m.number = ?`
	rewindNextSQL   = `SELECT r.version, coalesce(r.start_at, r.created_at) FROM reprise_runs r WHERE r.id = ?`
)

// rewindOrphansSQL reads the open children with their commands, by reprise_runs_open_children_idx.
const rewindOrphansSQL = `
SELECT r.id, r.parent_run, r.parent_generation, r.parent_cmd, r.parent_policy FROM reprise_runs r
WHERE r.parent_run = ? AND r.parent_run IS NOT NULL AND r.status = 0 ORDER BY r.id`

// rewindEndsSQL reads children whose ends the run has not heard of, because it was closed then, or
// what it had heard is stale.
const rewindEndsSQL = `
SELECT r.id, r.parent_run, r.parent_generation, r.parent_cmd, r.parent_policy, r.workflow, e.kind, e.encoding, e.payload
FROM reprise_runs r JOIN reprise_events e ON e.run_id = r.id AND e.generation = r.generation AND e.seq = r.closed_seq
WHERE r.parent_run = ?1 AND r.status <> 0 AND NOT EXISTS (
    SELECT 1 FROM reprise_inbox m WHERE m.run_id = ?1 AND m.key = '~child/' || lower(substr(hex(r.id), 1, 8) || '-' ||
        substr(hex(r.id), 9, 4) || '-' || substr(hex(r.id), 13, 4) || '-' || substr(hex(r.id), 17, 4) || '-' || substr(hex(r.id), 21)))
ORDER BY r.id`

// rewind makes the next generation of a run out of the beginning of its present one (J13).
func (t *target) rewind(e *effects, w *driver.Rewind) (out driver.AdminOutcome, err error) {
	in, last, err := t.inboxBehind(e.q, w, nil)
	if err != nil {
		return out, err
	}
	if out, err = t.beginAgain(e, w, t.run.ID, &in, last); err != nil {
		return out, err
	}
	return out, t.rewindChildren(e, w, !t.open || in.Stale)
}

// beginAgain begins the next generation, with the kept events of the run or, in a fork, of another
// one.
func (t *target) beginAgain(e *effects, w *driver.Rewind, of journal.RunID, in *driver.Inbox, last journal.InboxSeq) (out driver.AdminOutcome, err error) {
	run := uuidArg(t.run.ID)
	rewound, err := driver.EncodeRewound(w.Next)
	if err != nil {
		return out, err
	}
	carried, err := encodeCarried(in.Begin.Carried)
	if err != nil {
		return out, err
	}
	attempts, err := driver.EncodeAttempts(w.Attempts())
	if err != nil {
		return out, err
	}
	x := execs{q: e.q}
	x.exec(rewindCopySQL, run, uuidArg(of), int64(w.Generation), int64(w.Head.Seq))
	x.exec(rewindRunSQL, rewound, int64(in.Begin.Seen), carried, run)
	if w.Version != 0 {
		x.exec(rewindInputSQL, int64(w.Version), nullBytes(w.Input.Data), nullText(w.Input.Encoding), run)
	}
	for _, n := range in.Freed {
		var key string
		x.query(rewindKeySQL, func(r row) error { key = r.text(0); return nil }, run, int64(n))
		x.exec(rewindFreeSQL, driver.FreedKey(key, n), run, int64(n))
	}
	for _, n := range in.Reopen {
		x.exec(rewindReopenSQL, run, int64(n))
	}
	due := e.at
	var version int64
	x.query(rewindNextSQL, func(r row) error {
		version = r.int(0)
		if start := r.time(1); w.Head.Seq == 0 && start.After(due) { // it begins anew, and its time has not come
			due = start
		}
		return nil
	}, run)
	if t.open {
		out.State = driver.RewoundState(t.task.State)
		e.lost.note(t.task.Owner)
		visible := any(due.UnixMicro())
		if out.State == journal.Limited {
			visible = nil
		}
		x.exec(rewindTaskSQL, version, int64(out.State), visible, run, nullBytes(attempts))
		x.exec(limitSpareSQL, run)
		if w.Version != 0 && x.err == nil {
			x.err = reroute(e.q, t.run.ID, e.at)
		}
	} else {
		if t.run.Freezes.Lasts() && x.err == nil { // its timers stood still until it was closed
			x.err = refreeze(e.q, t.run.ID, driver.EndFreeze(t.run.Freezes, t.run.ClosedAt))
		}
		x.exec(rewindOpenSQL, due.UnixMicro(), int64(last), run, nullBytes(attempts))
		if x.err == nil {
			out.State, x.err = askAgain(e.q, t.run.ID, due, e.at)
		}
	}
	if x.err != nil {
		return out, x.err
	}
	for _, n := range in.Discard {
		if err := e.reply(t.run.ID, &journal.Reply{Number: n, Payload: driver.Discarded()}); err != nil {
			return out, err
		}
	}
	return out, nil
}

// inboxBehind decides over the inbox, and returns the number of its newest message. It refuses a
// point of another history, and a run, or a fork of it, whose key another one has by now.
func (t *target) inboxBehind(q querier, w *driver.Rewind, fork *driver.Fork) (in driver.Inbox, last journal.InboxSeq, err error) {
	var base *journal.Continue
	var generation journal.Generation
	var link journal.Link
	var key string
	var holds, more bool
	err = q.query(rewindReadSQL, func(r row) error {
		generation, link, key, holds = journal.Generation(r.int(0)), journal.Link(r.int(1)), r.text(2), r.bool(3)
		last, more = journal.InboxSeq(r.int(6)), r.bool(7)
		if r.null(4) {
			return nil
		}
		carried, err := decodeCarried(r.text(5))
		base = &journal.Continue{Seen: journal.InboxSeq(r.int(4)), Carried: carried}
		return err
	}, uuidArg(t.run.ID), int64(w.Head.Seq), int64(w.Behind))
	if fork != nil {
		key, holds = fork.Key, false
	}
	switch {
	case err != nil:
		return in, 0, err
	case generation != w.Generation || w.Head.Seq > 0 && link != w.Head.Link || w.AtEnd && more:
		return in, 0, driver.ErrMoved
	case key != "" && !holds:
		if h, err := readHolder(q, key); err != nil || !h.run.IsZero() {
			return in, 0, orConflict(err, key, &h)
		}
	}
	from := w.From(base)
	var unread []driver.Unread
	var answers []driver.Answer
	read := func(r row) error {
		m := driver.Unread{Number: journal.InboxSeq(r.int(0)), Kind: journal.MessageKind(r.int(1)), Name: r.text(2),
			Answered: r.int(3) == 1, Rejected: r.int(3) == 2}
		unread = append(unread, m)
		answers = append(answers, driver.Answer{Kind: m.Kind, Key: r.text(4), Payload: r.payload(5, 6)})
		return nil
	}
	x := execs{q: q}
	for _, n := range from.Carried {
		x.query(rewindCarriedSQL, read, uuidArg(t.run.ID), int64(n))
	}
	x.query(rewindUnreadSQL, read, uuidArg(t.run.ID), int64(from.Seen))
	for i := range unread {
		if x.err == nil {
			unread[i].Stale, x.err = t.isStale(q, &answers[i], fork != nil)
		}
	}
	return w.Inbox(base, unread), last, x.err
}

// isStale tells whether a message is the answer of a child of the run that has gone on since.
// Children do not answer a fork of their parent, which hears what was answered last.
func (t *target) isStale(q querier, a *driver.Answer, fork bool) (stale bool, err error) {
	child, freed, ok := a.Child()
	if !ok || freed || fork {
		return freed, nil
	}
	err = q.query(rewindEndSQL, func(r row) error {
		end := journal.Event{Kind: journal.Kind(r.int(1)), Payload: r.payload(2, 3)}
		stale = r.int(0) == 0 || !a.Tells(&end)
		return nil
	}, uuidArg(child), uuidArg(t.run.ID))
	return stale, err
}

func orConflict(err error, key string, h *holder) error {
	if err != nil {
		return err
	}
	return &journal.KeyConflictError{Key: key, Run: h.run, Workflow: h.workflow}
}

// rewindChildren cancels open children that nobody waits for any more and, if there may be any,
// brings the answers of those that have ended without the run having heard of it.
func (t *target) rewindChildren(e *effects, w *driver.Rewind, untold bool) error {
	var messages []journal.Message
	err := e.q.query(rewindOrphansSQL, func(r row) error {
		if w.Orphans(parentOf(r[1:])) {
			messages = append(messages, journal.OrphanCancel(r.id(0)))
		}
		return nil
	}, uuidArg(t.run.ID))
	if err == nil && untold {
		err = e.q.query(rewindEndsSQL, func(r row) error {
			if p := parentOf(r[1:]); w.Started(p.Generation, p.Cmd) {
				end := journal.Event{Kind: journal.Kind(r.int(6)), Payload: r.payload(7, 8)}
				messages = append(messages, journal.ChildMessage(r.id(0), r.text(5), p, &end))
			}
			return nil
		}, uuidArg(t.run.ID))
	}
	for i := range messages {
		if err == nil {
			_, err = e.send(&messages[i])
		}
	}
	return err
}
