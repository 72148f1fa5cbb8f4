package pgtest

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/postgres"
)

// migrate makes the tables in a database, as the store does when it opens.
func migrate(ctx context.Context, dsn string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	return postgres.Migrate(ctx, conn, Schema)
}
