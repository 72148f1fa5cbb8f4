package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/reprise-run/reprise/migrations"
)

// Applied returns which migrations a store's schema has, none if it has no tables of the journal.
// migrations.Pending compares them with those of this release: [Open] has applied all of them
// unless Options.SkipMigrations is set. It needs no right but to read.
func Applied(ctx context.Context, s *Store) (applied []migrations.Applied, err error) {
	err = s.call(inShare(ctx, slowShare), func(ctx context.Context, c *pgx.Conn) error {
		applied, err = readApplied(ctx, c, s.o.Schema, pgx.QueryExecModeExec) // once, so it is not worth preparing
		if pe, ok := errors.AsType[*pgconn.PgError](err); ok && pe.Code == undefinedTable {
			return nil
		}
		return err
	})
	return applied, err
}
