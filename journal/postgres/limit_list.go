package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Limits implements driver.Store.
func (s *Store) Limits(ctx context.Context, f journal.LimitFilter) (page journal.LimitPage, err error) {
	err = s.call(inShare(ctx, slowShare), func(ctx context.Context, c *pgx.Conn) error {
		page = journal.LimitPage{}
		var p pipeline
		p.query(listNowSQL, each(func(row pgx.CollectableRow) error { return row.Scan(&page.Now) }))
		if f.Run.IsZero() {
			p.query(s.sql.limit.list, each(func(row pgx.CollectableRow) error {
				l, err := scanLimit(row)
				page.Limits = append(page.Limits, l)
				return err
			}), f.Name, f.Key)
		}
		if f.Uses > 0 {
			p.query(s.sql.limit.uses, each(func(row pgx.CollectableRow) error {
				st, _, err := scanLimitState(row)
				u := journal.LimitUse{Name: st.key.Name, Key: st.key.Key, Held: st.line.Held, Waiting: st.line.Waiting}
				if due := driver.LimitDue(st.line, st.limit); due > page.Now.UnixMicro() {
					u.NextAt = time.UnixMicro(due).UTC()
				}
				page.Uses = append(page.Uses, u)
				return err
			}), f.Name, f.Key, f.Uses)
		}
		if f.Claims > 0 {
			listClaims(s, &p, &f, &page)
		}
		return p.send(ctx, c)
	})
	page.Now = page.Now.UTC()
	page.Claims = page.Claims[:min(f.Claims, len(page.Claims))]
	return page, err
}

// listClaims adds the statements that list claims.
func listClaims(s *Store, p *pipeline, f *journal.LimitFilter, page *journal.LimitPage) {
	scan := each(func(row pgx.CollectableRow) error {
		var c journal.LimitClaim
		var granted pgtype.Timestamptz
		err := row.Scan(&c.Limit, &c.Key, &c.Node, &c.ID, &c.Run, &c.Cmd, &c.Step, &c.Cost, &c.Since, &granted, &c.Priority, &c.Place)
		c.Since, c.Granted = c.Since.UTC(), timeOf(granted)
		page.Claims = append(page.Claims, c)
		return err
	})
	run := pgtype.UUID{Bytes: f.Run, Valid: !f.Run.IsZero()}
	p.query(s.sql.limit.held, scan, f.Name, f.Key, run, f.Claims)
	switch {
	case run.Valid:
		p.query(s.sql.limit.waitingRun, scan, run, f.Name, f.Key, f.Claims)
	case f.Name != "":
		p.query(s.sql.limit.waitingName, scan, f.Name, f.Key, f.Claims)
	default:
		p.query(s.sql.limit.waiting, scan, f.Claims)
	}
}
