package sqlite

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// limitsSQL lists limits: those of a name, or all.
const limitsSQL = `
SELECT ` + limitColumns + ` FROM reprise_limits l
WHERE (?1 = '' OR l.name = ?1) AND (?2 = '' OR l.key IN ('', ?2)) ORDER BY l.name, l.key`

// limitUsesSQL lists lines that say something, the longest first.
const limitUsesSQL = `
SELECT l.name, l.key, l.held, l.waiting, l.ready FROM reprise_limit_lines l
WHERE (?1 = '' OR l.name = ?1) AND (?2 = '' OR l.key = ?2) AND l.key <> '~total' AND (l.held > 0 OR l.waiting > 0 OR l.ready > ?3)
ORDER BY l.waiting DESC, l.held DESC, l.name, l.key LIMIT ?4`

const limitClaimColumns = `c.name, c.key, c.node, c.id, c.run_id, c.cmd, c.step, c.cost, c.since, c.granted_at, c.priority, c.rank, c.counted`

// limitHeldSQL lists claims that are held.
const limitHeldSQL = `
SELECT ` + limitClaimColumns + ` FROM reprise_limit_claims c
WHERE c.granted_at IS NOT NULL AND c.ended = 0 AND (?1 = '' OR c.name = ?1) AND (?2 = '' OR c.key = ?2) AND (?3 IS NULL OR c.run_id = ?3)
ORDER BY c.name, c.key, c.granted_at, c.node, c.id LIMIT ?4`

// limitWaitingSQL lists claims that wait, in the order of their lines, and all of one run, also if
// no round has counted them.
const limitWaitingSQL = `
SELECT ` + limitClaimColumns + ` FROM reprise_limit_claims c
WHERE c.granted_at IS NULL AND c.ended = 0 AND (c.counted = 1 OR ?3 IS NOT NULL) AND (?1 = '' OR c.name = ?1) AND (?2 = '' OR c.key = ?2) AND (?3 IS NULL OR c.run_id = ?3)
ORDER BY c.name, c.key, c.rank, c.node, c.id LIMIT ?4`

// limitPlaceSQL counts a claim's place in its line.
const limitPlaceSQL = `
SELECT count(*) FROM (SELECT 1 FROM reprise_limit_claims c
WHERE c.name = ? AND c.key = ? AND c.granted_at IS NULL AND c.counted = 1 AND c.ended = 0 AND (c.rank, c.node, c.id) <= (?, ?, ?) LIMIT ?)`

// Limits implements driver.Store.
func (s *Store) Limits(ctx context.Context, f journal.LimitFilter) (page journal.LimitPage, err error) {
	err = s.read(ctx, func(c *conn) error {
		page = journal.LimitPage{Now: now()}
		rows := limitRows{q: c, at: page.Now}
		if f.Run.IsZero() {
			err := c.query(limitsSQL, func(r row) error { page.Limits = append(page.Limits, limitOf(r)); return nil }, f.Name, f.Key)
			if err != nil {
				return err
			}
		}
		if err := rows.uses(&f, &page); err != nil {
			return err
		}
		var run any
		if !f.Run.IsZero() {
			run = uuidArg(f.Run)
		}
		for _, sql := range []string{limitHeldSQL, limitWaitingSQL} {
			if n := f.Claims - len(page.Claims); n > 0 {
				if err := rows.claims(&page, sql, f.Name, f.Key, run, int64(n)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return page, err
}

// uses lists lines.
func (l *limitRows) uses(f *journal.LimitFilter, page *journal.LimitPage) error {
	var ready []int64
	err := l.q.query(limitUsesSQL, func(r row) error {
		page.Uses = append(page.Uses, journal.LimitUse{Name: r.text(0), Key: r.text(1), Held: int(r.int(2)), Waiting: int(r.int(3))})
		ready = append(ready, r.int(4))
		return nil
	}, f.Name, f.Key, l.at.UnixMicro(), int64(f.Uses))
	for i := 0; i < len(page.Uses) && err == nil; i++ {
		u := &page.Uses[i]
		var limit *journal.Limit
		if limit, err = l.Limit(driver.LimitKey{Name: u.Name, Key: u.Key}); limit == nil && err == nil {
			limit, err = l.Limit(driver.LimitKey{Name: u.Name})
		}
		if due := driver.LimitDue(driver.LimitLine{Ready: ready[i]}, limit); due > l.at.UnixMicro() {
			u.NextAt = time.UnixMicro(due).UTC()
		}
	}
	return err
}

// claims adds claims.
func (l *limitRows) claims(page *journal.LimitPage, sql string, args ...any) error {
	from := len(page.Claims)
	var ranks, fresh []int64
	err := l.q.query(sql, func(r row) error {
		page.Claims = append(page.Claims, journal.LimitClaim{
			Limit: r.text(0), Key: r.text(1), Node: journal.NodeID(r.int(2)), ID: r.int(3), Run: r.id(4), Cmd: journal.Cmd(r.int(5)),
			Step: r.text(6), Cost: r.int(7), Since: r.time(8), Granted: r.time(9), Priority: int16(r.int(10)),
		})
		ranks, fresh = append(ranks, r.int(11)), append(fresh, 1-r.int(12))
		return nil
	}, args...)
	for i := from; i < len(page.Claims) && err == nil; i++ {
		c := &page.Claims[i]
		if c.Granted.IsZero() {
			err = l.q.query(limitPlaceSQL, func(r row) error { c.Place = int(r.int(0) + fresh[i-from]); return nil },
				c.Limit, c.Key, ranks[i-from], int64(c.Node), c.ID, int64(journal.LimitPlaceMax))
		}
	}
	return err
}
