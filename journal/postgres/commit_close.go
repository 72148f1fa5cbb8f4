package postgres

import (
	"sync"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// commitCloseSQL is commitSQL for a batch that closes all its runs, and consumes nothing: what a
// node writes that is busy with short runs. The DELETE of the task decides, like in
// commitOneCloseSQL, so a task is found once instead of twice and its row is not locked before it
// is deleted. What commitSQL says of its order of locks, of plans and of what is read before the
// lock is had holds here too. A member that has no row in the answer was not accepted.
//
// The members that events belong to are looked up in a hash table, which is what IS TRUE is for:
// without it the planner joins, and a store has no join but nested loops.
const commitCloseSQL = `
WITH removed AS (
    -- J3: owner, fence, turn and the newest event decide.
    DELETE FROM reprise.tasks t
    USING unnest($1::uuid[], $2::int[], $3::bigint[], $4::bigint[], $5::int[], $6::int[], $7::bigint[], $8::smallint[], $9::int[])
        WITH ORDINALITY AS i(run_id, node, fence, turn, generation, head_seq, head_link, status, last_seq, ord)
    WHERE t.run_id = ANY (ARRAY[i.run_id]) AND t.owner = i.node AND i.node > 0 AND t.fence = i.fence AND t.turn = i.turn
      AND t.generation = i.generation
      AND (i.head_seq IS NULL OR (
          SELECT e.link FROM reprise.events e
          WHERE e.run_id = i.run_id AND e.generation = i.generation AND e.seq >= i.head_seq ORDER BY e.seq DESC LIMIT 1) = i.head_link)
    RETURNING i.ord, t.run_id, i.status, i.last_seq
), closed AS (
    -- J7: terminal event, status and the end of the task are one statement.
    UPDATE reprise.runs r
    SET status = d.status, closed_at = clock_timestamp(), closed_seq = d.last_seq
    FROM removed d WHERE r.id = ANY (ARRAY[d.run_id])
), written AS (
    -- J1: the primary key refuses a seq that exists.
    INSERT INTO reprise.events (run_id, generation, seq, kind, cmd, inbox, at, link, name, attempt, encoding, payload, issued)
    SELECT ($1::uuid[])[e.member], ($5::int[])[e.member], e.seq, e.kind, e.cmd, e.inbox, e.at, e.link, e.name, e.attempt, e.encoding,
           e.payload, e.issued
    FROM unnest($10::int[], $11::int[], $12::smallint[], $13::int[], $14::bigint[], $15::timestamptz[], $16::bigint[], $17::text[],
                $18::int[], $19::text[], $20::bytea[], $21::text[])
         AS e(member, seq, kind, cmd, inbox, at, link, name, attempt, encoding, payload, issued)
    WHERE (e.member IN (SELECT d.ord FROM removed d)) IS TRUE
)
SELECT d.ord, clock_timestamp() FROM removed d`

// closeBatch is the columns that commitCloseSQL unnests, in the order of its parameters. It comes
// from closeBatches and goes back by release, like a commitBatch.
type closeBatch struct{ *columns }

// The columns of commitCloseSQL that have a value for each member; those of events follow.
const (
	closeRun = iota
	closeNode
	closeFence
	closeTurn
	closeGeneration
	closeHeadSeq
	closeHeadLink
	closeStatus
	closeLastSeq
	closeEvents // the first column of events
)

// closeBatches keeps the buffers of batches. The types are in the order of the constants above.
var closeBatches = sync.Pool{New: func() any {
	return newTurnColumns(uuidColumn, int32Column, int64Column, int64Column, int32Column, int32Column, int64Column, int16Column, int32Column)
}}

// add appends the columns of a member and of its events.
func (b closeBatch) add(member int32, c *driver.Commit) {
	l, end := b.list, c.Terminal()
	status, _ := journal.StatusOf(end.Kind)
	seq, link := comparedHead(c)
	l[closeRun].uuid(c.Run)
	l[closeNode].int32(int32(c.Node))
	l[closeFence].int64(int64(c.Fence))
	l[closeTurn].int64(int64(c.Turn))
	l[closeGeneration].int32(int32(c.Generation))
	l[closeHeadSeq].optionalInt32(seq)
	l[closeHeadLink].optionalInt64(link)
	l[closeStatus].int16(int16(status))
	l[closeLastSeq].int32(int32(end.Seq))
	for i := range c.Events {
		addEvent(l[closeEvents:], member, &c.Events[i])
	}
}
