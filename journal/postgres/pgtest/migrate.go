package pgtest

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/postgres"
)

// Schema is where New's databases keep their tables.
const Schema = "reprise"

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

// schemaTablesSQL lists the tables of a schema that hold what a test has written.
const schemaTablesSQL = `
SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND c.relname <> 'schema_migrations' ORDER BY c.relname`

// tablesOf returns the names of a schema's tables that hold what a test has written.
func tablesOf(ctx context.Context, conn *pgx.Conn, schema string) ([]string, error) {
	rows, _ := conn.Query(ctx, schemaTablesSQL, schema) // CollectRows reports the error
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
