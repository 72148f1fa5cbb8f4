package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgserver"
)

// dsnEnv names the environment variable that says which Postgres to use.
const dsnEnv = "REPRISE_DSN"

// database is the Postgres that holds both the journal and the shop.
type database struct {
	dsn     string
	server  *pgserver.Server // nil if REPRISE_DSN named one
	store   *postgres.Store
	journal *journal.Journal
	pool    *pgxpool.Pool // the shop's own connections
}

// openDatabase connects to REPRISE_DSN, or to a private server that it starts, and says which.
func openDatabase(ctx context.Context, out io.Writer) (*database, error) {
	d := &database{dsn: os.Getenv(dsnEnv)}
	if d.dsn != "" {
		fmt.Fprintf(out, "Postgres: %s, from %s\n", redacted(d.dsn), dsnEnv)
	} else {
		began := time.Now()
		var err error
		if d.server, err = pgserver.Start(ctx, nil); err != nil {
			return nil, err
		}
		d.dsn = d.server.DSN("postgres")
		fmt.Fprintf(out, "Postgres: a private server in a temporary folder, %s, ready after %.1f s; %s names another one\n",
			d.dsn, time.Since(began).Seconds(), dsnEnv)
	}
	if err := d.connect(ctx); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *database) connect(ctx context.Context) (err error) {
	if d.store, err = postgres.Open(ctx, d.dsn, nil); err != nil {
		return err
	}
	d.journal = journal.New(d.store, nil)
	d.pool, err = pgxpool.New(ctx, d.dsn)
	return err
}

// Close ends the connections, and the server if it is private.
func (d *database) Close() {
	if d.pool != nil {
		d.pool.Close()
	}
	if d.store != nil {
		d.store.Close()
	}
	if d.server != nil {
		if err := d.server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, "order:", err)
		}
	}
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
