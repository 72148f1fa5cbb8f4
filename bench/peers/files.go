package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// site is where databases are made.
type site interface {
	// create makes a database, a copy of template unless that is empty.
	create(ctx context.Context, template string) (string, error)
	drop(ctx context.Context, name string) error
	// settle gives the planner statistics and gets dirty pages out of the way of what follows.
	settle(ctx context.Context, name string) error
	checkpoint(ctx context.Context) error
	address(name string) string // a DSN
	about() string
	stop(ctx context.Context)
}

// Stores that engines are measured on.
const (
	storePostgres = "postgres"
	storeSQLite   = "sqlite"
	storeRestate  = "restate" // its own; no choice for others
)

// sqliteEngines can keep their state in a SQLite file. There is one workload, because all others look into the database.
var (
	sqliteEngines   = []string{reprise{}.Name(), transact{}.Name(), goWorkflows{}.Name()}
	sqliteWorkloads = []Workload{Chain}
)

// checkSQLite refuses what is not measured on SQLite.
func checkSQLite(p *plan) error {
	for _, e := range p.engines {
		if !slices.Contains(sqliteEngines, e) {
			return fmt.Errorf("%s is not measured on SQLite, only %s", e, strings.Join(sqliteEngines, ", "))
		}
	}
	for _, w := range p.workloads {
		if !slices.Contains(sqliteWorkloads, w) {
			return fmt.Errorf("%s is not measured on SQLite, only %v", w, sqliteWorkloads)
		}
	}
	return nil
}

// files is a folder of SQLite databases, each in a folder of its own.
type files struct {
	folder string
	made   int
}

func newFiles() (*files, error) {
	folder, err := os.MkdirTemp("", "reprise-peers-")
	return &files{folder: folder}, err
}

func (f *files) about() string { return "SQLite, synchronous FULL, write-ahead log" }

// create copies a database with its log: whoever wrote it has ended.
func (f *files) create(_ context.Context, template string) (string, error) {
	f.made++
	name := fmt.Sprintf("peers_%d", f.made)
	folder := filepath.Join(f.folder, name)
	if template == "" {
		return name, os.Mkdir(folder, 0o700)
	}
	return name, os.CopyFS(folder, os.DirFS(filepath.Join(f.folder, template)))
}

func (f *files) drop(_ context.Context, name string) error {
	return os.RemoveAll(filepath.Join(f.folder, name))
}

func (f *files) settle(context.Context, string) error { return nil }

func (f *files) checkpoint(context.Context) error {
	syscall.Sync()
	return nil
}

const sqliteScheme = "sqlite:"

func (f *files) address(name string) string {
	return sqliteScheme + filepath.Join(f.folder, name, "journal.db")
}

func (f *files) stop(context.Context) { _ = os.RemoveAll(f.folder) }

// sqliteFile returns the file that a DSN names, if it is one of SQLite.
func sqliteFile(dsn string) (path string, ok bool) { return strings.CutPrefix(dsn, sqliteScheme) }

// store names the kind of database that a system is opened on.
func (s Setup) store() string {
	if _, ok := sqliteFile(s.DSN); ok {
		return storeSQLite
	}
	if strings.HasPrefix(s.DSN, restateScheme) {
		return storeRestate
	}
	return storePostgres
}
