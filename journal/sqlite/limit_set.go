package sqlite

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// limitSetsSQL reads the sets that a line lists.
const limitSetsSQL = `
SELECT s.set_id, s.first, s.queue, s.workflow, s.version FROM reprise_limit_sets s INDEXED BY reprise_limit_sets_line_idx
WHERE s.name = ? AND s.key = ? AND s.away = 0 ORDER BY s.first LIMIT ?`

// limitHeadsSQL reads which claims of a set wait first in a line, or of no set.
const limitHeadsSQL = `
SELECT c.node, c.id, c.rank, c.since, c.cost, c.needs, c.run_id FROM reprise_limit_claims c INDEXED BY reprise_limit_claims_heads_idx
WHERE c.name = ? AND c.key = ? AND c.set_id = ? AND c.granted_at IS NULL AND c.counted = 1 AND c.ended = 0 AND c.paused = 0 ORDER BY c.rank, c.node, c.id LIMIT ?`

// limitRanksSQL reads the rank of a claim in each of its lines.
const limitRanksSQL = `SELECT c.rank FROM reprise_limit_claims c WHERE c.node = +? AND c.id = ? ORDER BY c.part`

// The writes of sets.
const (
	limitSetsGoneSQL  = `DELETE FROM reprise_limit_sets WHERE set_id = ?`
	limitSetsEnterSQL = `
INSERT INTO reprise_limit_sets (set_id, name, key, first, queue, workflow, version, away) VALUES (?, ?, ?, ?, ?, ?, ?, 0)
ON CONFLICT (set_id, name, key) DO UPDATE SET first = excluded.first WHERE first > excluded.first`
	limitSetsMoveSQL = `
UPDATE reprise_limit_sets SET first = max(first, ?1), away = ?2, halted = ?3
WHERE set_id = ?4 AND name = ?5 AND key = ?6 AND (first < ?1 OR away <> ?2 OR halted <> ?3)`
	limitSetsLeftSQL = `
DELETE FROM reprise_limit_sets AS s WHERE s.set_id = ? AND NOT EXISTS (
    SELECT 1 FROM reprise_limit_claims c INDEXED BY reprise_limit_claims_heads_idx
    WHERE c.name = s.name AND c.key = s.key AND c.set_id = s.set_id AND c.granted_at IS NULL AND c.counted = 1 AND c.ended = 0)`
)

// The process before is dead: sets of its steps alone are gone, and what has held up the others may
// be free.
const (
	limitSetsForgetSQL = `
DELETE FROM reprise_limit_sets AS s WHERE NOT EXISTS (
    SELECT 1 FROM reprise_limit_claims c
    WHERE c.name = s.name AND c.key = s.key AND c.set_id = s.set_id AND c.granted_at IS NULL AND c.counted = 1 AND c.ended = 0)`
	limitSetsListSQL = `UPDATE reprise_limit_sets SET away = 0, halted = 0`
)

// Heads implements driver.LimitRows.
func (l *limitRows) Heads(k driver.LimitKey) (heads driver.LimitHeads, err error) {
	err = l.q.query(limitSetsSQL, func(r row) error {
		heads.Sets = append(heads.Sets, driver.LimitSet{Set: r.int(0), First: r.int(1),
			Route: journal.Route{Queue: r.text(2), Workflow: r.text(3), Version: int32(r.int(4))}})
		return nil
	}, k.Name, k.Key, int64(driver.LimitHeadsMax))
	if err == nil {
		heads.Claims, err = l.headsOf(k, 0, driver.LimitHeadsMax)
	}
	for i := 0; i < len(heads.Sets) && err == nil; i++ {
		var more []driver.LimitHead
		more, err = l.headsOf(k, heads.Sets[i].Set, driver.LimitSetHeads(len(heads.Sets)))
		heads.Claims = append(heads.Claims, more...)
	}
	return heads, err
}

// headsOf reads the claims of one set that wait first in a line, or those of no set.
func (l *limitRows) headsOf(k driver.LimitKey, set int64, max int) (heads []driver.LimitHead, err error) {
	err = l.q.query(limitHeadsSQL, func(r row) (err error) {
		h := driver.LimitHead{Node: journal.NodeID(r.int(0)), ID: r.int(1), Rank: r.int(2), Since: r.time(3), Run: r.id(6), Set: set}
		h.Needs, err = driver.DecodeLimitNeeds(r.text(5), journal.LimitNeed{Name: k.Name, Key: k.Key, Cost: r.int(4)})
		heads = append(heads, h)
		return err
	}, k.Name, k.Key, set, int64(max))
	for i := 0; set != 0 && i < len(heads) && err == nil; i++ {
		h := &heads[i]
		err = l.q.query(limitRanksSQL, func(r row) error { h.Ranks = append(h.Ranks, r.int(0)); return nil }, int64(h.Node), h.ID)
	}
	return heads, err
}

// writeSets writes what a round has changed of sets.
func (l *limitRows) writeSets(w driver.LimitSetWrites) error {
	x := execs{q: l.q}
	for _, set := range w.Gone {
		x.exec(limitSetsGoneSQL, set)
	}
	for i := range w.Enter {
		e := &w.Enter[i]
		x.exec(limitSetsEnterSQL, e.Set, e.Name, e.Key, e.First, e.Route.Queue, e.Route.Workflow, int64(e.Route.Version))
	}
	for i := range w.Moves {
		m := &w.Moves[i]
		x.exec(limitSetsMoveSQL, m.First, boolArg(m.Away), boolArg(m.Halted), m.Set, m.Name, m.Key)
	}
	for _, set := range w.Left {
		x.exec(limitSetsLeftSQL, set)
	}
	return x.err
}
