package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// adminDrain asks a node to leave, in one transaction with its row of the audit (J12).
func adminDrain(ctx context.Context, s *Store, a *driver.AdminAction) error {
	exists := false
	err := s.transaction(ctx, func(ctx context.Context, c *pgx.Conn) error {
		exists = false
		var drains bool
		var name string
		var p pipeline
		p.exec(beginSQL)
		p.exec(holdSQL)
		if hasty(ctx, 1) {
			p.exec(heldWaitSQL)
		}
		p.query(s.sql.admin.drainRead, each(func(row pgx.CollectableRow) error {
			exists = true
			return row.Scan(&drains, &name)
		}), int32(a.Node))
		if err := p.send(ctx, c); err != nil {
			return err
		}
		p = pipeline{}
		if exists && !drains {
			p.exec(s.sql.admin.drain, int32(a.Node))
			p.exec(s.sql.admin.note, append(auditArgs(a, a.NodeDetail(name)), "")...)
		}
		p.exec(endSQL)
		return p.send(ctx, c)
	})
	if err == nil && !exists {
		err = journal.ErrNoNode
	}
	return err
}
