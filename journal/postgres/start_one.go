package postgres

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// startOneSQL is startSQL for a single run: a caller that is not one of many sends nothing else,
// and most of a call of one was unnesting arrays of one. Locks and guarantees are those of
// startSQL.
const startOneSQL = `
WITH owner AS (
    SELECT EXISTS (SELECT FROM reprise.members m WHERE m.node = $1::int AND m.incarnation = $2::uuid AND m.lost_at IS NULL) AS alive
), made AS (
    INSERT INTO reprise.runs (id, created_at, start_at, version, priority, holds_key, workflow, queue, key, labels,
                              input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy,
                              headers, timeout, on_failure, beyond_backlog)
    VALUES ($3::uuid, statement_timestamp(), statement_timestamp() + $13::bigint * interval '1 microsecond', $6::int, $8::smallint,
            $4::text IS NOT NULL, $5::text, $7::text, $4::text, $9::text::jsonb, $10::bytea, $11::text, $12::text,
            $14::uuid, $15::int, $16::int, $17::smallint, $18::text, $19::bigint, $20::text, $21::bool)
    ON CONFLICT DO NOTHING
    RETURNING id, created_at, start_at
), queued AS (
    INSERT INTO reprise.tasks (run_id, visible_at, fence, owner, unproven, version, priority, queue, workflow)
    SELECT m.id, CASE WHEN o.alive THEN 'infinity' ELSE coalesce(m.start_at, m.created_at) END,
           o.alive::int::bigint << 20, CASE WHEN o.alive THEN $1::int ELSE 0 END, o.alive, $6::int, $8::smallint, $7::text, $5::text
    FROM made m CROSS JOIN owner o
)
SELECT m.id, coalesce(m.start_at, m.created_at), o.alive, clock_timestamp() FROM made m CROSS JOIN owner o`

// addOne adds startOneSQL for a member to an exchange.
func (r *startRound) addOne(ctx context.Context, x *exchange, i int) error {
	st := &r.starts[i]
	labels, err := driver.EncodeLabels(st.Labels)
	if err != nil {
		return err
	}
	headers, err := driver.EncodeHeaders(st.Headers)
	if err != nil {
		return err
	}
	owner := ownerOf(st)
	incarnation := r.s.roster.incarnation(owner)
	v := &binaryValues{list: make([][]byte, 0, 21)}
	v.int32(int32(owner))
	v.bytes(incarnation.Bytes[:])
	v.bytes(st.ID[:])
	v.nullText(st.Key)
	v.bytes([]byte(st.Workflow))
	v.int32(st.Version)
	v.bytes([]byte(st.Queue))
	v.int16(st.Priority)
	v.nullText(labels)
	v.bytes(nullBytes(st.Input.Data))
	v.nullText(st.Input.Encoding)
	v.nullText(st.Trace)
	v.nullInt64(st.Delay.Microseconds())
	if p := st.Parent; p != nil {
		v.bytes(p.Run[:])
		v.nullInt32(int32(p.Generation))
		v.nullInt32(int32(p.Cmd))
		v.nullInt16(int16(p.Policy))
	} else {
		v.list = append(v.list, nil, nil, nil, nil)
	}
	v.nullText(headers)
	v.nullInt64(st.Timeout.Microseconds())
	v.nullText(st.OnFailure)
	v.nullBool(st.BeyondBacklog)
	return x.add(ctx, r.s.sql.startOne, v.list, binaryForm, r.readMade(func(journal.RunID) int { return i }))
}
