package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/migrations"
)

// Applied returns which migrations a store's schema has, none if it has no tables of the journal.
// migrations.Pending compares them with those of this release: [Open] has applied all of them
// unless Options.SkipMigrations is set. It needs no right but to read.
func Applied(ctx context.Context, s *Store) (applied []migrations.Applied, err error) {
	err = s.call(inShare(ctx, slowShare), func(ctx context.Context, c *pgx.Conn) error {
		applied = nil
		recorded, err := migrationsRecorded(ctx, c, s.o.Schema)
		if err == nil && recorded {
			applied, err = readApplied(ctx, c, s.o.Schema)
		}
		return err
	})
	return applied, err
}
