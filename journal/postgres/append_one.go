package postgres

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// appendOneSQL is appendSQL for a single turn of a single event, which is what a node that is not
// busy writes for a further step. It has the same lock before it and the same guarantees. The
// answer has one verdict, false if the recall number is not the one that the node knows.
const appendOneSQL = `
WITH me AS MATERIALIZED (
    SELECT m.recalled FROM reprise.members m WHERE m.node = $1::int AND m.incarnation = $2::uuid AND m.lost_at IS NULL
), written AS (
    INSERT INTO reprise.events (run_id, generation, seq, kind, cmd, at, link, name, attempt, encoding, payload, issued)
    SELECT $4::uuid, $5::int, $8::int, $9::smallint, $10::int, $11::timestamptz, $12::bigint, $13::text, $14::int, $15::text, $16::bytea,
           $17::text
    FROM me
    WHERE me.recalled = $3::bigint AND (
        SELECT e.link FROM reprise.events e
        WHERE e.run_id = $4::uuid AND e.generation = $5::int AND e.seq >= $6::int ORDER BY e.seq DESC LIMIT 1) = $7::bigint
    RETURNING true
)
SELECT (SELECT me.recalled FROM me), EXISTS (SELECT FROM written), clock_timestamp()`

// addOne is addAppends for one member with one event.
func (w *writing) addOne(ctx context.Context, x *exchange, g *appends) error {
	c := &w.commits[g.order[0]]
	ev := &c.Events[0]
	p := driver.StoredPayload(ev)
	var v binaryValues
	v.list = make([][]byte, 0, 17)
	v.int32(int32(g.m.id))
	v.bytes(g.m.incarnation[:])
	v.int64(g.known)
	v.bytes(c.Run[:])
	v.int32(int32(c.Generation))
	v.int32(int32(c.Head.Seq))
	v.int64(int64(c.Head.Link))
	v.int32(int32(ev.Seq))
	v.int16(int16(ev.Kind))
	v.nullInt32(int32(ev.Cmd))
	v.int64(ev.Time.UnixMicro() - epochMicros)
	v.int64(int64(ev.Link))
	v.nullText(ev.Name)
	v.nullInt32(ev.Attempt)
	v.nullText(p.Encoding)
	v.bytes(nullBytes(p.Data))
	v.nullText(journal.EncodeIssued(ev.Issued))
	return x.add(ctx, w.s.sql.appendOne, v.list, binaryForm, func(row [][]byte) error {
		g.answerOne(row, w.out)
		return nil
	})
}
