package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// adminView saves or deletes a view, in one transaction with its row of the audit (J12).
func adminView(ctx context.Context, s *Store, a *driver.AdminAction) error {
	var refused error
	err := s.transaction(ctx, func(ctx context.Context, c *pgx.Conn) error {
		var has *string
		var all int
		var p pipeline
		p.exec(beginSQL)
		p.exec(holdSQL)
		if hasty(ctx, 1) {
			p.exec(heldWaitSQL)
		}
		p.exec(s.sql.admin.view.lock)
		p.query(s.sql.admin.view.read, each(func(row pgx.CollectableRow) error { return row.Scan(&has, &all) }), a.View.Name)
		if err := p.send(ctx, c); err != nil {
			return err
		}
		address := ""
		if has != nil {
			address = *has
		}
		var changed bool
		changed, refused = a.ViewChange(address, has != nil, all)
		p = pipeline{}
		if changed {
			if a.Kind == driver.AdminDeleteView {
				p.exec(s.sql.admin.view.delete, a.View.Name)
			} else {
				p.exec(s.sql.admin.view.save, a.View.Name, a.View.Address, a.Actor)
			}
			p.exec(s.sql.admin.note, append(auditArgs(a, a.ViewDetail()), "")...)
		}
		p.exec(endSQL)
		return p.send(ctx, c)
	})
	if err == nil {
		err = refused
	}
	return err
}

// Views implements driver.Store.
func (s *Store) Views(ctx context.Context) (list []journal.View, err error) {
	err = s.call(inShare(ctx, slowShare), func(ctx context.Context, c *pgx.Conn) error {
		rows, err := c.Query(ctx, s.sql.admin.view.list)
		if err != nil {
			return err
		}
		list, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (v journal.View, err error) {
			err = row.Scan(&v.Name, &v.Address, &v.Time, &v.Actor)
			v.Time = v.Time.UTC()
			return v, err
		})
		return err
	})
	return list, err
}
