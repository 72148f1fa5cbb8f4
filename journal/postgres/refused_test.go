package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgserver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// refusals is a store whose role has no privileges but those on its database of the same name, and
// the session of an administrator who takes them away.
type refusals struct {
	t     *testing.T
	admin *pgx.Conn
	j     *driver.Journal
	s     *postgres.Store
	role  string
}

func newRefusals(t *testing.T, server *pgserver.Server, role string) *refusals {
	t.Helper()
	r := &refusals{t: t, admin: connect(t, server.DSN("postgres")), role: role}
	r.exec("CREATE ROLE app LOGIN")
	r.exec("CREATE DATABASE app OWNER app")
	dsn, err := url.Parse(server.DSN(role))
	if err != nil {
		t.Fatal(err)
	}
	dsn.User = url.User(role)
	r.s = open(t, dsn.String(), &postgres.Options{PoolSize: 4})
	r.j = driver.New(r.s, nil)
	start(t, r.j, journal.Start{})
	return r
}

// exec executes a statement in which app stands for the role and its database.
func (r *refusals) exec(sql string) {
	r.t.Helper()
	mustExec(r.t, r.admin, strings.ReplaceAll(sql, "app", r.role))
}

// end ends all sessions of the store.
func (r *refusals) end() {
	r.t.Helper()
	query[int](r.t, r.admin, "SELECT count(pg_terminate_backend(pid, 10000))::int FROM pg_stat_activity WHERE usename = $1", r.role)
}

// A connection that is refused says nothing about what the caller wants: a password is being
// changed, a database restored, a server full. The caller may ask again, and is served when it is
// over. A transaction of a step and a caller who gives up hear the same.
func TestJ4_ARefusedConnectionIsUnavailable(t *testing.T) {
	t.Parallel()
	server := privateServer(t)
	for name, c := range map[string]struct{ refuse, admit string }{
		"28000: the role may not log in":           {"ALTER ROLE app NOLOGIN", "ALTER ROLE app LOGIN"},
		"3D000: the database is away":              {"ALTER DATABASE app RENAME TO elsewhere", "ALTER DATABASE elsewhere RENAME TO app"},
		"55000: the database takes no connections": {"ALTER DATABASE app ALLOW_CONNECTIONS false", "ALTER DATABASE app ALLOW_CONNECTIONS true"},
		"53300: the database is full":              {"ALTER DATABASE app CONNECTION LIMIT 0", "ALTER DATABASE app CONNECTION LIMIT -1"},
		"42501: the role may not connect":          {"REVOKE CONNECT ON DATABASE app FROM app, public", "GRANT CONNECT ON DATABASE app TO app, public"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRefusals(t, server, "app"+strings.ToLower(name[:5]))
			r.exec("ALTER ROLE app NOLOGIN") // a database is renamed only while nobody is there
			r.end()
			if r.exec(c.refuse); c.admit != "ALTER ROLE app LOGIN" {
				r.exec("ALTER ROLE app LOGIN")
			}
			_, err := r.j.Start(t.Context(), nil, []journal.Start{{Workflow: "flow"}})
			if !errors.Is(err, journal.ErrUnavailable) {
				t.Errorf("a start: %v, want %v", err, journal.ErrUnavailable)
			}
			if _, err := r.s.Begin(t.Context()); !errors.Is(err, journal.ErrUnavailable) {
				t.Errorf("the transaction of a step: %v, want %v", err, journal.ErrUnavailable)
			}
			if _, err := r.j.Join(t.Context(), journal.Node{Name: "n", Lease: time.Minute}); !errors.Is(err, journal.ErrUnavailable) {
				t.Errorf("a node joins: %v, want %v", err, journal.ErrUnavailable)
			}
			r.exec(c.admit)
			start(t, r.j, journal.Start{})
		})
	}
}

// A session that can only read, because the address led to a standby when it was opened or because
// the database was set so, is not used again: the next call opens another one. So does a renewal,
// whose connection no other call can take.
func TestJ4_AReadOnlySessionIsNotUsedAgain(t *testing.T) {
	t.Parallel()
	r := newRefusals(t, privateServer(t), "app")
	m, err := r.j.Join(t.Context(), journal.Node{Name: "n", Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	r.exec("ALTER DATABASE app SET default_transaction_read_only = on")
	r.end()
	calls := map[string]func() error{
		"start": func() error {
			_, err := r.j.Start(t.Context(), nil, []journal.Start{{Workflow: "flow"}})
			return err
		},
		"renew": func() error { _, err := m.Renew(t.Context()); return err },
	}
	for name, call := range calls {
		eventually(t, name+" finds a session that only reads", func() bool {
			err := call()
			if err != nil && !errors.Is(err, journal.ErrUnavailable) {
				t.Fatalf("%s: %v, want %v", name, err, journal.ErrUnavailable)
			}
			return readOnly(err)
		})
	}
	eventually(t, "the pool is full of sessions that only read", func() bool {
		var reads sync.WaitGroup
		for range 20 {
			reads.Go(func() { // of the engine: clients have a share of the pool
				_, _ = r.j.Load(driver.ForNode(t.Context()), []driver.LoadRequest{{Run: journal.NewRunID()}})
			})
		}
		reads.Wait()
		return query[int](t, r.admin, "SELECT count(*)::int FROM pg_stat_activity WHERE usename = $1", r.role) > 4
	})
	r.exec("ALTER DATABASE app RESET default_transaction_read_only")
	for name, call := range calls {
		if first, second := call(), call(); second != nil {
			t.Errorf("%s goes on with sessions that only read: %v, then %v", name, first, second)
		}
	}
}

func readOnly(err error) bool {
	pe, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pe.Code == "25006"
}

// A node whose connections all fall silent, while new ones work, renews its lease in good time:
// each try is bounded, and the next one finds another connection (J9).
func TestJ9_ASilentConnectionCostsNoLease(t *testing.T) {
	t.Parallel()
	link := pgtest.Proxy(t, pgtest.New(t))
	const lease = 6 * time.Second
	m, err := driver.New(open(t, link.DSN(), nil), nil).Join(t.Context(), journal.Node{Name: "n", Lease: lease})
	if err != nil {
		t.Fatal(err)
	}
	renew(t, m)
	link.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), lease)
	defer cancel()
	for tries := 1; ; tries++ {
		if _, err = m.Renew(ctx); err == nil {
			break
		}
		if !errors.Is(err, journal.ErrUnavailable) {
			t.Fatalf("try %d: %v, want %v", tries, err, journal.ErrUnavailable)
		}
	}
}
