package sqlite_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/journaltest"
	"github.com/reprise-run/reprise/journal/sqlite"
)

func TestStore(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journal.Store {
		path := filepath.Join(t.TempDir(), "reprise.db")
		return rushedStore{open(t, path, nil), path}
	})
}

// open returns a store that is closed when the test ends.
func open(t *testing.T, path string, o *sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// rushedStore ages rows, so that tests need not wait for a back-off.
type rushedStore struct {
	*sqlite.Store
	path string
}

// Rush implements journaltest.Rusher.
func (s rushedStore) Rush(ctx context.Context, run journal.RunID) error {
	db, err := sql.Open("sqlite", s.path+"?_busy_timeout=5000")
	if err != nil {
		return err
	}
	defer db.Close()
	_, err = db.ExecContext(ctx, `UPDATE reprise_tasks SET visible_at = ?
		WHERE run_id = ? AND owner = 0 AND visible_at IS NOT NULL`, time.Now().UnixMicro(), run[:])
	return err
}
