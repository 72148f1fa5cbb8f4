package sqlite

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// limitHaltedSQL finds the next route behind one of which a set is noted as halted: a probe for
// each, however many sets there are. The route is given in parts, since SQLite searches an index
// for a comparison of rows by its first column only.
const limitHaltedSQL = `
SELECT x.queue, x.workflow, x.version FROM (
    SELECT * FROM (SELECT s.queue, s.workflow, s.version FROM reprise_limit_sets s INDEXED BY reprise_limit_sets_halted_idx
        WHERE s.halted = 1 AND s.queue = ?1 AND s.workflow = ?2 AND s.version > ?3 ORDER BY s.version LIMIT 1)
    UNION ALL
    SELECT * FROM (SELECT s.queue, s.workflow, s.version FROM reprise_limit_sets s INDEXED BY reprise_limit_sets_halted_idx
        WHERE s.halted = 1 AND s.queue = ?1 AND s.workflow > ?2 ORDER BY s.workflow, s.version LIMIT 1)
    UNION ALL
    SELECT * FROM (SELECT s.queue, s.workflow, s.version FROM reprise_limit_sets s INDEXED BY reprise_limit_sets_halted_idx
        WHERE s.halted = 1 AND s.queue > ?1 ORDER BY s.queue, s.workflow, s.version LIMIT 1)) x LIMIT 1`

// limitHaltedSetsSQL reads sets of a route that are noted as halted, those first whose first claim
// is the earliest.
const limitHaltedSetsSQL = `
SELECT s.set_id, s.name, s.key FROM reprise_limit_sets s INDEXED BY reprise_limit_sets_halted_idx
WHERE s.halted = 1 AND s.queue = ? AND s.workflow = ? AND s.version = ? ORDER BY s.first LIMIT ?`

// limitUnhaltSQL puts a set into the list of a line again.
const limitUnhaltSQL = `UPDATE reprise_limit_sets SET away = 0, halted = 0 WHERE set_id = ? AND name = ? AND key = ?`

// Halts implements driver.LimitRows.
func (l *limitRows) Halts() (func(r journal.Route) bool, error) {
	pauses, err := readPauses(l.q)
	return driver.LimitHalts(pauses, l.nodes.valid()), err
}

// Unhalt implements driver.LimitRows.
func (l *limitRows) Unhalt(halts func(r journal.Route) bool, max int) (keys []driver.LimitKey, err error) {
	var last journal.Route
	for n := 0; n < driver.LimitHaltedMax && len(keys) < max && err == nil; n++ {
		var next *journal.Route
		err = l.q.query(limitHaltedSQL, func(r row) error {
			next = &journal.Route{Queue: r.text(0), Workflow: r.text(1), Version: int32(r.int(2))}
			return nil
		}, last.Queue, last.Workflow, int64(last.Version))
		if next == nil {
			break
		}
		if last = *next; halts(last) {
			continue
		}
		var sets []driver.LimitSetLine
		x := execs{q: l.q, err: err}
		x.query(limitHaltedSetsSQL, func(r row) error {
			sets = append(sets, driver.LimitSetLine{LimitKey: driver.LimitKey{Name: r.text(1), Key: r.text(2)}, LimitSet: driver.LimitSet{Set: r.int(0)}})
			return nil
		}, last.Queue, last.Workflow, int64(last.Version), int64(max-len(keys)))
		for _, s := range sets {
			x.exec(limitUnhaltSQL, s.Set, s.Name, s.Key)
			keys = append(keys, s.LimitKey)
		}
		err = x.err
	}
	return keys, err
}
