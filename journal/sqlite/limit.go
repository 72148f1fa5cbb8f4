package sqlite

import (
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

const limitColumns = `l.name, l.key, l.concurrency, l.total, l.rate_n, l.rate_per, l.burst, l.weight, l.ageing, l.at, l.actor, l.reason,
       l.max_backlog, l.on_full`

// limitSQL reads the row of a limit.
const limitSQL = `SELECT ` + limitColumns + ` FROM reprise_limits l WHERE l.name = ? AND l.key = ?`

// limitLineSQL reads a line.
const limitLineSQL = `SELECT l.held, l.waiting, l.ready, l.served, l.open, l.look_at, l.rated_at FROM reprise_limit_lines l WHERE l.name = ? AND l.key = ?`

// limitOpenSQL finds the lines that come first for the total of their limit.
const limitOpenSQL = `SELECT l.key FROM reprise_limit_lines l WHERE l.name = ? AND l.open = 1 ORDER BY l.share, l.served LIMIT ?`

// A node is compared as an expression (+?): else SQLite looks at the argument, which may be the one
// of limit_claims_of_run_idx, and plans the statement each time.

// limitKnownSQL tells whether there is a want.
const limitKnownSQL = `SELECT count(*) FROM reprise_limit_claims c WHERE c.node = +? AND c.id = ? AND c.part = 0`

// limitRemoveSQL takes a want away.
const limitRemoveSQL = `DELETE FROM reprise_limit_claims WHERE node = +? AND id = ? RETURNING name, key, cost, granted_at, counted`

// limitOfNodeSQL lists what a node has.
const limitOfNodeSQL = `
SELECT c.id, c.granted_at, c.name, c.key, c.cost, c.needs FROM reprise_limit_claims c WHERE c.node = +? AND c.id > ? AND c.part = 0
ORDER BY c.id LIMIT ?`

// The writes of a round. An idle line is forgotten.
const (
	limitSetLineSQL = `
INSERT OR REPLACE INTO reprise_limit_lines (name, key, held, waiting, ready, served, share, open, look_at, rated_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	limitForgetLineSQL = `DELETE FROM reprise_limit_lines WHERE name = ? AND key = ?`
	limitInsertSQL     = `
INSERT INTO reprise_limit_claims (node, id, part, name, key, cost, rank, since, granted_at, run_id, cmd, step, priority, needs, set_id)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	limitGrantSQL = `UPDATE reprise_limit_claims SET granted_at = ? WHERE node = +? AND id = ?`
)

// The process before is dead, with all of its nodes: no step holds anything of a limit, or waits.
// Runs go on to do so, and rates go on.
const (
	limitsForgetSQL     = `DELETE FROM reprise_limit_claims WHERE node <> 0`
	limitLinesForgetSQL = `UPDATE reprise_limit_lines SET held = 0, waiting = 0, share = 0, open = 0`
	limitLinesRunsSQL   = `
UPDATE reprise_limit_lines AS l
SET held = g.held, waiting = g.waiting, look_at = iif(g.waiting > 0, 1, NULL),
    share = iif(EXISTS (SELECT 1 FROM reprise_limits t WHERE t.name = l.name AND t.key = '' AND t.total > 0), CAST(g.held AS REAL) / ` + limitWeight + `, 0),
    open = g.waiting > 0 AND EXISTS (SELECT 1 FROM reprise_limits t WHERE t.name = l.name AND t.key = '' AND t.total > 0)
FROM (SELECT c.name, c.key, sum(c.granted_at IS NOT NULL) AS held, sum(c.granted_at IS NULL) AS waiting
      FROM reprise_limit_claims c WHERE c.node = 0 AND c.counted = 1 GROUP BY c.name, c.key) g
WHERE l.name = g.name AND l.key = g.key`
	limitTotalsRunsSQL = `
UPDATE reprise_limit_lines AS l
SET held = (SELECT coalesce(sum(x.held), 0) FROM reprise_limit_lines x WHERE x.name = l.name AND x.key <> '~total'), look_at = 1
WHERE l.key = '~total'`
)

// limitRows are the rows of limits in a transaction of the writer's.
type limitRows struct {
	q     querier
	at    time.Time
	nodes *nodes // of a round
}

// Limit implements driver.LimitRows.
func (l *limitRows) Limit(k driver.LimitKey) (found *journal.Limit, err error) {
	err = l.q.query(limitSQL, func(r row) error {
		row := limitOf(r)
		found = &row
		return nil
	}, k.Name, k.Key)
	return found, err
}

// limitOf reads limitColumns.
func limitOf(r row) journal.Limit {
	return journal.Limit{
		Name: r.text(0), Key: r.text(1), Concurrency: int(r.int(2)), Total: int(r.int(3)),
		Rate:   journal.Rate{N: r.int(4), Per: microsOf(r, 5), Burst: r.int(6)},
		Weight: int(r.int(7)), Ageing: microsOf(r, 8), Time: r.time(9), Actor: r.text(10), Reason: r.text(11),
		MaxBacklog: int(r.int(12)), OnFull: journal.OnFull(r.int(13)),
	}
}

func microsOf(r row, i int) time.Duration { return time.Duration(r.int(i)) * time.Microsecond }

// Line implements driver.LimitRows.
func (l *limitRows) Line(k driver.LimitKey) (line driver.LimitLine, err error) {
	err = l.q.query(limitLineSQL, func(r row) error {
		line = driver.LimitLine{Held: int(r.int(0)), Waiting: int(r.int(1)), Ready: r.int(2), Served: r.int(3), Open: r.bool(4), LookAt: r.int(5),
			Rated: r.int(6)}
		return nil
	}, k.Name, k.Key)
	return line, err
}

// Open implements driver.LimitRows.
func (l *limitRows) Open(name string, max int) (keys []driver.LimitKey, err error) {
	err = l.q.query(limitOpenSQL, func(r row) error {
		keys = append(keys, driver.LimitKey{Name: name, Key: r.text(0)})
		return nil
	}, name, int64(max))
	return keys, err
}

// Known implements driver.LimitRows.
func (l *limitRows) Known(node journal.NodeID, id int64) (known bool, err error) {
	err = l.q.query(limitKnownSQL, func(r row) error { known = r.bool(0); return nil }, int64(node), id)
	return known, err
}

// Remove implements driver.LimitRows.
func (l *limitRows) Remove(node journal.NodeID, id int64) (freed []driver.Freed, err error) {
	err = l.q.query(limitRemoveSQL, func(r row) error {
		if !r.bool(4) { // no line counts it
			return nil
		}
		freed = append(freed, driver.Freed{LimitKey: driver.LimitKey{Name: r.text(0), Key: r.text(1)}, Cost: r.int(2), Used: r.int(2), Granted: r.time(3)})
		return nil
	}, int64(node), id)
	return freed, err
}

// Removed implements driver.LimitRows.
func (l *limitRows) Removed(node journal.NodeID, max int) (ids []int64, err error) {
	err = l.q.query(limitOfNodeSQL, func(r row) error { ids = append(ids, r.int(0)); return nil }, int64(node), int64(-1), int64(max))
	return ids, err
}

// Claims implements driver.LimitRows.
func (l *limitRows) Claims(node journal.NodeID, held bool) (list []driver.KnownClaim, err error) {
	err = l.q.query(limitOfNodeSQL, func(r row) (err error) {
		k := driver.KnownClaim{ID: r.int(0), Held: !r.null(1)}
		if held && !k.Held {
			return nil
		}
		k.Needs, err = driver.DecodeLimitNeeds(r.text(5), journal.LimitNeed{Name: r.text(2), Key: r.text(3), Cost: r.int(4)})
		list = append(list, k)
		return err
	}, int64(node), int64(-1), int64(-1))
	return list, err
}

// Write implements driver.LimitRows.
func (l *limitRows) Write(t *driver.LimitTable) error {
	for _, w := range t.Lines() {
		sql, args := limitForgetLineSQL, []any{w.Name, w.Key}
		if !w.Idle(t.Now) {
			sql = limitSetLineSQL
			args = append(args, int64(w.Held), int64(w.Waiting), w.Ready, w.Served, w.Share, boolArg(w.Open), nullInt(w.LookAt), w.Rated)
		}
		if _, err := l.q.exec(sql, args...); err != nil {
			return err
		}
	}
	for _, in := range t.Inserts() {
		needs, err := driver.EncodeLimitNeeds(in.Needs)
		if err != nil {
			return fmt.Errorf("limits of step %q of run %s: %w", in.Step, in.Run, err)
		}
		var granted any
		if in.Granted {
			granted = l.at.UnixMicro()
		}
		for part, n := range in.Needs {
			_, err := l.q.exec(limitInsertSQL, int64(t.Node), in.ID, int64(part), n.Name, n.Key, n.Cost, in.Ranks[part], in.Since.UnixMicro(),
				granted, uuidArg(in.Run), int64(in.Cmd), in.Step, int64(in.Priority), nullText(needs), in.Set)
			if err != nil {
				return err
			}
		}
	}
	for _, g := range t.Grants() {
		if _, err := l.q.exec(limitGrantSQL, l.at.UnixMicro(), int64(g.Node), g.ID); err != nil {
			return err
		}
	}
	if err := l.writeRuns(t); err != nil {
		return err
	}
	return l.writeSets(t.Sets())
}
