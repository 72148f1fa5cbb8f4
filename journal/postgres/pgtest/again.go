package pgtest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// schemaTablesSQL lists the tables of a schema that hold what a test has written.
const schemaTablesSQL = `
SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND c.relname <> 'schema_migrations' ORDER BY c.relname`

// tablesOf returns the names of a schema's tables that hold what a test has written.
func tablesOf(ctx context.Context, conn *pgx.Conn, schema string) ([]string, error) {
	rows, _ := conn.Query(ctx, schemaTablesSQL, schema) // CollectRows reports the error
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// giveBack checks a test's schema and keeps it for another test, or drops it. By now the test's
// store is closed, as cleanups run in the reverse order, so nobody writes to the tables that are
// emptied.
func giveBack(t testing.TB, schema string) error {
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	return shared.keeper.AcquireFunc(ctx, func(pooled *pgxpool.Conn) error {
		conn := pooled.Conn()
		check(ctx, t, conn, schema)
		tables, err := tablesOf(ctx, conn, schema)
		if err != nil {
			return err
		}
		if t.Failed() || !slices.Equal(tables, shared.tables) {
			_, err := conn.Exec(ctx, fmt.Sprintf("drop schema if exists %s cascade", schema))
			return err
		}
		if err := empty(ctx, conn, schema); err != nil {
			return err
		}
		shared.mu.Lock()
		defer shared.mu.Unlock()
		shared.schemas = append(shared.schemas, schema)
		return nil
	})
}

// truncateBytes is the size from which a table is truncated. A smaller one is deleted from:
// truncating makes new files for the table and each of its indexes, and lets every session plan its
// statements anew, which takes longer than most tests.
const truncateBytes = 1 << 20

// largeSQL names the tables of a schema that are worth truncating.
const largeSQL = `
SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = $1 AND c.relkind = 'r' AND c.relname = ANY ($2) AND pg_total_relation_size(c.oid) > $3`

// againSQL lets a schema's sequences begin again.
const againSQL = `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false) FROM pg_sequences WHERE schemaname = $1`

// empty makes a schema as good as new, in one transaction.
func empty(ctx context.Context, conn *pgx.Conn, schema string) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, largeSQL, schema, shared.tables, truncateBytes) // CollectRows reports the error
		large, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		var batch pgx.Batch
		for _, table := range shared.tables {
			verb := "delete from"
			if slices.Contains(large, table) {
				verb = "truncate"
			}
			batch.Queue(fmt.Sprintf("%s %s.%s", verb, schema, table))
		}
		batch.Queue(againSQL, schema)
		return tx.SendBatch(ctx, &batch).Close()
	})
}
