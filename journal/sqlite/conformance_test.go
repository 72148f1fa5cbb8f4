package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest"
	"github.com/reprise-run/reprise/journal/sqlite"
)

func TestStore(t *testing.T) {
	journaltest.All(t, func(t *testing.T) driver.Store {
		return sqlite.Aged{Store: open(t, filepath.Join(t.TempDir(), "reprise.db"), nil)}
	})
}

func BenchmarkStore(b *testing.B) {
	journaltest.Bench(b, func(b *testing.B) driver.Store { return open(b, filepath.Join(b.TempDir(), "reprise.db"), nil) })
}

// open returns a store that is closed when the test ends.
func open(t testing.TB, path string, o *sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}
