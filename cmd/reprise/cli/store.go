package cli

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/migrations"
)

// Store is an open store: a *postgres.Store, a *sqlite.Store or a *memory.Store.
type Store interface {
	journal.Store
	Close()
}

// storeEnv names the store if no flag does.
const storeEnv = "REPRISE_STORE"

// access is what a verb needs the store for.
type access int

const (
	toRead    access = iota // change nothing
	toWrite                 // change runs, and no table
	toServe                 // the same, also by a node
	toMigrate               // make the tables, and the file or schema if there is none
)

// openAny opens the store for a verb. It does not look at the tables.
func (a *app) openAny(ctx context.Context, why access) (Store, error) {
	if a.o.Open != nil {
		return a.o.Open(ctx, why == toRead)
	}
	name := a.storeName()
	if name == "" {
		return nil, failed(ExitUsage, "name one: --store postgres://user@host/database, --store sqlite:PATH, or "+storeEnv, "no store is named")
	}
	if isPostgres(name) {
		o := &postgres.Options{
			Schema: a.schema, PoolSize: why.poolSize(), SkipMigrations: why != toMigrate, Pooler: a.pooler, Logger: silent,
			Unprepared: why == toRead || why == toWrite, // they ask a few things and end
		}
		return postgres.Open(ctx, name, o)
	}
	path := strings.TrimPrefix(strings.TrimPrefix(name, "sqlite:"), "//")
	if a.schema != migrations.DefaultSchema {
		return nil, failed(ExitUsage, "leave --schema out", "a SQLite file has no schemas")
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && why != toMigrate {
		return nil, err // a misspelt path makes no file
	}
	return sqlite.Open(ctx, path, &sqlite.Options{ReadOnly: why == toRead})
}

// poolSize is enough for one verb, which asks one question at a time, or for a node that acts on
// several runs at once.
func (why access) poolSize() int {
	if why == toServe {
		return 16
	}
	return 4
}

// silent is for what the command says itself, in its own words.
var silent = slog.New(slog.DiscardHandler)

// storeName is what --store, the environment or the program says.
func (a *app) storeName() string {
	for _, name := range []string{a.store, os.Getenv(storeEnv), a.o.Store} {
		if name != "" {
			return name
		}
	}
	return ""
}

// isPostgres tells whether a name is a connection string and no path.
func isPostgres(name string) bool {
	for _, scheme := range []string{"postgres://", "postgresql://"} {
		if strings.HasPrefix(name, scheme) {
			return true
		}
	}
	return !strings.HasPrefix(name, "sqlite:") && (strings.Contains(name, "host=") || strings.Contains(name, "dbname=") || strings.Contains(name, "service="))
}

// openFor opens the store for a verb, and refuses one whose tables are not those of this release:
// its statements would fail one by one, or say something that is not so.
func (a *app) openFor(ctx context.Context, why access) (Store, error) {
	if (why == toWrite || why == toServe) && a.o.Open == nil && !isPostgres(a.storeName()) {
		// Whoever opens a file for writing migrates it, so the tables are looked at before.
		s, err := a.openFor(ctx, toRead)
		if err != nil {
			return nil, err
		}
		s.Close()
	}
	s, err := a.openAny(ctx, why)
	if err != nil {
		return nil, err
	}
	if err := a.checkTables(ctx, s); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// checkTables compares the migrations that a store has with those of this release.
func (a *app) checkTables(ctx context.Context, s Store) error {
	applied, pending, err := a.migrationsOf(ctx, s)
	switch {
	case err != nil:
		return err
	case len(pending) == 0:
		return nil
	case len(applied) == 0 && isSQLite(s):
		return failed(ExitFailed, "is it another file? "+a.o.Name+" migrate up makes them", "the file has no tables of Reprise")
	case len(applied) == 0:
		return failed(ExitFailed, "is it another --schema or database? "+a.o.Name+" migrate up makes them", "the schema %q has no tables of Reprise", a.schema)
	}
	return failed(ExitFailed, "update them with "+a.o.Name+" migrate up, or use the release of reprise that the programs have",
		"the tables are older than this release: %s and %d more migrations are not applied", pending[0].Name, len(pending)-1)
}

func isSQLite(s Store) bool { _, ok := s.(*sqlite.Store); return ok }

// migrationsOf returns what is applied and what is not. Stores that keep nothing need none.
func (a *app) migrationsOf(ctx context.Context, s Store) (applied []migrations.Applied, pending []migrations.File, err error) {
	var files []migrations.File
	switch s := s.(type) {
	case *postgres.Store:
		if files, err = migrations.Files(a.schema); err == nil {
			applied, err = postgres.Applied(ctx, s)
		}
	case *sqlite.Store:
		if files, err = migrations.SQLiteFiles(); err == nil {
			applied, err = sqlite.Applied(ctx, s)
		}
	}
	if err == nil {
		pending, err = migrations.Pending(files, applied)
	}
	return applied, pending, err
}
