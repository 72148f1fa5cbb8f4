package postgres_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
)

// agedStore ages rows, so that tests need not wait for a back-off or for the end of a lease.
type agedStore struct {
	*postgres.Store
	pool   *pgxpool.Pool // of the test's own
	schema string
}

func aged(t *testing.T, s *postgres.Store, dsn, schema string) agedStore {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return agedStore{s, pool, schema}
}

// Rush implements journaltest.Rusher.
func (s agedStore) Rush(ctx context.Context, run journal.RunID) error {
	_, err := s.pool.Exec(ctx, `UPDATE `+s.schema+`.tasks SET visible_at = now()
		WHERE run_id = $1 AND owner = 0 AND visible_at < 'infinity'`, [16]byte(run))
	return err
}

// Expire implements journaltest.Expirer.
func (s agedStore) Expire(ctx context.Context, node journal.NodeID) error {
	_, err := s.pool.Exec(ctx, `UPDATE `+s.schema+`.nodes SET expires_at = now() - interval '1 second' WHERE id = $1`, int32(node))
	return err
}
