package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
)

// alterDeleteSQL forgets a closed run. The lock on its row is the first, so two deletes agree.
const alterDeleteSQL = `
WITH gone AS (
    DELETE FROM reprise.runs r WHERE r.id = $1::uuid AND r.status <> 0 RETURNING r.id
), events AS (
    DELETE FROM reprise.events e USING gone g WHERE e.run_id = ANY (ARRAY[g.id])
), inbox AS (
    DELETE FROM reprise.inbox m USING gone g WHERE m.run_id = ANY (ARRAY[g.id])
)
SELECT EXISTS (SELECT FROM gone), EXISTS (SELECT FROM reprise.runs r WHERE r.id = $1::uuid)`

// alterResumeSQL makes a run visible. Of an owned one the owner is only asked to look.
const alterResumeSQL = `
WITH resumed AS (
    UPDATE reprise.tasks t
    SET visible_at = now(),
        state   = CASE WHEN t.owner = 0 THEN 0 ELSE t.state END,
        strikes = CASE WHEN t.owner = 0 THEN 0 ELSE t.strikes END,
        problem = CASE WHEN t.owner = 0 THEN '' ELSE t.problem END
    WHERE t.run_id = $1::uuid
    RETURNING t.run_id
)
SELECT EXISTS (SELECT FROM resumed), EXISTS (SELECT FROM reprise.runs r WHERE r.id = $1::uuid)`

// alterLockSQL takes the task's row lock, so that the next statement sees the last commit of the owner.
const alterLockSQL = `SELECT t.run_id FROM reprise.tasks t WHERE t.run_id = $1::uuid FOR UPDATE`

// alterTerminateSQL closes a run whoever owns it: the owner's next commit finds no task and is refused (J3, J7).
const alterTerminateSQL = `
WITH removed AS (
    DELETE FROM reprise.tasks t WHERE t.run_id = $1::uuid RETURNING t.run_id, t.generation
), last AS (
    SELECT d.run_id, d.generation, coalesce(max(e.seq), 0) AS seq, max(e.at) AS at
    FROM removed d
    LEFT JOIN LATERAL (
        SELECT e.seq, e.at FROM reprise.events e
        WHERE e.run_id = d.run_id AND e.generation = d.generation ORDER BY e.seq DESC LIMIT 1) e ON true
    GROUP BY d.run_id, d.generation
), written AS (
    INSERT INTO reprise.events (run_id, generation, seq, kind, at, encoding, payload)
    SELECT l.run_id, l.generation, l.seq + 1, $2::smallint, greatest(l.at, clock_timestamp()), $3::text, $4::bytea FROM last l
), closed AS (
    UPDATE reprise.runs r SET status = $5::smallint, closed_at = clock_timestamp(), closed_seq = l.seq + 1
    FROM last l WHERE r.id = ANY (ARRAY[l.run_id])
)
SELECT EXISTS (SELECT FROM last), EXISTS (SELECT FROM reprise.runs r WHERE r.id = $1::uuid)`

// Alter implements journal.Store.
func (s *Store) Alter(ctx context.Context, a journal.Alteration) error {
	var done, exists bool
	scan := each(func(row pgx.CollectableRow) error { return row.Scan(&done, &exists) })
	var p func() *pipeline
	refused := journal.ErrClosed
	switch a.Op {
	case journal.OpDelete:
		refused = journal.ErrOpen
		p = func() *pipeline { p := new(pipeline); p.query(s.sql.alterDelete, scan, id(a.Run)); return p }
	case journal.OpResume:
		p = func() *pipeline { p := new(pipeline); p.query(s.sql.alterResume, scan, id(a.Run)); return p }
	case journal.OpTerminate:
		why := journal.EncodeFailure(&journal.Failure{Type: journal.FailureTerminate, Message: a.Reason, Permanent: true})
		p = func() *pipeline {
			p := new(pipeline)
			p.exec(s.sql.alterLock, id(a.Run))
			p.query(s.sql.alterTerminate, scan, id(a.Run), int16(journal.RunTerminated), why.Encoding, why.Data, int16(journal.Terminated))
			return p
		}
	default:
		return fmt.Errorf("operation %d: %w", a.Op, journal.ErrInvalid)
	}
	if err := s.call(ctx, func(ctx context.Context, c *pgx.Conn) error { return p().send(ctx, c) }); err != nil {
		return err
	}
	switch {
	case done:
		return nil
	case exists:
		return refused
	}
	return journal.ErrNotFound
}
