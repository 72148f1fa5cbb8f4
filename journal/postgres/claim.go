package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Claim implements driver.Store. It is one pipeline. What is unconfirmed is read before the claim,
// because afterwards it would hold the tasks that the claim has just leased as well.
func (s *Store) Claim(ctx context.Context, r driver.ClaimRequest) (driver.Claim, error) {
	q := claimOf(s, &r)
	var c driver.Claim
	err := s.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		c = driver.Claim{}
		var p pipeline
		if r.Reconcile { // before the claim, so that no task is reported twice
			p.query(s.sql.claimUnconfirmed, each(scanClaimed(&c)), int32(r.Node), q.me, r.BytesMax())
		}
		switch {
		case len(r.Routes) == 0:
		case r.Max > 0:
			p.query(s.sql.claim, each(scanClaimed(&c)), append(q.take(&r), r.BytesMax())...)
		default:
			p.query(s.sql.claimLeft.waiting, each(func(row pgx.CollectableRow) error { return row.Scan(&c.Waiting) }), q.waiting()...)
		}
		p.query(s.sql.claimAttention, each(scanAttention(&c)), int32(r.Node), journal.AttentionMax)
		p.query(s.sql.claimLeft.next, each(scanNext(&c)), q.queues, q.workflows, q.versions)
		return p.send(ctx, conn)
	})
	if driver.IsDamaged(err) {
		return salvageOf(s).claim(ctx, &r, q)
	}
	if err != nil {
		return driver.Claim{}, err
	}
	q.search.claimed(&c, q.limit)
	return c, nil
}

func claimOf(s *Store, r *driver.ClaimRequest) claimQuery {
	q := claimQuery{me: s.roster.incarnation(r.Node), search: s.marks.begin(markKey(r.Routes), claimPatience),
		below: driver.SuspectStrikes, limit: r.Max}
	q.queues, q.workflows, q.versions = routeArrays(r.Routes)
	if r.Suspects > 0 {
		q.below, q.limit = driver.QuarantineStrikes, 0 // suspects may stand in the way of others, so the search proves nothing
	}
	return q
}
