package sqlite

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// limitWaitingRunsSQL counts the runs that wait for a key, up to as many as matter.
const limitWaitingRunsSQL = `
SELECT count(*) FROM (
    SELECT 1 FROM reprise_limit_claims c INDEXED BY reprise_limit_claims_backlog_idx
    WHERE c.node = 0 AND c.granted_at IS NULL AND c.ended = 0 AND c.name = ? AND c.key = ? LIMIT ?)`

// Places of runs that have ended are free, although the lines still count them. The second counts
// those of all keys.
const (
	limitEndedSQL = `
SELECT count(*) FROM reprise_limit_claims c INDEXED BY reprise_limit_claims_ended_idx
WHERE c.node = 0 AND c.granted_at IS NOT NULL AND c.ended = 1 AND c.name = ? AND c.key = ?`
	limitEndedAllSQL = `
SELECT count(*) FROM reprise_limit_claims c INDEXED BY reprise_limit_claims_ended_idx
WHERE c.node = 0 AND c.granted_at IS NOT NULL AND c.ended = 1 AND c.name = ?`
)

// limitOldestSQL is the run that has come first of those that wait for a key and have never begun.
// One that somebody has rewound may have done what its code would undo, and one that waits beyond
// the backlog is relied on: their claims say so, and are not read, however many they are.
const limitOldestSQL = `
SELECT c.run_id
FROM reprise_limit_claims c INDEXED BY reprise_limit_claims_backlog_idx CROSS JOIN reprise_runs r ON r.id = c.run_id
WHERE c.node = 0 AND c.granted_at IS NULL AND c.ended = 0 AND c.name = ? AND c.key = ? AND c.spared = 0 AND r.generation = 1 AND r.beyond_backlog IS NULL
ORDER BY c.id LIMIT 1`

// rooms are the rooms of what a run needs; nil for those that no backlog bounds.
func (e *effects) rooms(needs []journal.LimitNeed) (list []*driver.LimitRoom, err error) {
	rows := limitRows{q: e.q, at: e.at}
	for _, n := range needs {
		k := driver.LimitKey{Name: n.Name, Key: n.Key}
		all, err := rows.Limit(driver.LimitKey{Name: n.Name})
		bounds := all
		if err == nil && n.Key != "" {
			var own *journal.Limit
			if own, err = rows.Limit(k); own != nil {
				bounds = own
			}
		}
		if err != nil {
			return nil, err
		}
		if bounds == nil || bounds.MaxBacklog == 0 {
			list = append(list, nil)
			continue
		}
		r := &driver.LimitRoom{LimitKey: k, Limit: bounds, Now: e.at.UnixMicro()}
		if all != nil {
			r.Total = all.Total
		}
		if err := e.fill(r, &rows); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// fill reads what is held of a room, and who waits.
func (e *effects) fill(r *driver.LimitRoom, rows *limitRows) error {
	line, err := rows.Line(r.LimitKey)
	if err != nil {
		return err
	}
	total, err := rows.Line(r.LimitKey.Total())
	if err != nil {
		return err
	}
	r.Ready, r.Held, r.HeldAll = line.Ready, line.Held, total.Held
	x := execs{q: e.q}
	x.query(limitEndedSQL, func(row row) error { r.Held -= int(row.int(0)); return nil }, r.Name, r.Key)
	x.query(limitEndedAllSQL, func(row row) error { r.HeldAll -= int(row.int(0)); return nil }, r.Name)
	x.query(limitWaitingRunsSQL, func(row row) error { r.Waiting = int(row.int(0)); return nil }, r.Name, r.Key, int64(r.Enough()))
	return x.err
}
