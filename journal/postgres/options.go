package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/reprise-run/reprise/migrations"
)

// Options of a Store. The zero value means the defaults.
type Options struct {
	// Schema holds the tables: lower-case letters, digits and underscores. Default "reprise".
	Schema string
	// PoolSize is the largest number of connections beside two: one listens, one renews leases.
	// Default pool_max_conns of the connection string, or 16; at least 4.
	PoolSize int
	// BeforeConnect is called before each connection is opened, with a configuration that belongs
	// to that connection: it sets a password that changes, or a way to dial. An error of it refuses
	// the connection, and the call that needs one is repeated. It may be called from several
	// goroutines.
	BeforeConnect func(ctx context.Context, config *pgx.ConnConfig) error
	// Pooler says that the server is behind a transaction pooler: nothing may outlive a
	// transaction.
	Pooler bool
	// SkipMigrations leaves the tables as they are; somebody else has called [Migrate].
	SkipMigrations bool
	// Logger gets a warning if the server is set to lose what it has acknowledged: fsync or
	// full_page_writes is off. Default slog.Default().
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
	c.MaxConns, c.BeforeConnect = int32(o.PoolSize), o.BeforeConnect
	if c.ConnConfig.ConnectTimeout == 0 {
		c.ConnConfig.ConnectTimeout = connectTimeout
	}
	params := c.ConnConfig.RuntimeParams
	if o.Pooler {
		// Poolers refuse start-up parameters, and each statement is planned for the tables as they
		// are.
		c.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
		c.ConnConfig.StatementCacheCapacity = 0
		c.ConnConfig.DescriptionCacheCapacity = 0
		return c, nil
	}
	if params["application_name"] == "" {
		params["application_name"] = "reprise"
	}
	params["default_transaction_isolation"] = "read committed" // statements rely on fresh snapshots
	for _, name := range []string{"enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"} {
		params[name] = "off" // see "Plans" in the package story
	}
	params["plan_cache_mode"] = "force_generic_plan" // else small batches are planned again each time
	return c, nil
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
