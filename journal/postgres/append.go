package postgres

import (
	"sync"

	"github.com/reprise-run/reprise/journal/driver"
)

// appendShareSQL shares the lock of a node until the transaction ends. It is a statement of its
// own, before appendSQL in one pipeline: a snapshot is older than a lock that is taken inside the
// same statement, so appendSQL would look at a membership, and at histories, from before a reap or
// a termination for which it had waited.
const appendShareSQL = `SELECT pg_advisory_xact_lock_shared($1::int, $2::int)`

// appendSQL writes the turns of one node that do nothing but add events (driver.Commit.AppendOnly).
// No row of a task is locked, read or written; that is the point of it, for the task's row was the
// largest cost of a step.
//
// What stands for the row's owner, fence and turn (J3) is a proof for the whole batch. A run leaves
// its owner in three ways: by a commit of the owner, by a reap of the node, or because somebody
// else closes it. The latter two exclude appends, see excludeSQL, and leave a mark in the row of
// the membership: lost_at, or a larger recall number. So under the shared lock a member whose row
// has the incarnation, no mark and the recall number that the node knows owns all that it has not
// given up itself. What an earlier copy of the same request is worth follows from the newest event:
// it is the commit's Head only as long as nothing was written behind it, by this copy, by another
// one, or by a later owner. A copy that comes late, after the node has released the run and before
// the next owner has written, is accepted; the next owner's commit then names another Head and is
// refused, and it loads the history again.
//
// The comparison with the newest event, one backward probe of the primary key, is also what a store
// needs that went back in time: the membership and the recall number may be the ones of then.
//
// The answer is one row: the recall number, null if the node is no member, and a verdict for each
// member of the batch, null if the number is not the one that the node knows.
//
// Measured on PostgreSQL 15, best of five in turns with the commit that locked and rewrote the row
// of the task: in batches of 128 the server's CPU for a turn of one event fell from 9.3 to 5.7 µs
// and its log from 352 to 227 B; alone, from 37 to 33 µs and from 271 to 204 B (BenchmarkStep,
// BenchmarkAppend).
//
// The lock is an advisory one and no FOR SHARE on the row of the membership, which would be as
// correct and save a statement. BenchmarkAppendLocks, best of eleven:
//
//	                        no lock        advisory       FOR SHARE
//	batches of 170, CPU     5.6 µs         5.6 µs         5.8 µs
//	alone, CPU              75 µs          61 µs          89 µs
//	alone, log              222 B          222 B          276 B
//	multixacts a batch      0              0              0.14 (four sessions, batches of 170)
//
// The processors were shared, so differences of CPU below a third are noise: in a batch neither
// lock costs anything that can be measured. What is certain is that the row lock is a second record
// in the log, which the advisory lock is not, and where batches overlap it makes multixacts, which
// a vacuum has to freeze later. It would also be a write for each batch to one page that all
// sessions of a node share.
const appendSQL = `
WITH me AS MATERIALIZED (
    SELECT m.recalled FROM reprise.members m WHERE m.node = $1::int AND m.incarnation = $2::uuid AND m.lost_at IS NULL
), verdict AS MATERIALIZED (
    SELECT array_agg(coalesce(e.link = i.link, false) ORDER BY i.ord) AS ok
    FROM unnest($4::uuid[], $5::int[], $6::int[], $7::bigint[]) WITH ORDINALITY AS i(run_id, generation, seq, link, ord)
    LEFT JOIN LATERAL (
        SELECT e.link FROM reprise.events e
        WHERE e.run_id = i.run_id AND e.generation = i.generation AND e.seq >= i.seq ORDER BY e.seq DESC LIMIT 1) e ON true
    WHERE (SELECT me.recalled FROM me) = $3::bigint
), written AS (
    -- J1: the primary key refuses a seq that exists.
    INSERT INTO reprise.events (run_id, generation, seq, kind, cmd, inbox, at, link, name, attempt, encoding, payload, issued)
    SELECT ($4::uuid[])[e.member], ($5::int[])[e.member], e.seq, e.kind, e.cmd, e.inbox, e.at, e.link, e.name, e.attempt, e.encoding,
           e.payload, e.issued
    FROM unnest($8::int[], $9::int[], $10::smallint[], $11::int[], $12::bigint[], $13::timestamptz[], $14::bigint[], $15::text[],
                $16::int[], $17::text[], $18::bytea[], $19::text[])
         AS e(member, seq, kind, cmd, inbox, at, link, name, attempt, encoding, payload, issued)
    WHERE (SELECT v.ok FROM verdict v)[e.member]
)
SELECT (SELECT me.recalled FROM me), v.ok, clock_timestamp() FROM verdict v`

// appendBatch is the columns that appendSQL unnests, in the order of its parameters from the fourth
// on. It comes from appendBatches and goes back by release, like a commitBatch.
type appendBatch struct{ *columns }

// The columns of appendSQL: those with a value for each member, then those with one for each event.
const (
	appendRun = iota
	appendGeneration
	appendHeadSeq
	appendHeadLink
	appendEvents // the first column of events
)

// appendBatches keeps the buffers of batches. The types are in the order of the constants above.
var appendBatches = sync.Pool{New: func() any {
	return newTurnColumns(uuidColumn, int32Column, int32Column, int64Column)
}}

// add appends the columns of a member and of its events, which name it by position, from 1.
func (b appendBatch) add(member int32, c *driver.Commit) {
	l := b.list
	l[appendRun].uuid(c.Run)
	l[appendGeneration].int32(int32(c.Generation))
	l[appendHeadSeq].int32(int32(c.Head.Seq))
	l[appendHeadLink].int64(int64(c.Head.Link))
	for i := range c.Events {
		addEvent(l[appendEvents:], member, &c.Events[i])
	}
}
