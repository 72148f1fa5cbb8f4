package sqlite

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// limitReplaceSQL writes the row of a limit.
const limitReplaceSQL = `
INSERT OR REPLACE INTO reprise_limits (name, key, concurrency, total, rate_n, rate_per, burst, weight, ageing, at, actor, reason, max_backlog, on_full)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

// limitUnsetSQL removes the row of a limit.
const limitUnsetSQL = `DELETE FROM reprise_limits WHERE name = ? AND key = ?`

// The lines of a limit become those of one with a total, or without.
const (
	limitRetotalSQL = `
UPDATE reprise_limit_lines SET open = ?1 AND waiting > 0, share = iif(?1, held, 0), served = 0 WHERE name = ?2 AND key <> '~total'`
	limitTotalSQL = `
INSERT OR REPLACE INTO reprise_limit_lines (name, key, held, waiting, ready, served, share, open)
SELECT ?1, '~total', coalesce(sum(l.held), 0), 0, 0, 0, 0, 0 FROM reprise_limit_lines l WHERE l.name = ?1 AND l.key <> '~total'`
)

// limitRatedSQL reads lines of a limit, behind the last that was read, that the row for all keys is
// for: those that are held or not ready.
const limitRatedSQL = `
SELECT l.key, l.ready FROM reprise_limit_lines l
WHERE l.name = ?1 AND l.key > ?2 AND l.key <> '~total' AND (l.held > 0 OR l.ready > ?3)
  AND NOT EXISTS (SELECT 1 FROM reprise_limits o WHERE o.name = l.name AND o.key = l.key)
ORDER BY l.key LIMIT ?4`

// limitRerateSQL moves a line to another rate.
const limitRerateSQL = `UPDATE reprise_limit_lines SET ready = ?, rated_at = ? WHERE name = ? AND key = ?`

// limitWeight is the weight of the key of a line l: its own, or that of the limit.
const limitWeight = `
    max(1, coalesce((SELECT o.weight FROM reprise_limits o WHERE o.name = l.name AND o.key = l.key),
    (SELECT o.weight FROM reprise_limits o WHERE o.name = l.name AND o.key = ''), 1))`

// limitReshareSQL makes lines those of another weight: that of a key, or all of a limit that has a
// total.
const limitReshareSQL = `
UPDATE reprise_limit_lines AS l
SET share = CAST(l.held AS REAL) / ` + limitWeight + `
WHERE l.name = ?1 AND (?2 = '' OR l.key = ?2) AND l.key <> '~total'
  AND EXISTS (SELECT 1 FROM reprise_limits t WHERE t.name = ?1 AND t.key = '' AND t.total > 0)`

// limitClaimSQL reads a claim that an operator releases.
const limitClaimSQL = `
SELECT c.name, c.key, c.step, c.run_id, c.needs, c.cost, c.granted_at FROM reprise_limit_claims c
WHERE c.node = +? AND c.id = ? AND c.ended = 0 ORDER BY c.part LIMIT 1`

// setLimit sets or removes a limit, in the writer's transaction. What has changed is in the audit
// (J12).
func setLimit(q querier, a *driver.AdminAction, at time.Time) error {
	l := a.Limit
	k := driver.LimitKey{Name: l.Name, Key: l.Key}
	rows := limitRows{q: q, at: at}
	has, err := rows.Limit(k)
	if err != nil {
		return err
	}
	all, err := rows.Limit(driver.LimitKey{Name: l.Name})
	if err != nil {
		return err
	}
	change := a.LimitChange(has, all)
	switch {
	case a.Kind == driver.AdminRemoveLimit && has == nil:
		return journal.ErrNoLimit
	case change.Detail == "":
		return nil
	case a.Kind == driver.AdminRemoveLimit:
		_, err = q.exec(limitUnsetSQL, l.Name, l.Key)
	default:
		_, err = q.exec(limitReplaceSQL, l.Name, l.Key, int64(l.Concurrency), int64(l.Total), l.Rate.N, l.Rate.Per.Microseconds(), l.Rate.Burst,
			int64(l.Weight), l.Ageing.Microseconds(), at.UnixMicro(), a.Actor, a.AuditReason(), int64(l.MaxBacklog), int64(l.OnFull))
	}
	if err == nil {
		_, err = q.exec(limitLookSQL, l.Name)
	}
	if err == nil && (change.Totals || change.NoTotal) {
		err = retotal(q, k, change.Totals)
	}
	if err == nil && change.Reshares {
		_, err = q.exec(limitReshareSQL, l.Name, l.Key)
	}
	if err == nil && change.Rerates() {
		err = rerate(q, &change, at)
	}
	if err != nil {
		return err
	}
	return note(q, a, "", change.Detail, at)
}

// rerate makes the lines that the row of a limit is for those of another rate.
func rerate(q querier, change *driver.LimitRow, at time.Time) error {
	x := execs{q: q}
	move := func(key string, ready int64) {
		x.exec(limitRerateSQL, driver.LimitReady(ready, at, change.Was, change.Is), at.UnixMicro(), change.Key.Name, key)
	}
	x.query(limitLineSQL, func(r row) error { move(change.Key.Key, r.int(2)); return nil }, change.Key.Name, change.Key.Key)
	for last, more := "", change.Key.Key == ""; more && x.err == nil; {
		var keys []string
		var ready []int64
		x.query(limitRatedSQL, func(r row) error {
			keys, ready = append(keys, r.text(0)), append(ready, r.int(1))
			return nil
		}, change.Key.Name, last, at.UnixMicro(), int64(driver.LimitRatesMax))
		for i, key := range keys {
			last = key
			move(key, ready[i])
		}
		more = len(keys) == driver.LimitRatesMax
	}
	return x.err
}

func retotal(q querier, k driver.LimitKey, totals bool) error {
	_, err := q.exec(limitRetotalSQL, boolArg(totals), k.Name)
	if err == nil && totals {
		_, err = q.exec(limitTotalSQL, k.Name)
	} else if err == nil {
		_, err = q.exec(limitForgetLineSQL, k.Name, k.Total().Key)
	}
	return err
}

// releaseClaim frees what a node claims. What has changed is in the audit (J12).
func releaseClaim(q querier, nodes *nodes, a *driver.AdminAction, at time.Time) error {
	var found *journal.LimitClaim
	var needs []journal.LimitNeed
	err := q.query(limitClaimSQL, func(r row) (err error) {
		found = &journal.LimitClaim{Limit: r.text(0), Key: r.text(1), Step: r.text(2), Run: r.id(3), Node: a.Claim.Node, ID: a.Claim.ID, Granted: r.time(6)}
		needs, err = driver.DecodeLimitNeeds(r.text(4), journal.LimitNeed{Name: r.text(0), Key: r.text(1), Cost: r.int(5)})
		return err
	}, int64(a.Claim.Node), a.Claim.ID)
	switch {
	case err != nil:
		return err
	case found == nil:
		return journal.ErrNoClaim
	}
	round := driver.LimitRound{Releases: []driver.LimitRelease{{ID: a.Claim.ID, Needs: needs}}}
	if _, err := driver.DoLimitRound(&limitRows{q, at, nodes}, a.Claim.Node, &round, at); err != nil {
		return err
	}
	if found.Node == 0 && found.Granted.IsZero() { // the run goes without
		if _, err := q.exec(limitBeginSQL, at.UnixMicro(), uuidArg(found.Run)); err != nil {
			return err
		}
	}
	noted := *a
	noted.Run = found.Run
	return note(q, &noted, "", a.ClaimDetail(found), at)
}
