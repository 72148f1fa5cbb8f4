package main

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/postgres/pgserver"
)

// databases are one of each sort: a SQLite file, and a private Postgres that ends with the test.
func databases(t *testing.T) map[string]string {
	t.Helper()
	server, err := pgserver.Start(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return map[string]string{"sqlite": filepath.Join(t.TempDir(), "trips.db"), "postgres": server.DSN("postgres")}
}

// begin begins a transaction as a step has it: a *sql.Tx on SQLite, a pgx.Tx on Postgres.
func begin(t *testing.T, s store, name, db string) (tx any, commit func() error) {
	t.Helper()
	if name == "sqlite" {
		tx, err := s.db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		return tx, tx.Commit
	}
	conn, err := pgx.Connect(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	pgTx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return pgTx, func() error { return pgTx.Commit(t.Context()) }
}

// TestLedger tests the SQL of the steps without the engine, on both databases.
func TestLedger(t *testing.T) {
	for name, db := range databases(t) {
		t.Run(name, func(t *testing.T) {
			s, err := open(t.Context(), db)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			l := ledger{s.db}
			first, second := Statement{"ann", "2026-01-01"}, Statement{"ann", "2026-01-02"}
			do := func(do func(tx any) error) {
				t.Helper()
				tx, commit := begin(t, s, name, db)
				if err := do(tx); err != nil {
					t.Fatal(err)
				}
				if err := commit(); err != nil {
					t.Fatal(err)
				}
			}
			do(func(tx any) error { return l.enter(t.Context(), tx, Trip{ID: "rome", Customer: "ann", Cents: 7}) })
			do(func(tx any) error { return l.enter(t.Context(), tx, Trip{ID: "oslo", Customer: "bob", Cents: 5}) })
			if names, err := l.customers(t.Context()); err != nil || !slices.Equal(names, []string{"ann", "bob"}) {
				t.Errorf("customers %q, %v", names, err)
			}
			do(func(tx any) error { return l.mark(t.Context(), tx, first) })
			do(func(tx any) error { return l.mark(t.Context(), tx, second) })
			for statement, want := range map[Statement]int64{first: 7, second: 0} {
				if cents, err := l.total(t.Context(), statement); err != nil || cents != want {
					t.Errorf("%v is about %d, %v; want %d", statement, cents, err, want)
				}
			}
			if names, err := l.customers(t.Context()); err != nil || !slices.Equal(names, []string{"bob"}) {
				t.Errorf("customers %q, %v", names, err)
			}
		})
	}
}
