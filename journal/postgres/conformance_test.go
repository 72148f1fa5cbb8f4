package postgres_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/journaltest"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

func TestStore(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journal.Store { return rushed(t, pgtest.New(t), nil) })
}

// TestStoreBehindAPooler runs the same on a server that forgets every session after each transaction.
func TestStoreBehindAPooler(t *testing.T) {
	journaltest.Run(t, func(t *testing.T) journal.Store {
		return rushed(t, pgtest.Pooler(t, pgtest.New(t)).DSN(), &postgres.Options{Pooler: true})
	})
}

// open returns a store that is closed when the test ends.
func open(t *testing.T, dsn string, o *postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), dsn, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// rushedStore ages rows, so that tests need not wait for a back-off.
type rushedStore struct {
	*postgres.Store
	dsn string
}

func rushed(t *testing.T, dsn string, o *postgres.Options) rushedStore {
	t.Helper()
	return rushedStore{open(t, dsn, o), dsn}
}

// Rush implements journaltest.Rusher.
func (s rushedStore) Rush(ctx context.Context, run journal.RunID) error {
	conn, err := pgx.Connect(ctx, s.dsn)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, `UPDATE reprise.tasks SET visible_at = now()
		WHERE run_id = $1 AND owner = 0 AND visible_at < 'infinity'`, [16]byte(run))
	return err
}
