package sqlite

import (
	"context"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// ownedSQL reads what a node owns, by reprise_tasks_owner_idx, and the newest event of each run, by
// a probe of the events' primary key.
const ownedSQL = `
SELECT t.run_id, t.generation, t.fence, t.unproven, e.seq, e.link
FROM reprise_tasks t LEFT JOIN reprise_events e ON e.run_id = t.run_id AND e.generation = t.generation
 AND e.seq = (SELECT max(n.seq) FROM reprise_events n WHERE n.run_id = t.run_id AND n.generation = t.generation)
WHERE t.owner = +? AND t.owner > 0`

// releaseSQL frees a task if the node owns it under the fence. No strike is counted: nobody died. A
// pause stays (J11). The link of an owned task is 0 and stays so, because the node cannot vouch for
// the run's state.
const releaseSQL = `
UPDATE reprise_tasks SET owner = 0, unproven = 0, visible_at = ?, state = min(state, 3) WHERE run_id = ? AND owner = ? AND owner > 0 AND fence = ?`

// Owned implements driver.Membership. It reads one snapshot, which waits for nobody.
func (m *member) Owned(ctx context.Context) (list []driver.Holding, err error) {
	if m.s.life.Err() != nil {
		return nil, journal.ErrStoreClosed
	}
	number, alive := m.s.nodes.recalled(m.id)
	if !alive {
		return nil, m.errLost()
	}
	err = m.s.read(ctx, func(c *conn) error {
		return c.query(ownedSQL, func(r row) error {
			list = append(list, driver.Holding{
				Run: r.id(0), Generation: journal.Generation(r.int(1)), Fence: journal.Fence(r.int(2)), Confirmed: !r.bool(3),
				Head: journal.Head{Seq: journal.Seq(r.int(4)), Link: journal.Link(r.int(5))},
			})
			return context.Cause(ctx)
		}, int64(m.id))
	})
	if err != nil {
		return nil, err
	}
	m.s.nodes.hear(m.id, number)
	return list, nil
}

// Release implements driver.Membership. It frees in pieces, so that other calls get their turn
// between two. A node that is lost is not asked any more: its tasks are freed by the reap, with a
// strike.
func (m *member) Release(ctx context.Context, list []driver.Holding) error {
	for piece := range slices.Chunk(list, reapBatch) {
		err := m.s.write(ctx, 0, func(b *batch) error {
			if !m.s.nodes.alive(m.id) {
				return m.errLost()
			}
			at := now().UnixMicro()
			for i := range piece {
				if _, err := b.exec(releaseSQL, at, uuidArg(piece[i].Run), int64(m.id), int64(piece[i].Fence)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
