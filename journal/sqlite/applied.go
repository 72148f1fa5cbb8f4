package sqlite

import (
	"context"

	"github.com/reprise-run/reprise/migrations"
)

// Applied returns which migrations a store's file has, none if it has no tables of the journal.
// migrations.Pending compares them with those of this release: Open has applied all of them unless
// the store is for reading alone.
func Applied(ctx context.Context, s *Store) (applied []migrations.Applied, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	err = s.read(ctx, func(c *conn) error {
		own, err := c.queryInt(identifyOwnSQL)
		if err == nil && own == 1 {
			applied, err = appliedMigrations(c)
		}
		return err
	})
	return applied, err
}
