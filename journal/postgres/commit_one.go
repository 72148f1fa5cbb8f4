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
    UPDATE reprise.tasks t
    SET turn = t.turn + 1, unproven = false, strikes = 0,
        attempts = CASE WHEN $13::smallint = 3 THEN t.attempts ELSE coalesce($10::bytea, '') END, -- a blocked run keeps what it has
        waiting = CASE WHEN $13::smallint = 3 THEN t.waiting ELSE coalesce($11::text, '') END, problem = coalesce($12::text, ''),
        state = CASE -- driver.CommittedState
            WHEN t.state >= 3 THEN CASE WHEN $13::smallint = 0 OR $13::smallint IN (-1, -3) AND t.state = 5 THEN t.state ELSE 3 END -- J11
            WHEN $13::smallint <= -3 THEN 3
            WHEN $13::smallint = 3 THEN 1 ELSE 0 END,
        owner = CASE WHEN $13::smallint <= 0 THEN t.owner ELSE 0 END,
        link = CASE WHEN $13::smallint <= 0 THEN 0 ELSE $16::bigint END,
        visible_at = CASE
            WHEN $13::smallint = 2 THEN now()
            WHEN $13::smallint = 3 THEN coalesce($14::timestamptz, 'infinity')
            WHEN $13::smallint <= 0 AND (t.state >= 3 OR $13::smallint <= -3) THEN 'infinity' -- the answer tells, and a resume makes it visible
            WHEN t.inbox_last > $15::bigint THEN now() -- J6
            WHEN $13::smallint = 1 THEN coalesce($14::timestamptz, 'infinity')
            ELSE 'infinity' END
    WHERE ` + commitOneWhere + `
    RETURNING t.run_id, t.inbox_last, t.state
), written AS (
    -- J1: the primary key refuses a seq that exists.
    INSERT INTO reprise.events (run_id, generation, seq, kind, cmd, inbox, at, link, name, attempt, encoding, payload, issued)
    SELECT k.run_id, $5::int, e.seq, e.kind, e.cmd, e.inbox, e.at, e.link, e.name, e.attempt, e.encoding, e.payload, e.issued
    FROM kept k CROSS JOIN (VALUES
        ($17::int, $18::smallint, $19::int, $20::bigint, $21::timestamptz, $22::bigint, $23::text, $24::int, $25::text, $26::bytea, $27::text),
        ($28::int, $29::smallint, $30::int, $31::bigint, $32::timestamptz, $33::bigint, $34::text, $35::int, $36::text, $37::bytea, $38::text),
        ($39::int, $40::smallint, $41::int, $42::bigint, $43::timestamptz, $44::bigint, $45::text, $46::int, $47::text, $48::bytea, $49::text))
         AS e(seq, kind, cmd, inbox, at, link, name, attempt, encoding, payload, issued)
    WHERE e.seq IS NOT NULL
)
SELECT k.inbox_last, clock_timestamp(), k.state FROM kept k`

// commitOneWhere is what a single commit is accepted by.
//
// J3: owner, fence and turn decide, of the newest version of the row, also if its lock had to be
// waited for. The owner is compared so that the planner does not think of tasks_owner_idx. The
// newest event and the message that is consumed (J5) are each one probe, and only if there is
// something to compare; commitSQL says why they may be read before the lock is had.
const commitOneWhere = `t.run_id = $1::uuid AND t.owner = $2::int AND $2::int > 0 AND t.fence = $3::bigint AND t.turn = $4::bigint
      AND t.generation = $5::int
      AND ($6::int IS NULL OR (
          SELECT e.link FROM reprise.events e
          WHERE e.run_id = $1::uuid AND e.generation = $5::int AND e.seq >= $6::int ORDER BY e.seq DESC LIMIT 1) IS NOT DISTINCT FROM $7::bigint)
      AND ($8::bigint IS NULL OR (
          SELECT m.digest FROM reprise.inbox m
          WHERE m.run_id = $1::uuid AND m.number BETWEEN $8::bigint AND $8::bigint ORDER BY m.number LIMIT 1) = $9::bigint)`

// commitOneCloseSQL is commitSQL for a single turn that closes the run. Here the DELETE of the task
// decides, and everything else joins with the row that it returns, so terminal event, status and
// the end of the task are there together or not at all (J7).
const commitOneCloseSQL = `
WITH removed AS (
    DELETE FROM reprise.tasks t
    WHERE ` + commitOneWhere + `
    RETURNING t.run_id, t.inbox_last
), closed AS (
    -- J7: terminal event, status and the end of the task are one statement.
    UPDATE reprise.runs r
    SET status = $10::smallint, closed_at = clock_timestamp(), closed_seq = $11::int
    FROM removed d WHERE r.id = ANY (ARRAY[d.run_id])
), written AS (
    INSERT INTO reprise.events (run_id, generation, seq, kind, cmd, inbox, at, link, name, attempt, encoding, payload, issued)
    SELECT d.run_id, $5::int, e.seq, e.kind, e.cmd, e.inbox, e.at, e.link, e.name, e.attempt, e.encoding, e.payload, e.issued
    FROM removed d CROSS JOIN (VALUES
        ($12::int, $13::smallint, $14::int, $15::bigint, $16::timestamptz, $17::bigint, $18::text, $19::int, $20::text, $21::bytea, $22::text),
        ($23::int, $24::smallint, $25::int, $26::bigint, $27::timestamptz, $28::bigint, $29::text, $30::int, $31::text, $32::bytea, $33::text),
        ($34::int, $35::smallint, $36::int, $37::bigint, $38::timestamptz, $39::bigint, $40::text, $41::int, $42::text, $43::bytea, $44::text))
         AS e(seq, kind, cmd, inbox, at, link, name, attempt, encoding, payload, issued)
    WHERE e.seq IS NOT NULL
)
SELECT d.inbox_last, clock_timestamp(), 0::smallint FROM removed d`

// commitOneEvents is how many events the statements have slots for. A run of one step begins and
// ends in one turn of three events: it started, the step completed, the run completed.
const commitOneEvents = 3

// fitsOne tells whether a commit fits into the slots of the statements for one.
func fitsOne(c *driver.Commit) bool {
	return len(c.Events) <= commitOneEvents && len(c.Consumed) <= 1 && !c.AppendOnly
}

// one is many for one member with few events. ErrFenced is as preliminary here as there.
func (w *writing) one(ctx context.Context, c *driver.Commit) (driver.Outcome, error) {
	sql, args := w.s.sql.commit.one, make([]any, 0, 49)
	seq, link := comparedHead(c)
	args = append(args, uuidArg(c.Run), int32(c.Node), int64(c.Fence), int64(c.Turn), int32(c.Generation), seq, link)
	if len(c.Consumed) > 0 {
		args = append(args, int64(c.Consumed[0].Number), int64(c.Consumed[0].Digest))
	} else {
		args = append(args, nil, nil)
	}
	if t := c.Terminal(); t != nil {
		status, _ := journal.StatusOf(t.Kind)
		sql, args = w.s.sql.commit.oneClose, append(args, int16(status), int32(t.Seq))
	} else {
		attempts, err := driver.EncodeAttempts(c.Attempts)
		if err != nil {
			return driver.Outcome{}, attemptsError(c, err)
		}
		args = append(args, attempts, nullText(joinWaiting(c.Waiting, parkedUntil(c))), nullText(c.Next.Problem), nextArg(c),
			nullTime(c.Next.At), int64(c.InboxSeen), int64(c.NewHead().Link))
	}
	for i := range c.Events {
		ev := &c.Events[i]
		p := driver.StoredPayload(ev)
		args = append(args, int32(ev.Seq), int16(ev.Kind), nullInt(int32(ev.Cmd)), nullInt(int64(ev.Inbox)), ev.Time, int64(ev.Link),
			nullText(ev.Name), nullInt(ev.Attempt), nullText(p.Encoding), nullBytes(p.Data), nullText(journal.EncodeIssued(ev.Issued)))
	}
	for range commitOneEvents - len(c.Events) {
		args = append(args, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil)
	}
	var o driver.Outcome
	err := w.q.QueryRow(ctx, sql, args...).Scan(&o.InboxLast, &o.Now, &o.State)
	switch {
	case err == nil:
		if o.Now = o.Now.UTC(); !c.TellsState() {
			o.State = journal.Ready
		}
		return o, nil
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
