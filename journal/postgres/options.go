package postgres

import (
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/reprise-run/reprise/migrations"
)

// Options of a Store. The zero value means the defaults.
type Options struct {
	// Schema holds the tables: lower-case letters, digits and underscores. Default "reprise".
	Schema string
	// PoolSize is the largest number of connections beside two: one listens, one renews leases.
	// Default 16, at least 4.
	PoolSize int
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
	if c.PoolSize == 0 {
		c.PoolSize = poolSizeDefault
	}
	c.PoolSize = max(c.PoolSize, poolSizeMin)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// config reads the connection string and sets what every connection of the store needs. What the
// string sets for itself, such as a connect timeout, is kept, except for the settings that the
// statements rely on.
func (o *Options) config(dsn string) (*pgxpool.Config, error) {
	if err := migrations.CheckSchema(o.Schema); err != nil {
		return nil, err
	}
	c, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, fmt.Errorf("connection string: %w", err)
	}
	c.MaxConns = int32(o.PoolSize)
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
