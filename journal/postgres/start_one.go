package postgres

import (
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// startOneSQL is startSQL for a single run: a caller that is not one of many sends nothing else,
// and most of a call of one was unnesting arrays of one. Locks and guarantees are those of
// startSQL.
const startOneSQL = `
WITH owner AS (
    SELECT EXISTS (SELECT FROM reprise.members m WHERE m.node = $11::int AND m.incarnation = $17::uuid AND m.lost_at IS NULL) AS alive
), made AS (
    INSERT INTO reprise.runs (id, created_at, start_at, version, priority, holds_key, workflow, queue, key, labels,
                              input, input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy)
    VALUES ($1::uuid, statement_timestamp(), statement_timestamp() + $12::bigint * interval '1 microsecond', $4::int, $6::smallint,
            $2::text IS NOT NULL, $3::text, $5::text, $2::text, $7::text::jsonb, $8::bytea, $9::text, $10::text,
            $13::uuid, $14::int, $15::int, $16::smallint)
    ON CONFLICT DO NOTHING
    RETURNING id, created_at, start_at
), queued AS (
    INSERT INTO reprise.tasks (run_id, visible_at, fence, owner, unproven, version, priority, queue, workflow)
    SELECT m.id, CASE WHEN o.alive THEN 'infinity' ELSE coalesce(m.start_at, m.created_at) END,
           o.alive::int::bigint << 20, CASE WHEN o.alive THEN $11::int ELSE 0 END, o.alive, $4::int, $6::smallint, $5::text, $3::text
    FROM made m CROSS JOIN owner o
)
SELECT m.id, coalesce(m.start_at, m.created_at), o.alive, clock_timestamp() FROM made m CROSS JOIN owner o`

// queueOne adds startOneSQL for a member.
func (r *startRound) queueOne(p *pipeline, i int) error {
	st := &r.starts[i]
	labels, err := driver.EncodeLabels(st.Labels)
	if err != nil {
		return err
	}
	owner := st.Owner
	if st.Delay > 0 {
		owner = 0
	}
	var parent pgtype.UUID
	var generation, cmd *int32
	var policy *int16
	if q := st.Parent; q != nil {
		parent, generation, cmd, policy = uuidArg(q.Run), nullInt(int32(q.Generation)), nullInt(int32(q.Cmd)), nullInt(int16(q.Policy))
	}
	p.query(r.s.sql.startOne, each(r.scanMade(func(journal.RunID) int { return i })), uuidArg(st.ID), nullText(st.Key), st.Workflow, st.Version,
		st.Queue, st.Priority, nullText(labels), nullBytes(st.Input.Data), nullText(st.Input.Encoding), nullText(st.Trace), int32(owner),
		nullInt(st.Delay.Microseconds()), parent, generation, cmd, policy, r.s.roster.incarnation(owner))
	return nil
}

// scanMade reads a run that was created; member tells which start it belongs to.
func (r *startRound) scanMade(member func(journal.RunID) int) func(row pgx.CollectableRow) error {
	return func(row pgx.CollectableRow) error {
		var run pgtype.UUID
		var startAt, now time.Time
		var owned bool
		if err := row.Scan(&run, &startAt, &owned, &now); err != nil {
			return err
		}
		r.out[member(run.Bytes)] = journal.Started{Run: run.Bytes, Created: true, Owned: owned, StartAt: startAt.UTC(), Now: now.UTC()}
		return nil
	}
}
