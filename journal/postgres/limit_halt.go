package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// limitHaltedSQL lists routes of which a set is noted as halted, up to $1: a probe for each,
// however many sets there are.
const limitHaltedSQL = `
WITH RECURSIVE routes AS (
    (SELECT s.queue, s.workflow, s.version FROM reprise.limit_sets s WHERE s.halted ORDER BY s.queue, s.workflow, s.version, s.first LIMIT 1)
    UNION ALL
    SELECT n.queue, n.workflow, n.version FROM routes r CROSS JOIN LATERAL (
        SELECT s.queue, s.workflow, s.version FROM reprise.limit_sets s
        WHERE s.halted AND (s.queue, s.workflow, s.version) > (r.queue, r.workflow, r.version)
        ORDER BY s.queue, s.workflow, s.version, s.first LIMIT 1) n
)
SELECT r.queue, r.workflow, r.version FROM routes r LIMIT $1::int`

// limitHaltedSetsSQL reads sets of routes that are noted as halted, up to $4 of all, those first
// whose first claim is the earliest. It locks nothing.
const limitHaltedSetsSQL = `
SELECT s.set_id, s.name, s.key FROM unnest($1::text[], $2::text[], $3::int[]) AS r(queue, workflow, version)
CROSS JOIN LATERAL (
    SELECT * FROM reprise.limit_sets s WHERE s.halted AND s.queue = r.queue AND s.workflow = r.workflow AND s.version = r.version
    ORDER BY s.queue, s.workflow, s.version, s.first LIMIT $4::int) s
ORDER BY s.first LIMIT $4::int`

// limitUnhaltSQL puts sets into the lists of lines again, under the locks of these.
const limitUnhaltSQL = `
UPDATE reprise.limit_sets s SET away = false, halted = false
FROM unnest($1::bigint[], $2::text[], $3::text[]) AS u(set_id, name, key)
WHERE s.set_id = u.set_id AND s.name = u.name AND s.key = u.key AND s.halted`

// limitSetsLeftSQL forgets those of some sets of which no claim waits. It counts one claim: NOT
// EXISTS is planned for an empty table as a join that reads all of them.
const limitSetsLeftSQL = `
DELETE FROM reprise.limit_sets s WHERE s.set_id = ANY ($1::bigint[]) AND (
    SELECT count(*) FROM (
        SELECT FROM reprise.limit_claims c
        WHERE c.name = s.name AND c.key = s.key AND c.set_id = s.set_id AND c.granted_at IS NULL AND c.counted AND NOT c.ended
        ORDER BY c.name, c.key, c.set_id, c.rank LIMIT 1) c) = 0`

// limitNodesSQL lists the nodes that may begin runs. What they serve is read once, see knownRoutes.
const limitNodesSQL = `
SELECT n.id, m.incarnation FROM reprise.nodes n JOIN reprise.members m ON m.node = n.id
WHERE n.expires_at > clock_timestamp() AND m.lost_at IS NULL AND NOT m.drain`

// limitRoutesSQL reads what nodes serve.
const limitRoutesSQL = `
SELECT n.id, m.incarnation, n.routes::text FROM reprise.nodes n JOIN reprise.members m ON m.node = n.id WHERE n.id = ANY ($1::int[])`

// limitHalts finds out which routes are halted, as of one moment.
type limitHalts struct {
	pauses []journal.Pause
	live   []nodeKey
	halts  func(r journal.Route) bool // once it is known
}

// read adds the statements that read what is paused and who lives.
func (h *limitHalts) read(s *Store, p *pipeline) {
	*h = limitHalts{}
	p.query(s.sql.admin.scope.list, each(func(row pgx.CollectableRow) error {
		pause, err := scanPause(row)
		h.pauses = append(h.pauses, pause)
		return err
	}))
	p.query(s.sql.limit.sets.nodes, each(func(row pgx.CollectableRow) error {
		var k nodeKey
		var incarnation pgtype.UUID
		err := row.Scan(&k.id, &incarnation)
		k.incarnation = incarnation.Bytes
		h.live = append(h.live, k)
		return err
	}))
}

// know reads the routes of nodes that have come, behind read.
func (h *limitHalts) know(ctx context.Context, s *Store, q querier) error {
	nodes, missing := s.routes.known(h.live)
	if len(missing) > 0 {
		var p pipeline
		p.query(s.sql.limit.sets.routes, each(func(row pgx.CollectableRow) error {
			var k nodeKey
			var incarnation pgtype.UUID
			var text string
			if err := row.Scan(&k.id, &incarnation, &text); err != nil {
				return err
			}
			k.incarnation = incarnation.Bytes
			n := journal.Node{ID: journal.NodeID(k.id)}
			_ = driver.DecodeRoutes(text, &n) // a newer release may write them otherwise
			nodes = append(nodes, s.routes.learn(k, n.Routes))
			return nil
		}), missing)
		if err := p.send(ctx, q); err != nil {
			return err
		}
	}
	h.halts = driver.LimitHalts(h.pauses, nodes)
	return nil
}
