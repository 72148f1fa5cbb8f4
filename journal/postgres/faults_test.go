package postgres_test

import (
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/journaltest"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestStoreFaults loses a request or an answer at every call of a scenario.
func TestStoreFaults(t *testing.T) {
	t.Parallel()
	journaltest.Faults(t, func(t *testing.T) journal.Store { return open(t, pgtest.New(t), nil) })
}
