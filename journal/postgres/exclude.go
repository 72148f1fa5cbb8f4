package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/reprise-run/reprise/journal"
)

// Whoever takes runs away from a node excludes the node's appends first: a reaper before it
// declares the node lost, a node that leaves, and whoever closes an owned run over the head of its
// owner. Appends share the node's lock, see appendShareSQL; these three take it alone, after all
// row locks of tasks and in the order of node ids, and keep it until their transaction ends. So an
// append comes before, and what it has written is seen, or it comes after and finds that its node
// is lost or has been recalled.

// excludeWaitSQL bounds the wait for the lock. While somebody waits for it, the node's further
// appends queue up behind; an append itself holds it for a few milliseconds.
const excludeWaitSQL = `SET LOCAL lock_timeout = '2s'`

// excludeSQL takes the lock of a node.
const excludeSQL = `SELECT pg_advisory_xact_lock($1::int, $2::int)`

// excludeOwnersSQL takes the locks of those who own runs. The tasks of the runs are locked, so
// their owners stay the same. Owners are compared so that the planner does not think of
// tasks_owner_idx.
const excludeOwnersSQL = `
SELECT pg_advisory_xact_lock($1::int, o.owner)
FROM (SELECT DISTINCT t.owner FROM reprise.tasks t WHERE t.run_id = ANY ($2::uuid[]) ORDER BY t.owner) o WHERE greatest(o.owner, 0) > 0`

// excludeDoneSQL gives the statements that follow the time that the session has.
const excludeDoneSQL = `SET LOCAL lock_timeout TO DEFAULT`

// recallSQL raises the recall numbers of those who own runs: from here on none of their appends is
// written that does not know of it. It runs under the locks of excludeOwnersSQL, so it waits for
// nobody.
const recallSQL = `
UPDATE reprise.members m SET recalled = m.recalled + 1
WHERE m.node = ANY (ARRAY(SELECT t.owner FROM reprise.tasks t WHERE t.run_id = ANY ($1::uuid[]) AND greatest(t.owner, 0) > 0))`

// stalledSQL ends sessions that have shared a lock of appends for longer than anybody waits for it.
// A network that is cut in the middle of a request leaves such a session: it has the lock and waits
// for the rest of the request. No timeout of the server ends it, because it counts as active. What
// it began is rolled back, and its client, if it lives, does not know the outcome and asks again.
const stalledSQL = `
SELECT count(pg_terminate_backend(l.pid))
FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory' AND l.classid = $1::bigint::oid AND l.objsubid = 2 AND l.mode = 'ShareLock' AND l.granted
  AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database())
  AND a.xact_start < clock_timestamp() - interval '2 s' AND l.pid <> pg_backend_pid()`

// exclusion adds statements that exclude appends to pipelines. class is the first key of the locks
// that appends share, the second is the node's id; the locks that show that a node lives have
// lockClass.
type exclusion struct {
	sql   *statements
	class int32
}

func newExclusion(sql *statements, schema string) exclusion {
	return exclusion{sql: sql, class: int32(lockClass(schema + "/append"))}
}

// node takes the lock of a node for the rest of the transaction.
func (x *exclusion) node(p *pipeline, node journal.NodeID) {
	p.exec(excludeWaitSQL)
	p.exec(excludeSQL, x.class, int32(node))
	p.exec(excludeDoneSQL)
}

// owners takes the locks of those who own runs, and recalls these. The tasks are locked, and it is
// called once in a transaction: else two transactions would take the locks of nodes in different
// orders. What it precedes reads the newest events, in a statement of its own, whose snapshot is
// newer than the locks.
func (x *exclusion) owners(p *pipeline, runs []journal.RunID) {
	if len(runs) == 0 {
		return
	}
	ids := runIDs(runs)
	p.exec(excludeWaitSQL)
	p.exec(x.sql.excludeOwners, x.class, ids)
	p.exec(excludeDoneSQL)
	p.exec(x.sql.recall, ids)
}

// endStalled follows an error of a transaction that excludes. If that waited in vain for a lock,
// the sessions that have held it for too long are ended, and it may be tried again at once: true.
// Sessions of other roles may not be ended; then the next try waits again.
func (s *Store) endStalled(ctx context.Context, err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	if !ok || pe.Code != "55P03" {
		return false
	}
	var ended int
	refused := s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, stalledSQL, int64(uint32(s.exclude.class))).Scan(&ended)
	})
	return refused == nil && ended > 0
}
