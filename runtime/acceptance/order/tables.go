package main

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite" // the driver of the shop's own connections
)

// queries is what the shop needs of a database or a transaction. All statements are written in the
// SQL that Postgres and SQLite share, so that one shop runs on both.
type queries interface {
	// exec returns how many rows a statement changed.
	exec(ctx context.Context, text string, args ...any) (int64, error)
	// query calls each for every row.
	query(ctx context.Context, text string, each func(scan func(targets ...any) error) error, args ...any) error
}

// tables is a database.
type tables interface {
	queries
	// inTx runs fn in a transaction. Those that name the same thing do not run at the same time.
	inTx(ctx context.Context, thing string, fn func(q queries) error) error
	// snapshot lets fn read everything as of one moment.
	snapshot(ctx context.Context, fn func(q queries) error) error
	// serial is the type of a column that numbers its rows.
	serial() string
	close()
}

// stepTx returns what a step in a transaction works with: the transaction of whichever store the
// journal is in.
func stepTx(tx any) queries {
	switch tx := tx.(type) {
	case pgx.Tx:
		return pgQueries{tx}
	case *sql.Tx:
		return liteQueries{tx}
	}
	panic(fmt.Sprintf("a step in a transaction of type %T", tx)) // fails the step for good
}

// create executes table definitions.
func create(ctx context.Context, t tables, text string) error {
	_, err := t.exec(ctx, strings.ReplaceAll(text, "SERIAL", t.serial()))
	return err
}

// one reads the only row.
func one(ctx context.Context, q queries, text string, args []any, targets ...any) (found bool, err error) {
	err = q.query(ctx, text, func(scan func(...any) error) error {
		found = true
		return scan(targets...)
	}, args...)
	return found, err
}

// pgQueries works on a pool or a transaction of Postgres.
type pgQueries struct {
	q interface {
		Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
		Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	}
}

func (p pgQueries) exec(ctx context.Context, text string, args ...any) (int64, error) {
	tag, err := p.q.Exec(ctx, text, args...)
	return tag.RowsAffected(), err
}

func (p pgQueries) query(ctx context.Context, text string, each func(scan func(...any) error) error, args ...any) error {
	rows, err := p.q.Query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

type pgTables struct {
	pgQueries
	pool *pgxpool.Pool
}

func openPgTables(ctx context.Context, dsn string) (*pgTables, error) {
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		return nil, err
	}
	return &pgTables{pgQueries{pool}, pool}, nil
}

const lockSQL = `select pg_advisory_xact_lock(hashtextextended($1, 0))`

func (p *pgTables) inTx(ctx context.Context, thing string, fn func(q queries) error) error {
	return pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, lockSQL, thing); err != nil {
			return err
		}
		return fn(pgQueries{tx})
	})
}

func (p *pgTables) snapshot(ctx context.Context, fn func(q queries) error) error {
	o := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return pgx.BeginTxFunc(ctx, p.pool, o, func(tx pgx.Tx) error { return fn(pgQueries{tx}) })
}

func (p *pgTables) serial() string { return "bigint generated always as identity primary key" }
func (p *pgTables) close()         { p.pool.Close() }

// liteQueries works on a file of SQLite or a transaction in it.
type liteQueries struct {
	q interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
}

func (l liteQueries) exec(ctx context.Context, text string, args ...any) (int64, error) {
	res, err := l.q.ExecContext(ctx, text, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (l liteQueries) query(ctx context.Context, text string, each func(scan func(...any) error) error, args ...any) error {
	rows, err := l.q.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// liteTables is a file of SQLite. A transaction takes the write lock when it begins: one that read
// first and wrote later could fail in between, because another writer was faster.
type liteTables struct {
	liteQueries
	db *sql.DB
}

// openLiteTables opens a file as any program would. A transaction takes the file's write lock at
// once.
func openLiteTables(path string) (*liteTables, error) {
	db, err := sql.Open("sqlite", path+"?_txlock=immediate&_pragma=busy_timeout(5000)&_pragma=journal_mode(wal)")
	if err != nil {
		return nil, err
	}
	return &liteTables{liteQueries{db}, db}, nil
}

func (l *liteTables) inTx(ctx context.Context, _ string, fn func(q queries) error) error {
	tx, err := l.db.BeginTx(ctx, nil) // has the file for itself
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := fn(liteQueries{tx}); err != nil {
		return err
	}
	return tx.Commit()
}

func (l *liteTables) snapshot(ctx context.Context, fn func(q queries) error) error {
	tx, err := l.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return fn(liteQueries{tx})
}

func (l *liteTables) serial() string { return "integer primary key" }
func (l *liteTables) close()         { _ = l.db.Close() }
