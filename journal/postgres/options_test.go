package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// Every connection of a store is opened as BeforeConnect says: those of the pool, the one that
// renews leases, and the one that listens. While it refuses, the store is unavailable.
func TestBeforeConnect(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	var refuse atomic.Bool
	s := open(t, dsn, &postgres.Options{BeforeConnect: func(_ context.Context, c *pgx.ConnConfig) error {
		if refuse.Load() {
			return errors.New("the vault is closed")
		}
		c.RuntimeParams["application_name"] = "by BeforeConnect"
		return nil
	}})
	j := driver.New(s, nil)
	join(t, j)
	watching, stop := context.WithCancel(t.Context())
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		_ = j.Watch(watching, func(driver.Hint) {})
	}()
	t.Cleanup(func() { stop(); <-watched })
	conn := connect(t, dsn)
	const sessions = `FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
	eventually(t, "the pool, the lifeline and the listener are connected, as the function says", func() bool {
		return query[int](t, conn, "SELECT count(*)::int "+sessions) >= 3 &&
			query[int](t, conn, "SELECT count(*)::int "+sessions+" AND application_name <> 'by BeforeConnect'") == 0
	})
	refuse.Store(true)
	query[int](t, conn, "SELECT count(pg_terminate_backend(pid, 10000))::int "+sessions)
	eventually(t, "a start is refused", func() bool {
		_, err := j.Start(t.Context(), nil, []journal.Start{{Workflow: "flow"}})
		return errors.Is(err, journal.ErrUnavailable) && strings.Contains(err.Error(), "the vault is closed")
	})
	refuse.Store(false)
	start(t, j, journal.Start{})
}

// The size of the pool is what the options say, else what the connection string says.
func TestPoolSize(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	with := dsn + map[bool]string{true: "&", false: "?"}[strings.Contains(dsn, "?")] + "pool_max_conns=%d"
	for _, c := range []struct{ option, text, want int }{{0, 6, 6}, {5, 6, 5}, {0, 2, 4}} {
		s := open(t, fmt.Sprintf(with, c.text), &postgres.Options{PoolSize: c.option})
		steps := c.want - 3 // the rest is kept for the engine
		for range steps {
			tx, err := s.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		if _, err := s.Begin(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("option %d, connection string %d: transaction %d began: %v", c.option, c.text, steps+1, err)
		}
		cancel()
	}
}
