package pgtest

import (
	"context"
	"testing"

	"github.com/reprise-run/reprise/journal/postgres/pgserver"
)

// Bouncer runs a real PgBouncer before the server of dsn until the test ends. It fails the test if
// PgBouncer is not installed.
func Bouncer(t testing.TB, dsn string, o pgserver.PoolerOptions) *pgserver.Pooler {
	t.Helper()
	p, err := pgserver.StartPooler(context.Background(), dsn, o)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Errorf("pgtest: %v", err)
		}
	})
	return p
}
