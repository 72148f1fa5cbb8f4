package sqlite_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/migrations"
)

var reading = &sqlite.Options{ReadOnly: true}

// TestReadOnlyStoreStandsBesideTheOwner: it sees what the process that has the file writes, and its
// nodes, and takes nothing from it.
func TestReadOnlyStoreStandsBesideTheOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	run := w.start(journal.Start{Owner: w.node})[0].Run
	s := open(t, w.path, reading)
	j := driver.New(s, nil)
	second := w.start(journal.Start{Key: "later"})[0].Run
	page, err := j.List(t.Context(), journal.ListFilter{})
	if err != nil || len(page.Runs) != 2 || page.Runs[0].ID != second || page.Runs[1].Task.Owner != w.node {
		t.Errorf("listed %+v, %v", page.Runs, err)
	}
	own, _ := w.s.Nodes(t.Context())
	seen, err := s.Nodes(t.Context())
	ignore := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".ExpiresAt" }, cmp.Ignore())
	if d := cmp.Diff(own, seen, ignore, cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })); d != "" || err != nil || len(seen) != 1 {
		t.Errorf("nodes: %s, %v", d, err)
	}
	w.s.Close()
	if seen, err := s.Nodes(t.Context()); err != nil || len(seen) != 0 {
		t.Errorf("nodes of a process that is gone: %v, %v", seen, err)
	}
	h, err := j.Load(t.Context(), []driver.LoadRequest{{Run: run}})
	if err != nil || h[0].Run.Task.Owner != w.node {
		t.Errorf("the reader has taken the run from node %d: %+v, %v", w.node, h, err)
	}
	if err := w.reopen(); err != nil {
		t.Errorf("the reader keeps the next process away: %v", err)
	}
}

func TestReadOnlyStoreRefusesToWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	run := w.start(journal.Start{})[0].Run
	s := open(t, w.path, reading)
	tx, err := w.db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	starts := []journal.Start{{ID: journal.NewRunID(), Workflow: "flow", Version: 1, Queue: "q", Priority: 3}}
	for verb, call := range map[string]func(context.Context) error{
		"start":       func(ctx context.Context) error { _, err := s.Start(ctx, nil, starts); return err },
		"start in tx": func(ctx context.Context) error { _, err := s.Start(ctx, sqlite.InTx(tx), starts); return err },
		"send": func(ctx context.Context) error {
			_, err := s.Send(ctx, nil, []journal.Message{{Run: run, Kind: journal.MessageSignal, Name: "s", Key: "k"}})
			return err
		},
		"admin": func(ctx context.Context) error {
			_, err := s.Admin(ctx, driver.AdminAction{Run: run, Kind: driver.AdminTerminate})
			return err
		},
		"join":  func(ctx context.Context) error { _, err := s.Join(ctx, journal.Node{Name: "n"}); return err },
		"begin": func(ctx context.Context) error { _, err := s.Begin(ctx); return err },
		"claim": func(ctx context.Context) error {
			_, err := s.Claim(ctx, driver.ClaimRequest{Node: w.node, Max: 1, Routes: []journal.Route{flowRoute}})
			return err
		},
		"commit": func(ctx context.Context) error { _, err := s.Commit(ctx, []driver.Commit{{Run: run}}); return err },
	} {
		if err := call(t.Context()); !errors.Is(err, sqlite.ErrReadOnly) {
			t.Errorf("%s: got %v, want ErrReadOnly", verb, err)
		}
	}
	if n := w.runs(); n != 1 {
		t.Errorf("there are %d runs, want 1", n)
	}
}

// TestReadOnlyStoreMakesNothing: neither a file nor a table.
func TestReadOnlyStoreMakesNothing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "none.db")
	if _, err := sqlite.Open(t.Context(), path, reading); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file was made: %v", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, reading)
	if applied, err := sqlite.Applied(t.Context(), s); err != nil || len(applied) != 0 {
		t.Errorf("applied to an empty file: %v, %v", applied, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("the empty file was changed: %v, %v", info, err)
	}
	if _, err := os.Stat(path + "-lock"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a lock file was made: %v", err)
	}
}

func TestApplied(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	files, err := migrations.SQLiteFiles()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*sqlite.Store{w.s, open(t, w.path, reading)} {
		applied, err := sqlite.Applied(t.Context(), s)
		if err != nil || len(applied) != len(files) {
			t.Errorf("applied %v, %v", applied, err)
		}
		if pending, err := migrations.Pending(files, applied); err != nil || len(pending) != 0 {
			t.Errorf("pending %v, %v", pending, err)
		}
	}
}
