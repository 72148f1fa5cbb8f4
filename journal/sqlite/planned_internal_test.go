package sqlite

import (
	"path/filepath"
	"sync/atomic"
	"testing"

	sqlitedriver "modernc.org/sqlite"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/model"
)

// TestStatementsArePlannedOnce: SQLite asks an authorizer about all that a statement does each time
// it plans it. A statement whose plan may depend on an argument is planned at every execution,
// which costs more than the execution.
func TestStatementsArePlannedOnce(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "reprise.db"), &Options{Readers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var asked atomic.Int64
	reader := <-s.readers
	for _, c := range []*conn{s.writer.c, reader} {
		err := c.raw.(sqlitedriver.AuthorizerRegisterer).RegisterAuthorizer(
			func(_ sqlitedriver.AuthorizerActionCode, _, _, _, _ string) sqlitedriver.AuthorizerReturnCode {
				asked.Add(1)
				return sqlitedriver.AuthorizerOK
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	s.readers <- reader
	for _, again := range []bool{false, true} { // the same programs, so the same statements
		asked.Store(0)
		t.Run("Programs", func(t *testing.T) { // ends with them
			model.Run(t, func(*testing.T) driver.Store { return Aged{s} }, &model.Options{Sequences: 20})
		})
		if (asked.Load() > 0) == again {
			t.Errorf("again %v: SQLite asked for %d permissions", again, asked.Load())
		}
	}
}
