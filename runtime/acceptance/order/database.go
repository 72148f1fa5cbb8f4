package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgserver"
	"github.com/reprise-run/reprise/journal/sqlite"
)

// dsnEnv names the environment variable that says which Postgres to use.
const dsnEnv = "REPRISE_DSN"

// The files of SQLite, in the folder of the day.
const (
	journalFile = "reprise.db"
	outsideFile = "outside.db"
)

// database holds the journal, and beside it the shop's tables. The bank and the carrier have books
// of their own: on SQLite that is another file, because a step's transaction has the journal's file
// for itself.
type database struct {
	dir    string           // of SQLite's files; empty on Postgres
	dsn    string           // of Postgres
	server *pgserver.Server // nil if the Postgres is not ours

	journal       *driver.Journal // nil while a worker has the file
	shop, outside tables
	closeStore    func()
}

// openDatabase opens the SQLite files, or connects to the Postgres that is named, or to a private
// one if only that will do, and says which.
func openDatabase(ctx context.Context, c *config, out io.Writer) (*database, error) {
	d := &database{dsn: c.dsn}
	switch {
	case c.dsn != "":
		fmt.Fprintf(out, "Postgres: %s\n", redacted(d.dsn))
	case c.needsPostgres():
		began := time.Now()
		var err error
		if d.server, err = pgserver.Start(ctx, nil); err != nil {
			return nil, err
		}
		d.dsn = d.server.DSN("postgres")
		fmt.Fprintf(out, "Postgres: a private server in a temporary folder, %s, ready after %.1f s; -dsn or %s names another one\n",
			d.dsn, time.Since(began).Seconds(), dsnEnv)
	default:
		d.dir = c.dir
		if err := os.MkdirAll(d.dir, 0o755); err != nil {
			return nil, err
		}
		fmt.Fprintf(out, "SQLite: %s; the next start goes on with what is left in there\n", filepath.Join(d.dir, journalFile))
	}
	err := d.connect(ctx)
	if err == nil {
		err = setUp(ctx, d)
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// connect opens the journal before the tables of the shop: a store refuses a new file that has
// tables of somebody else.
func (d *database) connect(ctx context.Context) error {
	if err := d.connectJournal(ctx); err != nil {
		return err
	}
	if d.dir == "" {
		t, err := openPgTables(ctx, d.dsn)
		if err != nil {
			return err
		}
		d.shop, d.outside = t, t
		return nil
	}
	shop, err := openLiteTables(filepath.Join(d.dir, journalFile))
	if err != nil {
		return err
	}
	d.shop = shop
	outside, err := openLiteTables(filepath.Join(d.dir, outsideFile))
	if err != nil {
		return err
	}
	d.outside = outside
	return nil
}

func (d *database) connectJournal(ctx context.Context) error {
	if d.dir == "" {
		store, err := postgres.Open(ctx, d.dsn, nil)
		if err != nil {
			return err
		}
		d.journal, d.closeStore = driver.New(store, nil), store.Close
		return nil
	}
	store, err := sqlite.Open(ctx, filepath.Join(d.dir, journalFile), nil)
	if err != nil {
		return err
	}
	d.journal, d.closeStore = driver.New(store, nil), store.Close
	return nil
}

// leaveJournal gives the file free for a worker.
func (d *database) leaveJournal() {
	if d.journal != nil {
		d.closeStore()
		d.journal = nil
	}
}

// Close ends the connections, and the server if it is private.
func (d *database) Close() {
	if d.outside != nil && d.outside != d.shop {
		d.outside.close()
	}
	if d.shop != nil {
		d.shop.close()
	}
	d.leaveJournal()
	if d.server != nil {
		if err := d.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "order:", err)
		}
	}
}

// remove removes the SQLite files, and the folder if nothing else is in it.
func (d *database) remove() error {
	if d.dir == "" {
		return nil
	}
	var errs error
	for _, pattern := range []string{journalFile + "*", outsideFile + "*"} {
		files, err := filepath.Glob(filepath.Join(d.dir, pattern))
		errs = errors.Join(errs, err)
		for _, f := range files {
			errs = errors.Join(errs, os.Remove(f))
		}
	}
	_ = os.Remove(d.dir) // not if it is not empty
	return errs
}

const outage = 5 * time.Second

// crash kills the private server after a while and restarts it after the outage.
func (d *database) crash(ctx context.Context, after time.Duration, out io.Writer) error {
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(after):
	}
	if err := d.server.Kill(); err != nil {
		return err
	}
	fmt.Fprintln(out, "        Postgres was killed")
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(outage):
	}
	if err := d.server.Restart(ctx); err != nil {
		return err
	}
	fmt.Fprintf(out, "        Postgres is back after %s\n", outage)
	return nil
}

// redacted hides a password.
func redacted(dsn string) string {
	if u, err := url.Parse(dsn); err == nil && u.Scheme != "" {
		return u.Redacted()
	}
	return "(key=value form)"
}
