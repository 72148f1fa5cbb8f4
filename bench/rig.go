package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgserver"
	"github.com/reprise-run/reprise/runtime"
)

// rig is the server of all measurements of one call of the program: a private one, or that of -dsn.
type rig struct {
	o          options
	server     *pgserver.Server // nil if -dsn named one
	dsn        string
	admin      *pgx.Conn // to the maintenance database: what it does is counted nowhere else
	version    string
	settings   map[string]string
	statements bool // pg_stat_statements counts
	postmaster int  // its pid; 0 if the server does not run on this machine
}

const (
	statementsModule = "pg_stat_statements"
	connectionsMax   = "1500"           // of the private server: the nodes of fair/renewals have six each at most
	closeWait        = 30 * time.Second // for databases to be dropped
	launchWait       = time.Minute      // for nodes to join
)

func newRig(ctx context.Context, o options) (*rig, error) {
	if o.store == storeSQLite {
		return newSQLiteRig(o), nil
	}
	r := &rig{o: o, dsn: o.dsn}
	if o.dsn == "" {
		if err := r.startServer(ctx); err != nil {
			return nil, err
		}
	}
	if err := r.connect(ctx); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// startServer starts a private server, with pg_stat_statements if it is installed.
func (r *rig) startServer(ctx context.Context) error {
	settings := map[string]string{"shared_preload_libraries": statementsModule, "max_connections": connectionsMax}
	maps.Copy(settings, r.o.pgSettings)
	server, err := pgserver.Start(ctx, &pgserver.Options{NoFsync: r.o.noFsync, Settings: settings})
	if err != nil && strings.Contains(err.Error(), statementsModule) {
		settings["shared_preload_libraries"] = r.o.pgSettings["shared_preload_libraries"]
		server, err = pgserver.Start(ctx, &pgserver.Options{NoFsync: r.o.noFsync, Settings: settings})
	}
	if err != nil {
		return err
	}
	r.server, r.dsn = server, server.DSN("postgres")
	return nil
}

// shownSettings are those that decide how fast a server writes.
const shownSettings = `
SELECT name, current_setting(name) FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes',
	'wal_compression', 'shared_buffers', 'max_wal_size', 'checkpoint_timeout', 'wal_level', 'autovacuum', 'commit_delay')`

func (r *rig) connect(ctx context.Context) (err error) {
	if r.admin, err = pgx.Connect(ctx, r.dsn); err != nil {
		return err
	}
	var backend int
	if err := r.admin.QueryRow(ctx, `SELECT current_setting('server_version'), pg_backend_pid()`).Scan(&r.version, &backend); err != nil {
		return err
	}
	r.postmaster = postmasterOf(backend)
	rows, _ := r.admin.Query(ctx, shownSettings)
	r.settings = map[string]string{}
	var name, value string
	if _, err := pgx.ForEachRow(rows, []any{&name, &value}, func() error { r.settings[name] = value; return nil }); err != nil {
		return err
	}
	_, err = r.admin.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS pg_stat_statements`)
	if err == nil {
		err = r.admin.QueryRow(ctx, `SELECT count(*) >= 0 FROM pg_stat_statements`).Scan(&r.statements)
	}
	r.statements = err == nil // a server without it is measured without it
	return nil
}

func (r *rig) close() error {
	var err error
	if r.admin != nil {
		ctx, cancel := context.WithTimeout(context.Background(), closeWait)
		defer cancel()
		err = r.admin.Close(ctx)
	}
	if r.server != nil {
		err = errors.Join(err, r.server.Stop())
	}
	return err
}

// database is a fresh database of one measurement.
type database struct {
	rig       *rig
	name, dsn string
	dir       string // of a SQLite file; empty on Postgres
	options   postgres.Options
}

// fresh makes a database with the journal's tables. Drop it in the end.
func (r *rig) fresh(ctx context.Context) (*database, error) {
	if r.o.store == storeSQLite {
		return r.freshFile()
	}
	name := "reprise_bench_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	if _, err := r.admin.Exec(ctx, `CREATE DATABASE `+name); err != nil {
		return nil, fmt.Errorf("create a database for the measurement: %w", err)
	}
	d := &database{rig: r, name: name, dsn: withDatabase(r.dsn, name)}
	store, err := postgres.Open(ctx, d.dsn, nil)
	if err != nil {
		return nil, errors.Join(err, d.drop())
	}
	store.Close()
	// Without it earlier writes would be flushed during the measurement. A user without the
	// privilege measures all the same.
	_, _ = r.admin.Exec(ctx, `CHECKPOINT`)
	return d, nil
}

func (d *database) drop() error {
	if d.dir != "" {
		return os.RemoveAll(d.dir)
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	_, err := d.rig.admin.Exec(ctx, `DROP DATABASE IF EXISTS `+d.name+` WITH (FORCE)`)
	return err
}

func (d *database) connect(ctx context.Context) (*pgx.Conn, error) { return pgx.Connect(ctx, d.dsn) }

// exec runs a statement on a connection of its own.
func (d *database) exec(ctx context.Context, sql string) error {
	conn, err := d.connect(ctx)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}

// count reads one number on a connection of its own.
func (d *database) count(ctx context.Context, sql string) (n int, err error) {
	conn, err := d.connect(ctx)
	if err != nil {
		return 0, err
	}
	err = conn.QueryRow(ctx, sql).Scan(&n)
	return n, errors.Join(err, conn.Close(ctx))
}

// bytes is the size of the database on disk.
func (d *database) bytes(ctx context.Context) (n int64, err error) {
	err = d.rig.admin.QueryRow(ctx, `SELECT pg_database_size($1)`, d.name).Scan(&n)
	return n, err
}

func withDatabase(dsn, name string) string {
	if u, err := url.Parse(dsn); err == nil && u.Scheme != "" {
		u.Path = "/" + name
		return u.String()
	}
	return dsn + " dbname=" + name
}

// fleet is nodes in this process, each with a store of its own.
type fleet struct {
	members []*member
	stop    context.CancelFunc
	running sync.WaitGroup

	mu  sync.Mutex
	err error
}

// member is one store with the tap that counts its calls, and the node or the client that uses it.
type member struct {
	store   store
	tap     *tap
	journal *driver.Journal
	node    *runtime.Node // nil for a client
	client  *runtime.Client
}

// quiet lets only warnings of the engine through.
func quiet() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}

func (d *database) member(ctx context.Context) (*member, error) {
	store, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	t := &tap{store: store}
	return &member{store: store, tap: t, journal: driver.New(t, nil)}, nil
}

// client opens a client without a node.
func (d *database) client(ctx context.Context) (*member, error) {
	m, err := d.member(ctx)
	if err != nil {
		return nil, err
	}
	m.client = runtime.NewClient(m.journal.Journal, &runtime.ClientOptions{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	return m, nil
}

// nodes opens n stores and makes a node on each; launch runs them. The caller closes the fleet.
func (d *database) nodes(ctx context.Context, n int, o runtime.NodeOptions) (*fleet, error) {
	f := &fleet{stop: func() {}}
	if o.Logger == nil {
		o.Logger = quiet()
	}
	o.HistoryMax = math.MaxInt32 // flags say how long histories get
	if d.rig.o.lanes > 0 {
		o.Lanes = d.rig.o.lanes
	}
	if d.rig.o.live > 0 {
		o.LiveMax = d.rig.o.live
	}
	for range n {
		m, err := d.member(ctx)
		if err != nil {
			f.close()
			return nil, err
		}
		m.node = runtime.NewNode(m.journal.Journal, &o)
		m.client = m.node.Client()
		register(m.node)
		registerFair(m.node)
		f.members = append(f.members, m)
	}
	return f, nil
}

// launch runs the nodes, and returns when all of them are members.
func (f *fleet) launch(ctx context.Context) error {
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	f.stop = stop
	for _, m := range f.members {
		f.running.Go(func() {
			if err := m.node.Run(run); err != nil {
				f.mu.Lock()
				f.err = errors.Join(f.err, err)
				f.mu.Unlock()
			}
		})
	}
	began := time.Now()
	return poll(ctx, func() (bool, error) {
		for _, m := range f.members {
			if m.node.ID() == 0 && time.Since(began) > launchWait {
				return false, fmt.Errorf("%d nodes have not all joined in %s: this machine is too slow, or too busy, for so many", len(f.members), launchWait)
			} else if m.node.ID() == 0 {
				return false, nil
			}
		}
		return true, nil
	})
}

// close drains the nodes and closes their stores: backends report their counters when they end.
func (f *fleet) close() error {
	f.stop()
	f.running.Wait()
	for _, m := range f.members {
		m.store.Close()
	}
	f.members = nil
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// client returns the client of a node, in turns.
func (f *fleet) client(i int) *runtime.Client { return f.members[i%len(f.members)].client }

// batches sums up the batch sizes of all nodes.
func (f *fleet) batches() batches {
	var sum batches
	for _, m := range f.members {
		sum.add(m.tap.batches())
	}
	return sum
}
