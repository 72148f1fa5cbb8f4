package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/migrations"
)

// Options of a Store. The zero value means the defaults.
type Options struct {
	// Schema holds the tables: lower-case letters, digits and underscores. Default "reprise".
	Schema string
	// PoolSize is the largest number of connections beside two: one listens, one renews leases.
	// Default pool_max_conns of the connection string, or 16; at least 4.
	//
	// While a node runs on the store, connections are shared out, so that nobody waits for what
	// somebody else does: StepTxMax at most are transactions of steps, ClientMax at most are calls
	// of clients, of which reads and administration leave one to starts and messages, if there are
	// two. What is left, a quarter by default, no one but the engine can take: claims, commits,
	// loads. Without a node clients may have all connections.
	PoolSize int
	// StepTxMax is how many transactions of steps, see workflow.StepTx, are open at once. Others
	// wait, and a line in the log says so when that takes long. Default half of PoolSize.
	StepTxMax int
	// ClientMax is how many connections calls of clients have at once while a node runs on the
	// store: starts, messages, listings, queries, administration. Default a quarter of PoolSize.
	ClientMax int
	// BeforeConnect is called before each connection is opened, with a configuration that belongs
	// to that connection: it sets a password that changes, or a way to dial. An error of it refuses
	// the connection, and the call that needs one is repeated. It may be called from several
	// goroutines. Keepalives and the like are set on the connections that its DialFunc makes.
	BeforeConnect func(ctx context.Context, config *pgx.ConnConfig) error
	// Pooler says that the connection string leads to a transaction pooler: nothing may outlive a
	// transaction. Without it [Open] refuses such an address. A pooler in session mode needs no
	// option.
	Pooler bool
	// ListenDSN is an address of the same database that does not lead through the transaction
	// pooler: the two connections beside the pool are opened there. With it work between processes
	// and the takeover from dead ones are as quick as without a pooler; give it to nodes and to
	// clients. Default the connection string, or, with Pooler, none.
	ListenDSN string
	// Unprepared says that the store is for a process that asks a few things and ends: each
	// statement is sent with its text, in one round trip, and none is prepared, which would take
	// another one. A node, whose statements repeat, is slower with it.
	Unprepared bool
	// SkipMigrations leaves the tables as they are; somebody else has called [Migrate].
	SkipMigrations bool
	// Logger gets a warning if the server is set to lose what it has acknowledged: fsync or
	// full_page_writes is off; and if ListenDSN leads to another server. Default slog.Default().
	Logger *slog.Logger
}

func (o *Options) withDefaults() Options {
	var c Options
	if o != nil {
		c = *o
	}
	if c.Schema == "" {
		c.Schema = migrations.DefaultSchema
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// config reads the connection string, completes the options by it, and sets what every connection
// of the store needs. What the string sets for itself, such as a connect timeout, is kept, except
// for the settings that the statements rely on.
func (o *Options) config(dsn string) (*pgxpool.Config, error) {
	if err := migrations.CheckSchema(o.Schema); err != nil {
		return nil, err
	}
	c, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("connection string: %w", err)
	}
	if o.PoolSize == 0 {
		o.PoolSize = poolSizeOf(dsn)
	}
	o.PoolSize = max(o.PoolSize, poolSizeMin)
	if err := o.share(); err != nil {
		return nil, err
	}
	c.MaxConns = int32(o.PoolSize)
	if o.complete(c.ConnConfig); o.Pooler || o.Unprepared {
		// Behind a pooler each statement is planned for the tables as they are, as no setting
		// lasts.
		c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
		c.ConnConfig.StatementCacheCapacity = 0
		c.ConnConfig.DescriptionCacheCapacity = 0
	}
	return c, nil
}

// beside is the configuration of the connections beside the pool.
func (o *Options) beside(pool *pgx.ConnConfig) (*pgx.ConnConfig, error) {
	if o.ListenDSN == "" {
		return pool, nil
	}
	c, err := pgx.ParseConfig(o.ListenDSN)
	if err != nil {
		return nil, fmt.Errorf("ListenDSN: %w", err)
	}
	o.complete(c)
	return c, nil
}

// complete completes the configuration of a connection. The name is the one start-up parameter that
// poolers take.
func (o *Options) complete(c *pgx.ConnConfig) {
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = connectTimeout
	}
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = "reprise"
	}
}

// share completes the shares of the pool.
func (o *Options) share() error {
	if o.ClientMax == 0 {
		o.ClientMax = max(1, o.PoolSize/clientPart)
	}
	if o.StepTxMax == 0 {
		o.StepTxMax = max(1, min(o.PoolSize/stepTxPart, o.PoolSize-o.ClientMax-engineReserve))
	}
	if o.StepTxMax < 0 || o.ClientMax < 0 {
		return fmt.Errorf("StepTxMax %d and ClientMax %d must not be negative: %w", o.StepTxMax, o.ClientMax, journal.ErrInvalid)
	}
	if need := o.StepTxMax + o.ClientMax + engineReserve; need > o.PoolSize {
		return fmt.Errorf("StepTxMax %d and ClientMax %d leave fewer than %d of PoolSize %d connections to the engine; PoolSize must be at least %d: %w",
			o.StepTxMax, o.ClientMax, engineReserve, o.PoolSize, need, journal.ErrInvalid)
	}
	return nil
}

// poolSizeOf is the size of the pool that a connection string asks for, else the default. The
// string was parsed before; the pool's own parser does not tell a size that was asked for from its
// default.
func poolSizeOf(dsn string) int {
	if c, err := pgx.ParseConfig(dsn); err == nil {
		if n, err := strconv.Atoi(c.RuntimeParams["pool_max_conns"]); err == nil {
			return n
		}
	}
	return poolSizeDefault
}
