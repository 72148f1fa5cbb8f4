package pgtest

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/postgres"
)

// migrate makes the tables in a database, as the store does when it opens, and returns their names.
func migrate(ctx context.Context, dsn string) ([]string, error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	if err := postgres.Migrate(ctx, conn, Schema); err != nil {
		return nil, err
	}
	return tablesOf(ctx, conn, Schema)
}
