package postgres

import (
	"bytes"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// ownedSQL lists what a node owns, and the newest event of each run by one probe. It is one
// statement, so all of it, the recall number included, is of one moment: what is recalled later has
// a larger number. A member without tasks is one row of nulls. The order is that of
// tasks_owner_idx, to force that index.
const ownedSQL = `
SELECT m.recalled, o.run_id, o.generation, o.fence, o.unproven, coalesce(o.seq, 0), coalesce(o.link, 0)
FROM reprise.members m
LEFT JOIN LATERAL (
    SELECT t.run_id, t.generation, t.fence, t.unproven, e.seq, e.link
    FROM reprise.tasks t
    LEFT JOIN LATERAL (
        SELECT e.seq, e.link FROM reprise.events e
        WHERE e.run_id = t.run_id AND e.generation = t.generation ORDER BY e.seq DESC LIMIT 1) e ON true
    WHERE t.owner = $1::int AND t.owner > 0 ORDER BY t.owner, t.visible_at) o ON true
WHERE m.node = $1::int AND m.incarnation = $2::uuid AND m.lost_at IS NULL`

// releaseSQL makes tasks visible that the node owns under the fences given. Owner and fence decide
// on the locked row (J3), so a task that was claimed again meanwhile is left alone. The locks are
// taken in the input's order, which is that of run ids. A commit of the node that is on its way
// finds another owner and is refused, or an append does if the next owner has written; one that
// comes before is part of what the next owner loads.
const releaseSQL = `
WITH batch AS MATERIALIZED (
    SELECT t.run_id FROM unnest($3::uuid[], $4::bigint[]) AS i(run_id, fence)
    CROSS JOIN LATERAL (
        SELECT t.run_id FROM reprise.tasks t
        WHERE t.run_id = i.run_id AND t.owner = $1::int AND $1::int > 0 AND t.fence = i.fence FOR UPDATE OF t) t
    WHERE EXISTS (SELECT FROM reprise.members m WHERE m.node = $1::int AND m.incarnation = $2::uuid AND m.lost_at IS NULL)
)
UPDATE reprise.tasks t SET owner = 0, unproven = false, link = 0, visible_at = now(), state = least(t.state, 3) -- J11
FROM batch b WHERE t.run_id = ANY (ARRAY[b.run_id])`

// Owned implements driver.Membership.
func (m *member) Owned(ctx context.Context) ([]driver.Holding, error) {
	var list []driver.Holding
	var recalled int64
	var found bool
	err := m.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		list, found = nil, false
		rows, err := c.Query(ctx, m.s.sql.member.owned, int32(m.id), m.me())
		if err != nil {
			return err
		}
		return each(func(row pgx.CollectableRow) error {
			var h driver.Holding
			var run pgtype.UUID
			var generation *int32
			var fence *int64
			var unproven *bool
			if err := row.Scan(&recalled, &run, &generation, &fence, &unproven, &h.Head.Seq, &h.Head.Link); err != nil {
				return err
			}
			if found = true; run.Valid {
				h.Run, h.Generation, h.Fence, h.Confirmed = run.Bytes, journal.Generation(*generation), journal.Fence(*fence), !*unproven
				list = append(list, h)
			}
			return nil
		})(rows)
	})
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, m.lost()
	}
	m.epoch.compared(recalled)
	return list, nil
}

// Release implements driver.Membership.
func (m *member) Release(ctx context.Context, list []driver.Holding) error {
	list = slices.SortedFunc(slices.Values(list), func(a, b driver.Holding) int { return bytes.Compare(a.Run[:], b.Run[:]) })
	for piece := range slices.Chunk(list, reapBatch) {
		ids, fences := make([]pgtype.UUID, len(piece)), make([]int64, len(piece))
		for i := range piece {
			ids[i], fences[i] = uuidArg(piece[i].Run), int64(piece[i].Fence)
		}
		err := m.s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
			_, err := c.Exec(ctx, m.s.sql.member.release, int32(m.id), m.me(), ids, fences)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
