package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// lockTasksSQL takes the row locks under which inbox numbers are given out (J5), in the order of
// run ids, so that two calls that send to the same runs queue up instead of deadlocking.
const lockTasksSQL = `SELECT t.run_id FROM reprise.tasks t WHERE t.run_id = ANY ($1::uuid[]) ORDER BY t.run_id FOR UPDATE`

// freeTasksSQL returns those of some tasks that nobody has locked, and locks them until the
// transaction ends, which is at once.
const freeTasksSQL = `SELECT t.run_id FROM reprise.tasks t WHERE t.run_id = ANY ($1::uuid[]) ORDER BY t.run_id FOR UPDATE SKIP LOCKED`

// existingTasksSQL returns those of some tasks that exist.
const existingTasksSQL = `SELECT t.run_id FROM reprise.tasks t WHERE t.run_id = ANY ($1::uuid[]) ORDER BY t.run_id`

// sendSQL puts messages into inboxes. It runs after lockTasksSQL in the same transaction. Its
// snapshot is taken under the locks, so it sees every message that has a number, and the number
// after the newest is free (J5): numbers of one run have no gaps, and their order is that in which
// the senders got the lock.
//
// A message whose key is there already is a duplicate, and the answer is the first one's number:
// this is what makes a repeated call have one effect (J4). Keys are looked up for closed runs as
// well, so that a sender whose answer was lost is not told that the run is closed although its
// message was read. Messages with one key in one call are left out before; see sendList.
//
// A message makes a waiting task visible at once (J6); of an owned task, which is invisible, it
// makes claimAttentionSQL find it. A blocked or quarantined task does not become visible by a
// message: the next try has its own time.
//
// The joins are on keys of single rows, in the forms that "Plans" explains.
const sendSQL = `
WITH looked AS (
    SELECT i.*, x.number AS known, t.run_id IS NOT NULL AS open, t.inbox_last, t.owner, t.queue, t.workflow, t.version
    FROM unnest($1::uuid[], $2::text[], $3::smallint[], $4::text[], $5::bytea[], $6::text[], $7::int[], $8::int[], $9::bigint[])
         WITH ORDINALITY AS i(run_id, key, kind, name, payload, encoding, cmd, generation, digest, ord)
    LEFT JOIN LATERAL (
        SELECT t.run_id, t.inbox_last, t.owner, t.queue, t.workflow, t.version
        FROM reprise.tasks t WHERE t.run_id = ANY (ARRAY[i.run_id])) t ON true
    LEFT JOIN LATERAL (
        SELECT x.number FROM reprise.inbox x WHERE x.run_id = ANY (ARRAY[i.run_id]) AND x.key = i.key) x ON true
), fresh AS (
    SELECT l.*, l.inbox_last + row_number() OVER (PARTITION BY l.run_id ORDER BY l.ord) AS number
    FROM looked l WHERE l.open AND l.known IS NULL
), numbered AS (
    UPDATE reprise.tasks t
    SET inbox_last = f.number,
        visible_at = CASE WHEN t.state = 0 THEN least(t.visible_at, now()) ELSE t.visible_at END -- J6
    FROM (SELECT f.run_id, max(f.number) AS number FROM fresh f GROUP BY f.run_id) f
    WHERE t.run_id = ANY (ARRAY[f.run_id])
), written AS (
    INSERT INTO reprise.inbox (run_id, number, at, digest, kind, name, key, encoding, payload, cmd, generation)
    SELECT f.run_id, f.number, statement_timestamp(), f.digest, f.kind, f.name, f.key, f.encoding, f.payload, f.cmd, f.generation FROM fresh f
)
SELECT l.ord, coalesce(l.known, 0), false, l.open, coalesce(l.owner, 0), coalesce(l.queue, ''), coalesce(l.workflow, ''),
       coalesce(l.version, 0), l.open OR (SELECT r.version FROM reprise.runs r WHERE r.id = l.run_id) IS NOT NULL
FROM looked l WHERE NOT l.open OR l.known IS NOT NULL
UNION ALL
SELECT f.ord, f.number, true, true, f.owner, f.queue, f.workflow, f.version, true FROM fresh f`

// Send implements driver.Store.
func (s *Store) Send(ctx context.Context, tx journal.Tx, messages []journal.Message) ([]journal.Sent, error) {
	ctx, end := s.singles.enter(inShare(ctx, clientShare), len(messages))
	defer end()
	out := make([]journal.Sent, len(messages))
	size := func(i int) int { return driver.MessageBytes(&messages[i]) }
	err := inChunks(len(messages), size, func(from, to int) error {
		if tx == nil {
			return sendMany(ctx, s, messages[from:to], out[from:to])
		}
		return s.in(ctx, tx, func(ctx context.Context, q querier) error {
			return sendInside(ctx, s, q, messages[from:to], out[from:to])
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Around what is sent in a transaction of a caller's, so that it can be repeated: an error would
// fail all that the caller has done in it.
const (
	sendSavepointSQL = `SAVEPOINT reprise_send`
	sendReleaseSQL   = `RELEASE SAVEPOINT reprise_send`
	sendUndoSQL      = `ROLLBACK TO SAVEPOINT reprise_send`
)

// sendInside sends messages in a transaction of the caller's.
func sendInside(ctx context.Context, s *Store, q querier, messages []journal.Message, out []journal.Sent) error {
	for try := 1; ; try++ {
		err := s.sendChunk(ctx, q, messages, out, true)
		if !appeared(err) || try >= conflictTriesMax {
			return err
		}
		if _, err := q.Exec(ctx, sendUndoSQL); err != nil {
			return err
		}
		clear(out)
	}
}

// sendMany sends messages in a transaction of their own. Those to runs whose tasks are held are
// left out if the caller is impatient.
func sendMany(ctx context.Context, s *Store, messages []journal.Message, out []journal.Sent) error {
	err := s.call(ctx, func(ctx context.Context, c *pgx.Conn) error { return s.sendChunk(ctx, c, messages, out, false) })
	if !lockTimeout(err) || !hasty(ctx, len(messages)) {
		return err
	}
	held := batchHeld{
		n:      len(messages),
		run:    func(k int) journal.RunID { return messages[k].Run },
		refuse: func(k int) { out[k] = journal.Sent{Err: driver.ErrHeld} },
		isHeld: func(k int) bool { return errors.Is(out[k].Err, driver.ErrHeld) },
		locked: func(ctx context.Context, runs []journal.RunID) (lockedRuns, error) { return lockedTasks(ctx, s, runs) },
		write: func(ctx context.Context, members []int) error {
			part, sent := make([]journal.Message, len(members)), make([]journal.Sent, len(members))
			for i, k := range members {
				part[i] = messages[k]
			}
			err := sendMany(ctx, s, part, sent)
			for i, k := range members {
				out[k] = sent[i]
			}
			return err
		},
	}
	return held.apart(ctx)
}

// lockedTasks returns those of the runs whose tasks are locked by somebody now.
func lockedTasks(ctx context.Context, s *Store, runs []journal.RunID) (lockedRuns, error) {
	held := lockedRuns{}
	note := func(value bool) func(rows pgx.Rows) error {
		return each(func(row pgx.CollectableRow) error {
			var run pgtype.UUID
			err := row.Scan(&run)
			held[run.Bytes] = value
			return err
		})
	}
	ids := runIDs(runs)
	look, cancel := context.WithTimeout(ctx, heldLookMax)
	defer cancel()
	err := s.call(look, func(ctx context.Context, c *pgx.Conn) error {
		clear(held)
		var p pipeline
		p.exec(heldWaitSQL)
		p.query(s.sql.commit.existing, note(true), ids)
		p.query(s.sql.commit.free, note(false), ids)
		return p.send(ctx, c)
	})
	if lockTimeout(err) || look.Err() != nil && ctx.Err() == nil { // the whole table is locked
		for _, run := range runs {
			held[run] = true
		}
		return held, nil
	}
	return held, err
}

// messageKey is what makes a message a duplicate.
type messageKey struct {
	run journal.RunID
	key string
}

// sendChunk locks the runs of messages and puts these into their inboxes, in one round trip.
// savepoint says that it is part of a transaction, of which an error shall undo no more than that.
func (s *Store) sendChunk(ctx context.Context, q querier, messages []journal.Message, out []journal.Sent, savepoint bool) error {
	var p pipeline
	if savepoint {
		p.exec(sendSavepointSQL)
	}
	ids := make([]pgtype.UUID, len(messages))
	for i := range messages {
		ids[i] = uuidArg(messages[i].Run)
	}
	if hasty(ctx, len(messages)) {
		p.exec(heldWaitSQL)
	}
	p.exec(s.sql.lockTasks, ids)
	s.queueSend(&p, messages, out)
	if savepoint {
		p.exec(sendReleaseSQL)
	}
	if err := p.send(ctx, q); err != nil {
		return err
	}
	if slices.ContainsFunc(out, func(o journal.Sent) bool { return o.Duplicate }) {
		_, err := q.Exec(ctx, durableSQL)
		return err
	}
	return nil
}

// queueSend adds sendSQL. The tasks are locked already; the outcomes are in out when the pipeline
// has been sent.
func (s *Store) queueSend(p *pipeline, messages []journal.Message, out []journal.Sent) {
	l := sendList{
		messages: messages, firsts: make(map[messageKey]int, len(messages)),
		index: make([]int, 0, len(messages)),
	}
	for i := range messages {
		l.add(i)
	}
	if l.cmds != nil {
		l.cmds, l.generations = l.cmds[:len(l.index)], l.generations[:len(l.index)]
	}
	p.query(s.sql.send, func(rows pgx.Rows) error {
		if err := each(l.scan(out))(rows); err != nil {
			return err
		}
		l.duplicates(out)
		return nil
	}, l.ids, l.keys, l.kinds, l.names, l.payloads, l.encodings, l.cmds, l.generations, l.digests)
}

// sendList is the parameters of sendSQL. Of messages with one key for one run only the first is
// sent, as the statement sees what is stored, not what it is about to store; the others get the
// first one's outcome, as duplicates.
type sendList struct {
	messages         []journal.Message
	firsts           map[messageKey]int
	index            []int // of the messages that are sent: the first of each key
	ids              []pgtype.UUID
	keys             []string
	kinds            []int16
	names, encodings []*string
	payloads         [][]byte
	digests          []int64

	cmds, generations []*int32 // of answers; null if there are none
}

func (l *sendList) add(i int) {
	m := &l.messages[i]
	k := messageKey{m.Run, m.Key}
	if _, known := l.firsts[k]; known {
		return
	}
	l.firsts[k] = i
	l.index = append(l.index, i)
	l.ids, l.keys, l.kinds = append(l.ids, uuidArg(m.Run)), append(l.keys, m.Key), append(l.kinds, int16(m.Kind))
	l.names, l.encodings = append(l.names, nullText(m.Name)), append(l.encodings, nullText(m.Payload.Encoding))
	l.payloads = append(l.payloads, nullBytes(m.Payload.Data))
	stored := *m
	if !m.Kind.Answers() { // a command of its sender is no business of the receiver
		stored.Cmd, stored.Generation = 0, 0
	}
	l.digests = append(l.digests, int64(stored.Digest()))
	if !m.Kind.Answers() {
		return
	}
	if l.cmds == nil {
		l.cmds, l.generations = make([]*int32, len(l.messages)), make([]*int32, len(l.messages))
	}
	n := len(l.index) - 1
	l.cmds[n], l.generations[n] = nullInt(int32(m.Cmd)), nullInt(int32(m.Generation))
}

// scan reads the outcome of a message that was sent.
func (l *sendList) scan(out []journal.Sent) func(row pgx.CollectableRow) error {
	return func(row pgx.CollectableRow) error {
		var ord int64
		var sent journal.Sent
		var fresh, open, exists bool
		err := row.Scan(&ord, &sent.Number, &fresh, &open, &sent.Owner, &sent.Route.Queue, &sent.Route.Workflow,
			&sent.Route.Version, &exists)
		if err != nil {
			return err
		}
		sent.Duplicate = !fresh && sent.Number > 0
		if !open && !sent.Duplicate {
			sent.Err = errNotOpen(exists)
		}
		out[l.index[ord-1]] = sent
		return nil
	}
}

// errNotOpen is the error for a message to a run without a task: ErrClosed if the run exists, else
// ErrNotFound.
func errNotOpen(exists bool) error {
	if exists {
		return journal.ErrClosed
	}
	return journal.ErrNotFound
}

// duplicates fills in the outcomes of messages that were left out.
func (l *sendList) duplicates(out []journal.Sent) {
	for i := range l.messages {
		first := l.firsts[messageKey{l.messages[i].Run, l.messages[i].Key}]
		if first != i {
			out[i] = out[first]
			out[i].Duplicate = out[first].Err == nil
		}
	}
}
