package postgres

import (
	"context"
	"fmt"
	"hash/fnv"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/migrations"
)

// Migrate brings a schema's tables up to date. Any number of processes may do so at once.
func Migrate(ctx context.Context, conn *pgx.Conn, schema string) error {
	err := migrate(ctx, conn, schema)
	return translateAtOnce(ctx, err, conn.IsClosed())
}

// migrateLockSQL takes a lock that ends with the transaction: the appliers of one schema queue up
// here, before any of them looks at what is applied. Those of other schemas do not wait.
const migrateLockSQL = `SELECT pg_advisory_xact_lock($1::int, 0)`

// migrateExistsSQL asks first, because CREATE SCHEMA IF NOT EXISTS needs a privilege on the
// database even if there is nothing to do.
const migrateExistsSQL = `SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = $1::text)`

// migratePatienceSQL lifts what the role's settings limit: an index of a large table takes as long
// as it takes, and a migration that is cut off is tried again from its beginning.
const migratePatienceSQL = `SET LOCAL statement_timeout = 0`

// migrateTableSQL makes the table that says what was applied. It has no migration of its own, for
// it must be there before the first.
const migrateTableSQL = `
CREATE TABLE IF NOT EXISTS reprise.schema_migrations (
    version    integer     PRIMARY KEY,
    name       text        NOT NULL,
    checksum   text        NOT NULL,
    additive   boolean     NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)`

const migrateAppliedSQL = `SELECT version, name, checksum, additive FROM reprise.schema_migrations ORDER BY version`

const migrateRecordSQL = `
INSERT INTO reprise.schema_migrations (version, name, checksum, additive) VALUES ($1::int, $2::text, $3::text, $4::bool)`

// migrate applies what is missing in one transaction, so a failed file leaves nothing behind, and a
// process that dies on the way leaves the schema as it was.
func migrate(ctx context.Context, conn *pgx.Conn, schema string) error {
	list, err := migrations.Files(schema)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, migratePatienceSQL); err != nil {
			return fmt.Errorf("lift the role's time limit: %w", err)
		}
		if _, err := tx.Exec(ctx, migrateLockSQL, int32(lockClass(schema))); err != nil {
			return fmt.Errorf("lock: %w", err)
		}
		applied, err := appliedMigrations(ctx, tx, schema)
		if err != nil {
			return err
		}
		pending, err := migrations.Pending(list, applied)
		if err != nil {
			return err
		}
		for _, f := range pending {
			if _, err := conn.PgConn().Exec(ctx, f.SQL).ReadAll(); err != nil { // the simple protocol takes many statements
				return fmt.Errorf("migration %s: %w", f.Name, err)
			}
			if _, err := tx.Exec(ctx, migrations.Render(migrateRecordSQL, schema), f.Version, f.Name, f.Checksum, f.Additive); err != nil {
				return fmt.Errorf("record migration %s: %w", f.Name, err)
			}
		}
		return nil
	})
}

// appliedMigrations makes what the list of migrations needs to stand in, if it is not there, and
// reads the list. It runs under the lock, so what it reads stays true until the transaction ends.
func appliedMigrations(ctx context.Context, tx pgx.Tx, schema string) ([]migrations.Applied, error) {
	var exists bool
	if err := tx.QueryRow(ctx, migrateExistsSQL, schema).Scan(&exists); err != nil {
		return nil, err
	}
	if !exists {
		if _, err := tx.Exec(ctx, `CREATE SCHEMA "`+schema+`"`); err != nil { // checked by migrations.CheckSchema
			return nil, fmt.Errorf("create schema: %w", err)
		}
	}
	recorded, err := migrationsRecorded(ctx, tx, schema)
	if err != nil {
		return nil, err
	}
	if !recorded {
		if _, err := tx.Exec(ctx, migrations.Render(migrateTableSQL, schema)); err != nil {
			return nil, fmt.Errorf("create schema_migrations: %w", err)
		}
	}
	return readApplied(ctx, tx, schema)
}

// migrateRecordedSQL tells whether the list of migrations is there.
const migrateRecordedSQL = `SELECT to_regclass($1::text) IS NOT NULL`

func migrationsRecorded(ctx context.Context, q querier, schema string) (recorded bool, err error) {
	err = q.QueryRow(ctx, migrateRecordedSQL, `"`+schema+`".schema_migrations`).Scan(&recorded)
	return recorded, err
}

func readApplied(ctx context.Context, q querier, schema string, mode ...any) ([]migrations.Applied, error) {
	rows, err := q.Query(ctx, migrations.Render(migrateAppliedSQL, schema), mode...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[migrations.Applied])
}

// lockClass is the first key of the schema's advisory locks. The second is 0, for migrations; locks
// of other kinds have classes of their own. Advisory locks are one space for all applications of a
// database, so the class is a hash of a name that others do not use.
func lockClass(schema string) uint32 {
	h := fnv.New32a()
	h.Write([]byte("reprise/" + schema))
	return h.Sum32()
}
