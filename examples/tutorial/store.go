package main

import (
	"context"
	"database/sql"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"; package sqlite brings the driver "sqlite"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/sqlite"
)

// store is a database that holds the journal and, in a table beside it, the ledger.
type store struct {
	journal *journal.Journal
	close   func()
	db      *sql.DB // the program's own connections
}

// open opens the Postgres database of a URL, or else a SQLite file, which it makes if need be.
func open(ctx context.Context, name string) (s store, err error) {
	driver, address := "sqlite", name+"?_pragma=busy_timeout(10000)" // it waits while the journal writes
	if strings.HasPrefix(name, "postgres") {
		driver, address = "pgx", name
	}
	if s.db, err = sql.Open(driver, address); err != nil {
		return s, err
	}
	// Open makes the tables of the journal or brings them up to date. It comes first: it refuses
	// a SQLite file that somebody else has begun.
	if driver == "pgx" {
		err = s.openPostgres(ctx, name)
	} else {
		err = s.openSQLite(ctx, name)
	}
	if err != nil {
		s.db.Close()
		return s, err
	}
	if _, err = s.db.ExecContext(ctx, tableSQL); err != nil {
		s.Close()
	}
	return s, err
}

func (s *store) openPostgres(ctx context.Context, dsn string) error {
	pg, err := postgres.Open(ctx, dsn, nil)
	if err != nil {
		return err
	}
	s.journal, s.close = journal.New(pg, nil), pg.Close
	return nil
}

func (s *store) openSQLite(ctx context.Context, file string) error {
	lite, err := sqlite.Open(ctx, file, nil)
	if err != nil {
		return err
	}
	s.journal, s.close = journal.New(lite, nil), lite.Close
	return nil
}

func (s *store) Close() {
	s.db.Close()
	s.close()
}
