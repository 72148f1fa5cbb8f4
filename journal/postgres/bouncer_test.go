package postgres_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgserver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestStoreBehindAPooler: the guarantees hold behind a real PgBouncer whose sessions last for a
// transaction. In session mode nothing of a session is different, and without connections beside
// the pooler hints are missing: TestClusterBehindAPooler has all three.
func TestStoreBehindAPooler(t *testing.T) {
	first := pgtest.Empty(t)
	b := pgtest.Bouncer(t, first, pgserver.PoolerOptions{Mode: "transaction", Settings: map[string]string{"default_pool_size": "300"}})
	journaltest.Run(t, func(t *testing.T) driver.Store {
		dsn, schema := pgtest.NewSchema(t)
		return aged(t, open(t, b.DSN(dsn), &postgres.Options{Pooler: true, ListenDSN: dsn, Schema: schema}), dsn, schema)
	})
}

// TestPoolerIsNoticedAtOpen: whoever forgets the option is told its name, whether the pooler has
// one session or many, and whether it hands out the newest or the oldest of them. Nothing is left
// behind in the sessions that belong to everybody.
func TestPoolerIsNoticedAtOpen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mode, size, robin string
		pooler            bool
		want              string // of the error; empty for none
	}{
		{"transaction", "1", "0", false, "Options.Pooler"},
		{"transaction", "2", "1", false, "Options.Pooler"},
		{"transaction", "20", "0", false, "Options.Pooler"},
		{"transaction", "20", "1", false, "Options.Pooler"},
		{"statement", "20", "0", false, "pool_mode"},
		{"statement", "20", "0", true, "pool_mode"},
		{"session", "30", "0", false, ""},
		{"session", "30", "0", true, ""},
		{"transaction", "1", "0", true, ""},
	} {
		t.Run(fmt.Sprintf("%s/%s/%s/%v", c.mode, c.size, c.robin, c.pooler), func(t *testing.T) {
			t.Parallel()
			dsn := pgtest.New(t)
			b := pgtest.Bouncer(t, dsn, pgserver.PoolerOptions{Mode: c.mode, Settings: map[string]string{
				"default_pool_size": c.size, "server_round_robin": c.robin,
			}})
			others, err := pgx.ParseConfig(b.DSN(dsn))
			if err != nil {
				t.Fatal(err)
			}
			others.DefaultQueryExecMode = pgx.QueryExecModeExec
			if size, _ := strconv.Atoi(c.size); c.mode == "transaction" { // the pooler has all the sessions that it may have
				var list []*pgx.Conn
				for range size {
					conn, err := pgx.ConnectConfig(t.Context(), others)
					if err != nil {
						t.Fatal(err)
					}
					mustExec(t, conn, "BEGIN")
					list = append(list, conn)
				}
				for _, conn := range list {
					mustExec(t, conn, "COMMIT")
					_ = conn.Close(t.Context())
				}
			}
			for range 3 {
				s, err := postgres.Open(t.Context(), b.DSN(dsn), &postgres.Options{Pooler: c.pooler, SkipMigrations: true})
				if err == nil {
					s.Close()
				}
				if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || errors.Is(err, journal.ErrUnavailable) {
					t.Fatalf("opened: %v; want %q", err, c.want)
				}
			}
			if c.want == "" {
				return
			}
			for range 25 { // everybody's sessions are as they were
				conn, err := pgx.ConnectConfig(t.Context(), others)
				if err != nil {
					t.Fatal(err)
				}
				var setting string
				var locks int
				const look = `SELECT current_setting('enable_seqscan'), (SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory')`
				if err := conn.QueryRow(t.Context(), look).Scan(&setting, &locks); err != nil || setting != "on" || locks != 0 {
					t.Errorf("a session of the pooler has enable_seqscan %s and %d locks: %v", setting, locks, err)
				}
				_ = conn.Close(t.Context())
			}
		})
	}
}
