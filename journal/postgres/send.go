package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
)

// sendLockSQL takes the row locks under which inbox numbers are given out (J5), in the order of run ids.
const sendLockSQL = `SELECT t.run_id FROM reprise.tasks t WHERE t.run_id = ANY ($1::uuid[]) ORDER BY t.run_id FOR UPDATE`

// sendSQL runs behind sendLockSQL in the same transaction. Its snapshot is taken under the locks, so it sees every
// message that has a number. A blocked or quarantined task does not become visible by a message.
const sendSQL = `
WITH looked AS (
    SELECT i.*, x.number AS known, t.run_id IS NOT NULL AS open, t.inbox_last, t.owner, t.queue, t.workflow, t.version
    FROM unnest($1::uuid[], $2::text[], $3::smallint[], $4::text[], $5::bytea[], $6::text[])
         WITH ORDINALITY AS i(run_id, key, kind, name, payload, encoding, ord)
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
    INSERT INTO reprise.inbox (run_id, number, at, kind, name, key, encoding, payload)
    SELECT f.run_id, f.number, statement_timestamp(), f.kind, f.name, f.key, f.encoding, f.payload FROM fresh f
)
SELECT l.ord, coalesce(l.known, 0), false, l.open, coalesce(l.owner, 0), coalesce(l.queue, ''), coalesce(l.workflow, ''),
       coalesce(l.version, 0), l.open OR (SELECT r.version FROM reprise.runs r WHERE r.id = l.run_id) IS NOT NULL
FROM looked l WHERE NOT l.open OR l.known IS NOT NULL
UNION ALL
SELECT f.ord, f.number, true, true, f.owner, f.queue, f.workflow, f.version, true FROM fresh f`

// Send implements journal.Store.
func (s *Store) Send(ctx context.Context, tx journal.Tx, messages []journal.Message) ([]journal.Sent, error) {
	out := make([]journal.Sent, len(messages))
	size := func(i int) int { return len(messages[i].Payload.Data) }
	err := inChunks(len(messages), size, func(from, to int) error {
		return s.in(ctx, tx, func(ctx context.Context, q querier) error {
			return s.sendChunk(ctx, q, messages[from:to], out[from:to])
		})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// messageKey is what makes a message a duplicate.
type messageKey struct {
	run journal.RunID
	key string
}

func (s *Store) sendChunk(ctx context.Context, q querier, messages []journal.Message, out []journal.Sent) error {
	var (
		firsts           = make(map[messageKey]int, len(messages))
		index            []int // of the messages that are sent: the first of each key
		ids              []pgtype.UUID
		keys             []string
		kinds            []int16
		names, encodings []*string
		payloads         [][]byte
	)
	for i := range messages {
		m := &messages[i]
		k := messageKey{m.Run, m.Key}
		if _, known := firsts[k]; known {
			continue
		}
		firsts[k] = i
		index = append(index, i)
		ids, keys, kinds = append(ids, id(m.Run)), append(keys, m.Key), append(kinds, int16(m.Kind))
		names, encodings = append(names, text(m.Name)), append(encodings, text(m.Payload.Encoding))
		payloads = append(payloads, data(m.Payload.Data))
	}
	var p pipeline
	p.exec(s.sql.sendLock, ids)
	p.query(s.sql.send, each(func(row pgx.CollectableRow) error {
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
			sent.Err = journal.ErrNotFound
			if exists {
				sent.Err = journal.ErrClosed
			}
		}
		out[index[ord-1]] = sent
		return nil
	}), ids, keys, kinds, names, payloads, encodings)
	if err := p.send(ctx, q); err != nil {
		return err
	}
	for i := range messages {
		first := firsts[messageKey{messages[i].Run, messages[i].Key}]
		if first != i {
			out[i] = out[first]
			out[i].Duplicate = out[first].Err == nil
		}
	}
	return nil
}
