package sqlite

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// sendKnownSQL finds the message that has a key already: this is what makes a repeated call have
// one effect (J4). It is asked for closed runs as well, so that a sender whose answer was lost is
// not told that the run is closed although its message was read.
const sendKnownSQL = `SELECT m.number FROM reprise_inbox m WHERE m.run_id = ? AND m.key = ?`

// sendTaskSQL reads the task that gives out the number; no row means that the run is closed, or not
// there.
const sendTaskSQL = `
SELECT t.inbox_last, t.owner, t.queue, t.workflow, t.version, t.state, t.visible_at FROM reprise_tasks t WHERE t.run_id = ?`

// sendSQL puts a message into an inbox, with the digest that a commit must name to consume it.
const sendSQL = `
INSERT INTO reprise_inbox (run_id, number, at, digest, kind, name, key, encoding, payload, cmd, generation)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// sendCountSQL gives out a number (J5) and makes the task visible (J6). The number is one above
// that which sendTaskSQL has read in the same transaction, so numbers have no gaps and their order
// is that of the writer.
const sendCountSQL = `UPDATE reprise_tasks SET inbox_last = ?, visible_at = ? WHERE run_id = ?`

// sendExistsSQL tells a closed run from none.
const sendExistsSQL = `SELECT 1 FROM reprise_runs r WHERE r.id = ?`

// Send implements driver.Store.
func (s *Store) Send(ctx context.Context, tx journal.Tx, messages []journal.Message) ([]journal.Sent, error) {
	out := make([]journal.Sent, len(messages))
	size := 0
	for i := range messages {
		size += driver.MessageBytes(&messages[i])
	}
	err := s.in(ctx, tx, size, func(q querier) error {
		for i := range messages {
			var err error
			if out[i], err = send(q, &messages[i], now()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// send puts a message into an inbox, or finds out why not. Its Cmd is kept only with an answer:
// otherwise it is the sender's own business.
//
// A message makes a waiting task visible at once; of an owned task, which is invisible, it makes
// claimAttentionSQL find it. A blocked or quarantined task does not become visible by a message:
// the next try has its own time.
func send(q querier, m *journal.Message, at time.Time) (out journal.Sent, err error) {
	open, state, visible := false, journal.Ready, time.Time{}
	last := journal.InboxSeq(0)
	err = q.query(sendTaskSQL, func(r row) error {
		open, last, out.Owner = true, journal.InboxSeq(r.int(0)), journal.NodeID(r.int(1))
		out.Route = journal.Route{Queue: r.text(2), Workflow: r.text(3), Version: int32(r.int(4))}
		state, visible = journal.TaskState(r.int(5)), r.time(6)
		return nil
	}, uuidArg(m.Run))
	if err != nil {
		return out, err
	}
	err = q.query(sendKnownSQL, func(r row) error { out.Number, out.Duplicate = journal.InboxSeq(r.int(0)), true; return nil },
		uuidArg(m.Run), m.Key)
	if err != nil || out.Duplicate {
		return out, err
	}
	if !open {
		return errNotOpen(q, m.Run)
	}
	out.Number = last + 1
	cmd, generation := journal.Cmd(0), journal.Generation(0)
	if m.Kind.Answers() {
		cmd, generation = m.Cmd, m.Generation
	}
	_, err = q.exec(sendSQL, uuidArg(m.Run), int64(out.Number), at.UnixMicro(), int64(m.Digest()), int64(m.Kind), nullText(m.Name), m.Key,
		nullText(m.Payload.Encoding), nullBytes(m.Payload.Data), nullInt(cmd), nullInt(generation))
	if err != nil {
		return out, err
	}
	// A blocked or quarantined task does not become visible by a message.
	if state == journal.Ready && (visible.IsZero() || visible.After(at)) {
		visible = at
	}
	_, err = q.exec(sendCountSQL, int64(out.Number), nullTime(visible), uuidArg(m.Run))
	return out, err
}

// errNotOpen is the outcome of a message to a run without a task: ErrClosed if the run exists, else
// ErrNotFound.
func errNotOpen(q querier, run journal.RunID) (journal.Sent, error) {
	out := journal.Sent{Err: journal.ErrNotFound}
	err := q.query(sendExistsSQL, func(row) error { out.Err = journal.ErrClosed; return nil }, uuidArg(run))
	return out, err
}
