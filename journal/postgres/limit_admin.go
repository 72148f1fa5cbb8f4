package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// adminLimit sets or removes a limit, in one transaction with its row of the audit (J12). It has
// the lock of the limit, so a limit that is lowered holds for every round that comes behind it
// (J14).
func adminLimit(ctx context.Context, s *Store, a *driver.AdminAction) error {
	var missing bool
	err := s.transaction(ctx, func(ctx context.Context, c *pgx.Conn) error {
		var has, all *journal.Limit
		l := a.Limit
		var p pipeline
		p.exec(beginSQL)
		p.exec(holdSQL)
		if hasty(ctx, 1) {
			p.exec(heldWaitSQL)
		}
		s.limitLocks.take(&p, []string{l.Name})
		p.query(s.sql.limit.adminRead, each(func(row pgx.CollectableRow) error {
			found, err := scanLimit(row)
			if found.Key == l.Key {
				has = &found
			}
			if found.Key == "" {
				all = &found
			}
			return err
		}), l.Name, l.Key)
		if err := p.send(ctx, c); err != nil {
			return err
		}
		p = pipeline{}
		change := a.LimitChange(has, all)
		missing = has == nil && a.Kind == driver.AdminRemoveLimit
		if change.Detail != "" {
			if a.Kind == driver.AdminRemoveLimit {
				p.exec(s.sql.limit.unset, l.Name, l.Key)
			} else {
				p.exec(s.sql.limit.set, l.Name, l.Key, l.Concurrency, l.Total, l.Rate.N, l.Rate.Per.Microseconds(), l.Rate.Burst, l.Weight,
					l.Ageing.Microseconds(), a.Actor, a.AuditReason(), l.MaxBacklog, int16(l.OnFull))
			}
			p.exec(s.sql.limit.runs.look, l.Name)
			if change.Totals || change.NoTotal {
				p.exec(s.sql.limit.retotal, l.Name, change.Totals)
			}
			if change.Reshares {
				p.exec(s.sql.limit.reshare, l.Name, l.Key)
			}
			p.exec(s.sql.admin.note, append(auditArgs(a, change.Detail), "")...)
		}
		if change.Detail != "" && change.Rerates() {
			if err := p.send(ctx, c); err != nil {
				return err
			}
			p = pipeline{}
			if err := rerate(ctx, s, c, &change); err != nil {
				return err
			}
		}
		p.exec(endSQL)
		return p.send(ctx, c)
	})
	if err == nil && missing {
		err = journal.ErrNoLimit
	}
	return err
}

// rerate makes the lines that the row of a limit is for those of another rate, behind the row: that
// of its key, and of all keys that have no row, if it is for these.
func rerate(ctx context.Context, s *Store, c *pgx.Conn, change *driver.LimitRow) error {
	last := change.Key.Key
	n, err := rerateSome(ctx, s, c, change, s.sql.limit.rates.ratedKey, &last)
	for more := change.Key.Key == ""; more && err == nil; more = n == driver.LimitRatesMax {
		n, err = rerateSome(ctx, s, c, change, s.sql.limit.rates.rated, &last)
	}
	return err
}

// rerateSome moves the lines that a statement reads, and tells how many and which was the last.
func rerateSome(ctx context.Context, s *Store, c *pgx.Conn, change *driver.LimitRow, sql string, last *string) (int, error) {
	var keys []string
	var ready, at []int64
	var p pipeline
	p.query(sql, each(func(row pgx.CollectableRow) error {
		var key string
		var was, now int64
		err := row.Scan(&key, &was, &now)
		keys, at = append(keys, key), append(at, now)
		ready = append(ready, driver.LimitReady(was, time.UnixMicro(now), change.Was, change.Is))
		return err
	}), change.Key.Name, *last, driver.LimitRatesMax)
	if err := p.send(ctx, c); err != nil || len(keys) == 0 {
		return 0, err
	}
	*last = keys[len(keys)-1]
	p = pipeline{}
	p.exec(s.sql.limit.rates.rerate, change.Key.Name, keys, ready, at)
	return len(keys), p.send(ctx, c)
}

// adminClaim takes a claim of a node away, in one transaction with its row of the audit (J12).
func adminClaim(ctx context.Context, s *Store, a *driver.AdminAction) error {
	var found *journal.LimitClaim
	var waits bool
	err := s.transaction(ctx, func(ctx context.Context, c *pgx.Conn) error {
		found = nil
		id := pgtype.Int8{Int64: a.Claim.ID, Valid: true}
		var p pipeline
		p.exec(beginSQL)
		p.exec(holdSQL)
		if hasty(ctx, 1) {
			p.exec(heldWaitSQL)
		}
		names, err := s.limitLocks.names(ctx, c, &p, a.Claim.Node, id) // they never change
		if err != nil {
			return err
		}
		p = pipeline{}
		s.limitLocks.take(&p, names)
		p.query(s.sql.limit.claim, each(func(row pgx.CollectableRow) error {
			found = &journal.LimitClaim{Node: a.Claim.Node, ID: a.Claim.ID}
			var run pgtype.UUID
			err := row.Scan(&found.Limit, &found.Key, &found.Step, &run, &waits)
			found.Run = run.Bytes
			return err
		}), int32(a.Claim.Node), a.Claim.ID)
		if err := p.send(ctx, c); err != nil {
			return err
		}
		p = pipeline{}
		if found != nil {
			noted := *a
			noted.Run = found.Run
			if found.Node == 0 && waits { // the run goes without
				beginLimited(s, &p, []driver.LimitBegin{{Run: found.Run, ID: found.ID}})
			}
			p.exec(s.sql.limit.free, int32(a.Claim.Node), id)
			p.exec(s.sql.admin.note, append(auditArgs(&noted, a.ClaimDetail(found)), "")...)
		}
		p.exec(endSQL)
		return p.send(ctx, c)
	})
	if err == nil && found == nil {
		err = journal.ErrNoClaim
	}
	return err
}

// scanLimit reads a row of limitReadSQL.
func scanLimit(row pgx.CollectableRow) (l journal.Limit, err error) {
	var per, ageing int64
	var concurrency, total, weight int32
	err = row.Scan(&l.Name, &l.Key, &concurrency, &total, &l.Rate.N, &per, &l.Rate.Burst, &weight, &ageing, &l.Time, &l.Actor, &l.Reason,
		&l.MaxBacklog, &l.OnFull)
	l.Concurrency, l.Total, l.Weight, l.Rate.Per, l.Ageing, l.Time = int(concurrency), int(total), int(weight), micros(per), micros(ageing), l.Time.UTC()
	return l, err
}
