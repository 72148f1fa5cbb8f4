package postgres

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Store keeps a journal in a Postgres database. Its methods may be called from many goroutines.
//
// It holds no state of runs: whatever it answers comes from the database, so any number of stores,
// in any number of processes, may work on one schema. What it does hold are connections, which
// stepTxs and shares keep from being taken by one kind of calls.
type Store struct {
	o          Options
	pool       *pgxpool.Pool
	sql        statements
	stepTxs    chan struct{} // a slot for every transaction of a step
	limits     stepLimits
	shares     shares
	admins     singles // administrative calls that wait for a lock
	hints      *hints
	exclude    exclusion
	limitLocks limitLocks
	routes     knownRoutes
	singles    singles
	silence    time.Duration // that ends a call: callTimeout

	sessions sessions
	roster   roster
	lifeline *lifeline
	marks    marks
	pieces   pieces
	traffic  traffic
	damage   damageLog
}

var (
	_ driver.Store     = (*Store)(nil)
	_ driver.TxStore   = (*Store)(nil)
	_ driver.TxLimiter = (*Store)(nil)

	_ driver.CommitWatcher = (*hints)(nil)
)

// Open connects to a database and brings its tables up to date. o may be nil. The caller closes the
// store.
func Open(ctx context.Context, dsn string, o *Options) (*Store, error) {
	opts := o.withDefaults()
	config, err := opts.config(dsn)
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	s := &Store{o: opts, sql: newStatements(opts.Schema), shares: newShares(&opts), limits: stepLimits{beginTimeout, stepTimeout}, silence: callTimeout}
	s.sessions.s, s.sessions.process, s.sessions.lasting = s, rand.Int32(), !opts.Pooler || opts.ListenDSN != ""
	s.sessions.pooling = newPooling()
	if s.sessions.beside, err = opts.beside(config.ConnConfig.Copy()); err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	config.BeforeConnect, config.PrepareConn = s.sessions.configure, s.sessions.usable
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false } // usable does
	if !opts.Pooler {
		config.AfterConnect = s.sessions.begin
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	s.stepTxs = make(chan struct{}, opts.StepTxMax)
	s.exclude, s.limitLocks = newExclusion(&s.sql, opts.Schema), limitLocks{&s.sql.limit, int32(lockClass(opts.Schema + "/limits")), int32(lockClass(opts.Schema + "/gates"))}
	s.hints, s.lifeline = newHints(s), newLifeline(s)
	err = s.sessions.check(ctx)
	if err == nil && !opts.SkipMigrations {
		err = migrateStore(ctx, s)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	return s, nil
}

// Close closes all connections. Calls that are under way end first.
func (s *Store) Close() {
	s.hints.close()
	s.pool.Close()
}

// migrateStore may take as long as it takes: an index on a large table has no use for the timeout
// of calls.
func migrateStore(ctx context.Context, s *Store) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return unsent(ctx, s, err)
	}
	defer conn.Release()
	return Migrate(ctx, conn.Conn(), s.o.Schema)
}

// Hints implements driver.Store.
func (s *Store) Hints() driver.Hints { return s.hints }

// call runs fn on a connection of the pool and translates its error. fn is repeated after a
// deadlock, so it must start afresh; what it sends must be one transaction, or nothing could be
// repeated. A call on whose connection nothing moves is given up, see callWatch. What the call did
// is unknown then, which is what ErrUnavailable says.
func (s *Store) call(ctx context.Context, fn func(ctx context.Context, c *pgx.Conn) error) error {
	outer := ctx
	ctx, watch := watchCall(ctx, s.silence)
	defer watch.stop()
	leave, err := s.shares.enter(ctx, s.roster.any)
	if err != nil {
		return unsent(outer, s, err)
	}
	defer leave()
	for try := 1; ; try++ {
		conn, err := s.pool.Acquire(ctx)
		if err != nil {
			return unsent(outer, s, err)
		}
		sent := time.Now()
		watch.on(conn.Conn())
		err = fn(ctx, conn.Conn())
		watch.off()
		lost := conn.Conn().IsClosed() || ctx.Err() != nil
		if err == nil {
			s.sessions.heard(conn.Conn(), sent)
		}
		if watch.ended.Load() {
			s.sessions.silent.since(sent, time.Now())
		}
		s.sessions.discard(conn.Conn(), sent, err)
		conn.Release()
		if err == nil {
			return nil
		}
		if try >= conflictTriesMax || !conflict(err) {
			return watch.tookLong(translate(outer, err, lost))
		}
	}
}

// salvageOf makes calls another way that have met damage.
func salvageOf(s *Store) salvage { return salvage{s.call, &s.sql, &s.o, &s.damage} }

// in runs fn inside tx, or like call if tx is nil. Inside a transaction of the caller's nothing is
// repeated, because an error has failed all of it.
func (s *Store) in(ctx context.Context, tx journal.Tx, fn func(ctx context.Context, q querier) error) error {
	if tx == nil {
		return s.call(ctx, func(ctx context.Context, c *pgx.Conn) error { return fn(ctx, c) })
	}
	inner, err := unwrap(tx)
	if err != nil {
		return err
	}
	if err = checkOpen(ctx, inner); err == nil {
		err = fn(ctx, inner)
	}
	return translateAtOnce(ctx, err, inner.Conn().IsClosed())
}

// checkOpen returns an error if a transaction has ended: its connection serves somebody else by
// now, or writes at once what is meant to be part of a transaction. Statements that are prepared
// ask it themselves, see exchange; for others it costs a round trip.
func checkOpen(ctx context.Context, tx pgx.Tx) error {
	if tx.Conn().Config().DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		return nil
	}
	_, err := tx.Exec(ctx, "")
	return err
}
