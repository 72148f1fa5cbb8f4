package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/sqlite"
)

// With -store sqlite there is no server and nothing to ask about it: of the counters only time and
// the driver's CPU are left.
const storeSQLite = "sqlite"

// sqliteScenarios are those that look at nothing but the engine's own answers.
var sqliteScenarios = []string{"start", "chain", "latency", "fanout", "flows", "children", "signal", "timer", "backlog", "replay"}

// checkStore refuses what one process on a file cannot do.
func checkStore(picked []scenario, o options) error {
	if o.store != storeSQLite {
		return nil
	}
	for i := range picked {
		if !slices.Contains(sqliteScenarios, picked[i].name) {
			return fmt.Errorf("%s needs Postgres; on SQLite there are %v", picked[i].name, sqliteScenarios)
		}
	}
	if o.nodes > 1 || o.dsn != "" || len(o.pgSettings) > 0 {
		return errors.New("-nodes above 1, -dsn and -pg are for Postgres")
	}
	return nil
}

// store is a journal's back end that can be closed.
type store interface {
	driver.Store
	driver.TxStore
	Close()
}

func newSQLiteRig(o options) *rig {
	return &rig{o: o, settings: map[string]string{"store": storeSQLite, "synchronous": "full"}}
}

// freshFile makes a folder for a SQLite file.
func (r *rig) freshFile() (*database, error) {
	dir, err := os.MkdirTemp("", "reprise-bench-")
	return &database{rig: r, dir: dir}, err
}

// open opens a store of one member.
func (d *database) open(ctx context.Context) (store, error) {
	if d.dir != "" {
		return sqlite.Open(ctx, filepath.Join(d.dir, "reprise.db"), nil)
	}
	o := d.options
	o.SkipMigrations = true
	return postgres.Open(ctx, d.dsn, &o)
}
