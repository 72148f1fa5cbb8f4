package postgres

import (
	"math/rand/v2"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// pauseLockSQL lets one operator at a time change the pauses of scopes, so that the numbers become
// visible in their order: a node that heeds a number has read all pauses before it (J11). Nodes
// only read the table, and do not wait.
const pauseLockSQL = `LOCK TABLE reprise.pauses IN SHARE ROW EXCLUSIVE MODE`

// pauseScopeSQL pauses a scope, under pauseLockSQL. The number grows and has chance ($7) in it: a
// store that goes back in time gives no number twice. A pause that replaces another one has a new
// number, so that every node has to heed it: it interrupts.
const pauseScopeSQL = `
INSERT INTO reprise.pauses (queue, workflow, version, interrupts, number, at, actor, reason)
VALUES ($1::text, $2::text, $3::int, $4::bool, (nextval('reprise.pauses_seq') << 20) | $7::int, clock_timestamp(), $5::text, $6::text)
ON CONFLICT (queue, workflow, version) DO UPDATE
SET interrupts = excluded.interrupts, number = excluded.number, at = excluded.at, actor = excluded.actor, reason = excluded.reason
RETURNING number`

// resumeScopeSQL ends the pause of a scope, under pauseLockSQL.
const resumeScopeSQL = `DELETE FROM reprise.pauses p WHERE p.queue = $1::text AND p.workflow = $2::text AND p.version = $3::int`

// pausesSQL reads the pauses of scopes, which are few, and which nodes do not heed them yet. It
// locks nothing.
const pausesSQL = `
SELECT p.queue, p.workflow, p.version, p.number, p.interrupts, p.at, p.actor, p.reason,
       ARRAY(SELECT m.node FROM reprise.members m WHERE m.lost_at IS NULL AND m.heeded < p.number ORDER BY m.node)
FROM reprise.pauses p ORDER BY p.queue, p.workflow, p.version`

// heedSQL notes that a node heeds all pauses up to a number. The number must be that of a pause
// that is there: else it is of a time that the store has gone back from, or the pause is over, and
// the node hears of another number by the answer. It locks the row of the node's membership, if it
// has something to write.
const heedSQL = `
UPDATE reprise.members m SET heeded = $3::bigint
WHERE m.node = $1::int AND m.incarnation = $2::uuid AND m.lost_at IS NULL AND m.heeded < $3::bigint
  AND EXISTS (SELECT FROM reprise.pauses p WHERE p.number = $3::bigint)`

// heedMemberSQL returns a row for a node that is a member: whether it is to leave.
const heedMemberSQL = `
SELECT m.drain FROM reprise.members m WHERE m.node = $1::int AND m.incarnation = $2::uuid AND m.lost_at IS NULL`

// queueScope adds what an action changes.
func queueScope(s *Store, p *pipeline, a *driver.AdminAction, out *driver.AdminOutcome) {
	scope := []any{a.Scope.Queue, a.Scope.Workflow, a.Scope.Version}
	out.Pause = 0
	if a.Kind == driver.AdminResume {
		p.exec(s.sql.admin.scope.resume, scope...)
	} else {
		args := append(scope, a.Kind == driver.AdminInterrupt, a.Actor, a.AuditReason(), rand.Int32N(1<<20))
		p.query(s.sql.admin.scope.pause, each(func(row pgx.CollectableRow) error { return row.Scan(&out.Pause) }), args...)
	}
	p.exec(s.sql.admin.note, append(auditArgs(a, a.ScopeDetail()), a.Scope.Workflow)...)
}

// scanPause reads pausesSQL.
func scanPause(row pgx.CollectableRow) (p journal.Pause, err error) {
	var nodes []int32
	err = row.Scan(&p.Scope.Queue, &p.Scope.Workflow, &p.Scope.Version, &p.Number, &p.Interrupts, &p.Time, &p.Actor, &p.Reason, &nodes)
	p.Time = p.Time.UTC()
	for _, n := range nodes {
		p.Unheeded = append(p.Unheeded, journal.NodeID(n))
	}
	return p, err
}
