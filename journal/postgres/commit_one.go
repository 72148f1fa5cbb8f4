package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// commitOneSQL is commitSQL for a single turn that leaves the run open.
//
// A node that is not busy writes nothing else, and of such a call most was not the rows but the
// parts of a statement made for batches: arrays to unnest, a lock that the update takes anyway,
// branches for every kind of next state. So it has no more parts than it must. The slots of events
// that are not there are null and are not written.
//
// The guarantees are those of commitSQL: the update's condition decides (J3), on the newest version
// of the row if the lock had to be waited for, and the events join with the row that it returns.
const commitOneSQL = `
WITH kept AS (
    -- J3: owner, fence and turn decide, of the newest version of the row, also if its lock had to
    -- be waited for. The owner is compared so that the planner does not think of tasks_owner_idx.
    UPDATE reprise.tasks t
    SET turn = t.turn + 1, unproven = false, strikes = 0,
        attempts = coalesce($5::bytea, ''), waiting = coalesce($6::text, ''), problem = coalesce($7::text, ''),
        state = CASE WHEN $8::smallint = 3 THEN 1 ELSE 0 END,
        owner = CASE WHEN $8::smallint = 0 THEN t.owner ELSE 0 END,
        visible_at = CASE
            WHEN $8::smallint = 2 THEN now()
            WHEN $8::smallint = 3 THEN coalesce($9::timestamptz, 'infinity')
            WHEN t.inbox_last > $10::bigint THEN now() -- J6
            WHEN $8::smallint = 1 THEN coalesce($9::timestamptz, 'infinity')
            ELSE 'infinity' END
    WHERE t.run_id = $1::uuid AND t.owner = $2::int AND $2::int > 0 AND t.fence = $3::bigint AND t.turn = $4::bigint
    RETURNING t.run_id, t.inbox_last
), written AS (
    -- J1: the primary key refuses a seq that exists.
    INSERT INTO reprise.events (run_id, generation, seq, kind, cmd, inbox, at, name, attempt, encoding, payload, issued)
    SELECT k.run_id, $11::int, e.seq, e.kind, e.cmd, e.inbox, e.at, e.name, e.attempt, e.encoding, e.payload, e.issued
    FROM kept k CROSS JOIN (VALUES
        ($12::int, $13::smallint, $14::int, $15::bigint, $16::timestamptz, $17::text, $18::int, $19::text, $20::bytea, $21::text),
        ($22::int, $23::smallint, $24::int, $25::bigint, $26::timestamptz, $27::text, $28::int, $29::text, $30::bytea, $31::text),
        ($32::int, $33::smallint, $34::int, $35::bigint, $36::timestamptz, $37::text, $38::int, $39::text, $40::bytea, $41::text))
         AS e(seq, kind, cmd, inbox, at, name, attempt, encoding, payload, issued)
    WHERE e.seq IS NOT NULL
)
SELECT k.inbox_last, clock_timestamp() FROM kept k`

// commitOneCloseSQL is commitSQL for a single turn that closes the run. Here the DELETE of the task
// decides, and everything else joins with the row that it returns, so terminal event, status and
// the end of the task are there together or not at all (J7).
const commitOneCloseSQL = `
WITH removed AS (
    DELETE FROM reprise.tasks t -- J3: as above
    WHERE t.run_id = $1::uuid AND t.owner = $2::int AND $2::int > 0 AND t.fence = $3::bigint AND t.turn = $4::bigint
    RETURNING t.run_id, t.inbox_last
), closed AS (
    -- J7: terminal event, status and the end of the task are one statement.
    UPDATE reprise.runs r
    SET status = $5::smallint, closed_at = clock_timestamp(), closed_seq = $6::int, closed_fence = $3::bigint
    FROM removed d WHERE r.id = ANY (ARRAY[d.run_id])
), written AS (
    INSERT INTO reprise.events (run_id, generation, seq, kind, cmd, inbox, at, name, attempt, encoding, payload, issued)
    SELECT d.run_id, $7::int, e.seq, e.kind, e.cmd, e.inbox, e.at, e.name, e.attempt, e.encoding, e.payload, e.issued
    FROM removed d CROSS JOIN (VALUES
        ($8::int, $9::smallint, $10::int, $11::bigint, $12::timestamptz, $13::text, $14::int, $15::text, $16::bytea, $17::text),
        ($18::int, $19::smallint, $20::int, $21::bigint, $22::timestamptz, $23::text, $24::int, $25::text, $26::bytea, $27::text),
        ($28::int, $29::smallint, $30::int, $31::bigint, $32::timestamptz, $33::text, $34::int, $35::text, $36::bytea, $37::text))
         AS e(seq, kind, cmd, inbox, at, name, attempt, encoding, payload, issued)
    WHERE e.seq IS NOT NULL
)
SELECT d.inbox_last, clock_timestamp() FROM removed d`

// commitOneEvents is how many events the statements have slots for. A run of one step begins and
// ends in one turn of three events: it started, the step completed, the run completed.
const commitOneEvents = 3

// write runs the statement that fits a batch of checked members. Both statements have the same
// outcome for a batch of one; which one runs is a matter of cost only.
func (s *Store) write(ctx context.Context, q querier, commits []driver.Commit, order []int, out []driver.Outcome) error {
	if c := &commits[order[0]]; len(order) == 1 && len(c.Events) <= commitOneEvents {
		o, err := s.writeOne(ctx, q, c)
		out[order[0]] = o
		return err
	}
	return s.writeMany(ctx, q, commits, order, out)
}

// writeOne is writeMany for one member with few events. ErrFenced is as preliminary here as there.
func (s *Store) writeOne(ctx context.Context, q querier, c *driver.Commit) (driver.Outcome, error) {
	sql, args := s.sql.commitOne, make([]any, 0, 41)
	args = append(args, uuidArg(c.Run), int32(c.Node), int64(c.Fence), int64(c.Turn))
	if t := c.Terminal(); t != nil {
		status, _ := journal.StatusOf(t.Kind)
		sql, args = s.sql.commitOneClose, append(args, int16(status), int32(t.Seq))
	} else {
		attempts, err := driver.EncodeAttempts(c.Attempts)
		if err != nil {
			return driver.Outcome{}, attemptsError(c, err)
		}
		args = append(args, attempts, nullText(joinWaiting(c.Waiting, parkedUntil(c))), nullText(c.Next.Problem), int16(c.Next.Kind), nullTime(c.Next.At), int64(c.InboxSeen))
	}
	args = append(args, int32(c.Generation))
	for i := range c.Events {
		ev := &c.Events[i]
		p := driver.StoredPayload(ev)
		args = append(args, int32(ev.Seq), int16(ev.Kind), nullInt(int32(ev.Cmd)), nullInt(int64(ev.Inbox)), ev.Time, nullText(ev.Name),
			nullInt(ev.Attempt), nullText(p.Encoding), nullBytes(p.Data), nullText(journal.EncodeIssued(ev.Issued)))
	}
	for range commitOneEvents - len(c.Events) {
		args = append(args, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil)
	}
	var last int64
	var now time.Time
	err := q.QueryRow(ctx, sql, args...).Scan(&last, &now)
	switch {
	case err == nil:
		return driver.Outcome{InboxLast: journal.InboxSeq(last), Now: now.UTC()}, nil
	case errors.Is(err, pgx.ErrNoRows):
		return driver.Outcome{Err: journal.ErrFenced}, nil
	}
	return driver.Outcome{}, err
}

// parkedUntil is when the task of a run that is parked becomes visible by time.
func parkedUntil(c *driver.Commit) time.Time {
	if c.Next.Kind != driver.NextPark {
		return time.Time{}
	}
	return c.Next.At
}
