package main

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// lookout is the harness's own connection to the database under test. It has none to a SQLite file and to an engine's own
// server, which are left to the engine: there it knows the CPU time of this process and nothing else.
type lookout struct {
	conn *pgx.Conn
}

func newLookout(ctx context.Context, dsn string) (*lookout, error) {
	if (Setup{DSN: dsn}).store() != storePostgres {
		return &lookout{}, nil
	}
	conn, err := pgx.Connect(ctx, dsn)
	return &lookout{conn}, err
}

func (l *lookout) count(ctx context.Context, sql string) (n int, err error) {
	return n, l.conn.QueryRow(ctx, sql).Scan(&n)
}

// each gives every row of two columns to fn.
func (l *lookout) each(ctx context.Context, sql string, fn func(in, out []byte) error) error {
	rows, err := l.conn.Query(ctx, sql)
	if err != nil {
		return err
	}
	var in, out []byte
	_, err = pgx.ForEachRow(rows, []any{&in, &out}, func() error { return fn(in, out) })
	return err
}

// counters of the server and of this process at one moment.
type counters struct {
	commits, wal float64
	server       bool // those are known
	cpu          time.Duration
}

func (l *lookout) counters(ctx context.Context) (c counters, err error) {
	if c.server = l.conn != nil; c.server {
		err = l.conn.QueryRow(ctx, `SELECT xact_commit::float8, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8
			FROM pg_stat_database WHERE datname = current_database()`).Scan(&c.commits, &c.wal)
	}
	if err != nil {
		return c, fmt.Errorf("counters: %w", err)
	}
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return c, err
	}
	c.cpu = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	return c, nil
}

// since returns what a number of runs cost. Postgres publishes commits about once a second, so they are approximate.
func (c counters) since(before counters, runs int) Figures {
	n := float64(runs)
	f := Figures{
		"driver_cpu_per_run_micros":   float64((c.cpu - before.cpu).Microseconds()) / n,
		"driver_cpu_while_measured_s": (c.cpu - before.cpu).Seconds(),
	}
	if c.server {
		f["transactions_per_run"], f["wal_per_run_bytes"] = (c.commits-before.commits)/n, (c.wal-before.wal)/n
	}
	return f
}

func newPool(ctx context.Context, dsn string, size int32) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	config.MaxConns = size
	return pgxpool.NewWithConfig(ctx, config)
}

// poll waits until done.
func poll(ctx context.Context, done func() (bool, error)) error {
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
}

func chunks(ins []Input, size int) iter.Seq[[]Input] { return slices.Chunk(ins, size) }

// percentile returns milliseconds. It sorts its argument.
func percentile(took []time.Duration, p int) float64 {
	slices.Sort(took)
	at := min(len(took)*p/100, len(took)-1)
	return float64(took[at].Microseconds()) / 1000
}
