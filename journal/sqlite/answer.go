package sqlite

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// replySQL keeps the reply to an update with its message, in the transaction of the turn that gives
// it (J2). Only a message without a reply is written, so the reply of a repeated commit changes
// nothing.
const replySQL = `
UPDATE reprise_inbox SET answered = 1, answer = ?, answer_encoding = ? WHERE run_id = ? AND number = ? AND answered IS NULL`

// replyRejectSQL consumes the message too, and frees its key (J5), so that the client may send the
// update again. The key that it gets instead holds its number and a character that keys of users
// cannot begin with.
const replyRejectSQL = `
UPDATE reprise_inbox SET answered = 2, answer = ?, answer_encoding = ?, key = '~rejected/' || number
WHERE run_id = ? AND number = ? AND answered IS NULL`

// reply stores one reply.
func (e *effects) reply(run journal.RunID, r *journal.Reply) error {
	sql := replySQL
	if r.Rejected {
		sql = replyRejectSQL
	}
	_, err := e.q.exec(sql, nullBytes(r.Payload.Data), nullText(r.Payload.Encoding), uuidArg(run), int64(r.Number))
	return err
}

// loadAnswerSQL reads the reply to an update, by the primary key of the inbox.
const loadAnswerSQL = `
SELECT m.answer_encoding, m.answer, m.answered = 2 FROM reprise_inbox m
WHERE m.run_id = ? AND m.number = +? AND m.answered IS NOT NULL`

// loadUnansweredSQL reads what tells why an update has no reply, by the primary keys of the run and
// its task.
const loadUnansweredSQL = `
SELECT r.status, t.state, t.problem, t.run_id IS NOT NULL
FROM reprise_runs r LEFT JOIN reprise_tasks t ON t.run_id = r.id WHERE r.id = ?`

// loadAnswer reads what the sender of an update waits for: the reply, or the end of the run. Both
// come from the snapshot of the load, so a run is never reported as closed without the reply that
// was stored before.
func loadAnswer(q querier, r *driver.LoadRequest, h *driver.History) error {
	err := q.query(loadUnansweredSQL, func(in row) error {
		h.Run.ID, h.Run.Status, h.Err = r.Run, journal.Status(in.int16(0)), nil
		if in.bool(3) {
			h.Run.Task = &journal.Task{Run: r.Run, State: journal.TaskState(in.int16(1)), Problem: in.text(2)}
		}
		return nil
	}, uuidArg(r.Run))
	if err != nil || h.Err != nil {
		return err
	}
	if err := addTerminal(q, &h.Run); err != nil {
		return err
	}
	return q.query(loadAnswerSQL, func(in row) error {
		h.Answer = &journal.Answer{Payload: in.payload(0, 1), Rejected: in.bool(2)}
		return nil
	}, uuidArg(r.Run), int64(r.Answer))
}
