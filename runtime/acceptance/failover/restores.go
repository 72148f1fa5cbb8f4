package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// playRestore dumps the database, lets the work go on, and swaps the restored dump in while the
// nodes live. The database has gone back to the time of the dump, and is another one.
func playRestore(ctx context.Context, s *stage) (*facts, error) { return s.restore(ctx, false) }

// playRestoreRestarted is playRestore, with nodes that were restarted since the dump: their ids are
// ones that the restored database gives out again.
func playRestoreRestarted(ctx context.Context, s *stage) (*facts, error) { return s.restore(ctx, true) }

func (s *stage) restore(ctx context.Context, restarted bool) (*facts, error) {
	sv, dsn, err := s.begin(ctx)
	if err != nil {
		return nil, err
	}
	s.cut = time.Now()
	dump, err := s.dump(ctx, sv)
	if err != nil {
		return nil, err
	}
	s.note("dumped")
	if restarted {
		for slot := range len(s.nodes) {
			if err := s.restart(ctx, slot, dsn); err != nil {
				return nil, err
			}
		}
		s.note("the nodes are restarted")
	}
	if err := sv.restore(ctx, dump); err != nil {
		return nil, err
	}
	s.note("restored beside")
	if err := s.after(ctx, time.Until(s.cut.Add(s.lag))); err != nil {
		return nil, err
	}
	if err := sv.swap(ctx); err != nil {
		return nil, err
	}
	s.note("the restored copy is in place")
	return s.settle(ctx, sv)
}

// dump writes the database to a file in the server's own folder, where its user may write.
func (s *stage) dump(ctx context.Context, sv *server) (string, error) {
	data, err := ask[string](ctx, sv, "postgres", `show data_directory`)
	if err != nil {
		return "", err
	}
	file := filepath.Join(filepath.Dir(data), "dump")
	return file, sv.tool(ctx, filepath.Dir(data), "pg_dump", "-Fc", "-f", file, "-d", sv.DSN(database))
}

const restored, replaced = database + "_restored", database + "_replaced"

// restore makes a database of a dump, beside the present one.
func (sv *server) restore(ctx context.Context, dump string) error {
	if err := tell(ctx, sv, "postgres", "create database "+restored+" owner "+role); err != nil {
		return err
	}
	return sv.tool(ctx, filepath.Dir(dump), "pg_restore", "-d", sv.DSN(restored), dump)
}

// swap puts the restored database in the place of the present one.
func (sv *server) swap(ctx context.Context) error {
	return tell(ctx, sv, "postgres",
		fmt.Sprintf("alter database %s allow_connections false", database),
		fmt.Sprintf("select count(pg_terminate_backend(pid)) from pg_stat_activity where datname = '%s'", database),
		fmt.Sprintf("alter database %s rename to %s", database, replaced),
		fmt.Sprintf("alter database %s rename to %s", restored, database))
}
