package pgtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// keeper hands schemas of one database from test to test. Its sessions are its own and last, so
// they have planned what they ask each schema that comes back.
type keeper struct {
	sessions *pgxpool.Pool
	tables   []string // of every migrated schema

	mu   sync.Mutex
	free []string // schemas that are migrated and empty
}

func newKeeper(ctx context.Context, dsn string, tables []string) (*keeper, error) {
	sessions, err := pgxpool.New(ctx, dsn)
	return &keeper{sessions: sessions, tables: tables}, err
}

// take names a schema: one that is empty, or one that nobody has made yet.
func (k *keeper) take() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := len(k.free)
	if n == 0 {
		return uniqueName("test")
	}
	schema := k.free[n-1]
	k.free = k.free[:n-1]
	return schema
}

// giveBack checks a test's schema and keeps it for another test, or drops it. By now the test's
// store is closed, as cleanups run in the reverse order, so nobody writes to the tables that are
// emptied.
func (k *keeper) giveBack(t testing.TB, schema string) error {
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	return k.sessions.AcquireFunc(ctx, func(pooled *pgxpool.Conn) error {
		conn := pooled.Conn()
		check(ctx, t, conn, schema)
		tables, err := tablesOf(ctx, conn, schema)
		if err != nil {
			return err
		}
		if t.Failed() || !slices.Equal(tables, k.tables) {
			_, err := conn.Exec(ctx, fmt.Sprintf("drop schema if exists %s cascade", schema))
			return err
		}
		if err := k.empty(ctx, conn, schema); err != nil {
			return err
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		k.free = append(k.free, schema)
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
func (k *keeper) empty(ctx context.Context, conn *pgx.Conn, schema string) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		rows, _ := tx.Query(ctx, largeSQL, schema, k.tables, truncateBytes) // CollectRows reports the error
		large, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}
		var batch pgx.Batch
		for _, table := range k.tables {
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

// uniqueName returns a name that no other test, and no other test binary on the same server, uses:
// several packages are tested at once.
func uniqueName(what string) string {
	return "reprise_" + what + "_" + strings.ReplaceAll(uuid.NewString(), "-", "")
}
