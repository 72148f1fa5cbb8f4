package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// setLimit sets or removes a limit. What has changed is in the audit (J12).
func setLimit(db *database, a *driver.AdminAction, now time.Time) error {
	k := driver.LimitKey{Name: a.Limit.Name, Key: a.Limit.Key}
	has, _ := db.limits.Limit(k)
	all, _ := db.limits.Limit(driver.LimitKey{Name: k.Name})
	row := a.LimitChange(has, all)
	switch {
	case a.Kind == driver.AdminRemoveLimit && has == nil:
		return journal.ErrNoLimit
	case row.Detail == "":
		return nil
	case a.Kind == driver.AdminRemoveLimit:
		delete(db.limits.rows, k)
		db.limits.lookAgain(k.Name, now)
	default:
		db.limits.lookAgain(k.Name, now)
		l := *a.Limit
		l.Time, l.Actor, l.Reason = instant(now), a.Actor, a.AuditReason()
		db.limits.rows[k] = l
	}
	if row.Totals || row.NoTotal {
		db.limits.retotal(k, row.Totals)
	}
	if row.Reshares {
		db.limits.reshare(&row)
	}
	if row.Rerates() {
		db.limits.rerate(&row, now)
	}
	db.note(a, "", row.Detail, now)
	return nil
}

// reshare makes the lines that the row of a limit is for those of another weight.
func (l *limits) reshare(row *driver.LimitRow) {
	for k, line := range l.lines {
		if _, own := l.rows[k]; k.Name == row.Key.Name && k != k.Total() && (k == row.Key || row.Key.Key == "" && !own) && l.rows[driver.LimitKey{Name: k.Name}].Total > 0 {
			weight := 1
			if bounds := l.bounds(k); bounds != nil {
				weight = max(bounds.Weight, 1)
			}
			line.share = float64(line.Held) / float64(weight)
		}
	}
}

// rerate makes the lines that the row of a limit is for those of another rate.
func (l *limits) rerate(row *driver.LimitRow, now time.Time) {
	for k, line := range l.lines {
		if _, own := l.rows[k]; k.Name == row.Key.Name && k != k.Total() && (k == row.Key || row.Key.Key == "" && !own) {
			line.Ready, line.Rated = driver.LimitReady(line.Ready, now, row.Was, row.Is), now.UnixMicro()
		}
	}
}

// retotal makes the lines of a limit those of one with a Total, or without.
func (l *limits) retotal(k driver.LimitKey, totals bool) {
	held := 0
	for key, line := range l.lines {
		if key.Name == k.Name && key != k.Total() {
			held += line.Held
			line.Open, line.share, line.Served = totals && line.Waiting > 0, float64(line.Held), 0
		}
	}
	delete(l.lines, k.Total())
	if totals && held > 0 {
		l.lines[k.Total()] = &limitLine{LimitLine: driver.LimitLine{Held: held}}
	}
}

// releaseClaim frees what a node claims. What has changed is in the audit (J12).
func releaseClaim(db *database, a *driver.AdminAction, now time.Time) error {
	c := db.limits.claims[driver.LimitGrant{Node: a.Claim.Node, ID: a.Claim.ID}]
	if c == nil || c.ended {
		return journal.ErrNoClaim
	}
	shown := db.limits.show(driver.LimitGrant{Node: a.Claim.Node, ID: a.Claim.ID}, 0)
	round := driver.LimitRound{Releases: []driver.LimitRelease{{ID: a.Claim.ID, Needs: c.Needs}}}
	if _, err := limitRound(db, a.Claim.Node, &round, now); err != nil {
		return err
	}
	if a.Claim.Node == 0 && c.granted.IsZero() { // it goes without
		beginLimited(db, c.Run, now)
	}
	a.Run = c.Run
	db.note(a, "", a.ClaimDetail(&shown), now)
	return nil
}

// show is a claim of the want's need with a number, as callers see it.
func (l *limits) show(g driver.LimitGrant, need int) journal.LimitClaim {
	c := l.claims[g]
	n := c.Needs[need]
	out := journal.LimitClaim{Limit: n.Name, Key: n.Key, Node: g.Node, ID: g.ID, Run: c.Run, Cmd: c.Cmd, Step: c.Step, Cost: n.Cost,
		Since: c.Since, Granted: c.granted, Priority: c.Priority}
	if c.granted.IsZero() {
		out.Place = 1
		if line := l.lines[driver.LimitKey{Name: n.Name, Key: n.Key}]; line != nil { // else nobody waits there whom a round has seen
			at, _ := slices.BinarySearchFunc(line.waiting, limitPlace{c.ranks[need], g}, comparePlaces)
			out.Place = min(at+1, journal.LimitPlaceMax)
		}
	}
	return out
}

// Limits implements driver.Store.
func (s *Store) Limits(ctx context.Context, f journal.LimitFilter) (journal.LimitPage, error) {
	now, err := s.enter(ctx)
	if err != nil {
		return journal.LimitPage{}, err
	}
	defer s.db.mu.Unlock()
	l, page := &s.db.limits, journal.LimitPage{Now: now}
	selects := func(name, key string) bool { return (f.Name == "" || f.Name == name) && (f.Key == "" || f.Key == key) }
	for _, row := range l.rows {
		if !f.Run.IsZero() {
			break
		}
		if selects(row.Name, row.Key) || f.Name == row.Name && row.Key == "" {
			page.Limits = append(page.Limits, row)
		}
	}
	for k, line := range l.lines {
		if selects(k.Name, k.Key) && k != k.Total() {
			u := journal.LimitUse{Name: k.Name, Key: k.Key, Held: line.Held, Waiting: line.Waiting}
			if due := driver.LimitDue(line.LimitLine, l.bounds(k)); due > now.UnixMicro() {
				u.NextAt = time.UnixMicro(due).UTC()
			}
			page.Uses = append(page.Uses, u)
		}
	}
	for g, c := range l.claims {
		if g.Node == 0 && !c.counted && f.Run.IsZero() { // it is in no line
			continue
		}
		for i, n := range c.Needs {
			if selects(n.Name, n.Key) && !c.ended && (f.Run.IsZero() || f.Run == c.Run) {
				page.Claims = append(page.Claims, l.show(g, i))
			}
		}
	}
	slices.SortFunc(page.Limits, func(a, b journal.Limit) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key)) })
	slices.SortFunc(page.Uses, func(a, b journal.LimitUse) int {
		return cmp.Or(-cmp.Compare(a.Waiting, b.Waiting), -cmp.Compare(a.Held, b.Held), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key))
	})
	slices.SortFunc(page.Claims, compareClaims)
	page.Uses, page.Claims = page.Uses[:min(f.Uses, len(page.Uses))], page.Claims[:min(f.Claims, len(page.Claims))]
	return page, nil
}

// compareClaims puts held claims first, then those that wait by limit and place.
func compareClaims(a, b journal.LimitClaim) int {
	waits := func(c journal.LimitClaim) int {
		if c.Granted.IsZero() {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(waits(a), waits(b)), cmp.Compare(a.Limit, b.Limit), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Place, b.Place),
		a.Granted.Compare(b.Granted), cmp.Compare(a.Node, b.Node), cmp.Compare(a.ID, b.ID))
}

// Limits implements driver.Membership.
func (m *member) Limits(ctx context.Context, r driver.LimitRound) (driver.LimitAnswer, error) {
	now, err := m.s.enter(ctx)
	if err != nil {
		return driver.LimitAnswer{}, err
	}
	defer m.s.db.mu.Unlock()
	if m.row() == nil {
		return driver.LimitAnswer{}, fmt.Errorf("node %d: %w", m.id, journal.ErrNodeLost)
	}
	if err := m.s.db.limits.checkNew(m.id, &r); err != nil {
		return driver.LimitAnswer{}, err
	}
	return limitRound(m.s.db, m.id, &r, now)
}

// checkNew refuses a round that asks for what the store has, and neither ends it before nor says
// that it repeats, as the key of a table does: such a round has happened late, behind the one that
// repeats it.
func (l *limits) checkNew(node journal.NodeID, r *driver.LimitRound) error {
	for i := range r.Wants {
		id := r.Wants[i].ID
		known, _ := l.Known(node, id)
		if known && !r.MayKnow() && !slices.ContainsFunc(r.Releases, func(e driver.LimitRelease) bool { return e.ID == id }) {
			return fmt.Errorf("want %d of node %d comes twice: %w", id, node, journal.ErrInvalid)
		}
	}
	return nil
}
