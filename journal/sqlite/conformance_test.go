package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest"
	"github.com/reprise-run/reprise/journal/sqlite"
)

func TestStore(t *testing.T) {
	template := migrated(t)
	journaltest.All(t, func(t *testing.T) driver.Store {
		path := filepath.Join(t.TempDir(), "reprise.db")
		if err := os.WriteFile(path, template, 0o600); err != nil {
			t.Fatal(err)
		}
		return sqlite.Aged{Store: open(t, path, nil)}
	})
}

// migrated is a file with all tables. To make them takes longer than most checks.
func migrated(t *testing.T) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "reprise.db")
	s, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
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
