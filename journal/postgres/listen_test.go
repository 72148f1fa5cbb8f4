package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgserver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestHintsBesideAPooler: with an address beside the pooler, processes hear each other's hints, and
// see each other's sessions.
func TestHintsBesideAPooler(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	o := &postgres.Options{Pooler: true, ListenDSN: dsn}
	b := pgtest.Bouncer(t, dsn, pgserver.PoolerOptions{}).DSN(dsn)
	x, xs := memberOf(t, b, o, time.Second)
	heard := make(chan driver.Hint, 1000)
	watching, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { _ = xs.Hints().Watch(watching, func(h driver.Hint) { heard <- h }) }()
	if h := <-heard; h.Kind != driver.HintScan {
		t.Errorf("the watch begins with %+v", h)
	}
	y, ys := memberOf(t, b, o, time.Second)
	renew(t, x)
	run := journal.NewRunID()
	ys.Hints().Notify([]driver.Hint{{Kind: driver.HintClosed, Run: run}})
	for h := range heard {
		if h.Kind == driver.HintClosed && h.Run == run {
			break
		}
	}
	conn := connect(t, dsn)
	eventually(t, "two sessions of each show that it lives", func() bool {
		return query[int](t, conn, `SELECT count(*)::int `+sessionsOf, int32(x.ID())) == 2 &&
			query[int](t, conn, `SELECT count(*)::int `+sessionsOf, int32(y.ID())) >= 1
	})
	ys.Close()
	eventually(t, "a store that is gone is suspected", func() bool { return suspects(t, x) != "[]" })
}

// TestListenDSNIsChecked when a store opens: it must lead to the same database of the same server,
// and be no pooler of transactions.
func TestListenDSNIsChecked(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	b := pgtest.Bouncer(t, dsn, pgserver.PoolerOptions{})
	session := pgtest.Bouncer(t, dsn, pgserver.PoolerOptions{Mode: "session"})
	for what, c := range map[string]struct{ listen, want string }{
		"another database": {pgtest.Empty(t), "another server or database"},
		"the pooler":       {b.DSN(dsn), "postgres.Options.ListenDSN leads to a pooler"},
		"a bad address":    {"postgres://%zz", "ListenDSN: "},
		"a session pooler": {session.DSN(dsn), ""},
		"the server":       {dsn, ""},
	} {
		s, err := postgres.Open(t.Context(), b.DSN(dsn), &postgres.Options{Pooler: true, ListenDSN: c.listen})
		if err == nil {
			s.Close()
		}
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || errors.Is(err, journal.ErrUnavailable)) {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
	pool, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	pool.Path = "/postgres" // which has the same number on every server
	o := &postgres.Options{ListenDSN: privateServer(t).DSN("postgres"), SkipMigrations: true}
	s, err := postgres.Open(t.Context(), pool.String(), o)
	if err == nil {
		s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "another server or database") || errors.Is(err, journal.ErrUnavailable) {
		t.Errorf("another server: %v", err)
	}
}

// TestAddressThatComesToLeadToAPooler: connections that are opened later are looked at as well, and
// refused until the address leads back.
func TestAddressThatComesToLeadToAPooler(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	pooled, err := pgx.ParseConfig(pgtest.Bouncer(t, dsn, pgserver.PoolerOptions{}).DSN(dsn))
	if err != nil {
		t.Fatal(err)
	}
	var switched atomic.Bool
	s := open(t, dsn, &postgres.Options{BeforeConnect: func(_ context.Context, c *pgx.ConnConfig) error {
		if switched.Load() {
			c.Host, c.Port = pooled.Host, pooled.Port
		}
		return nil
	}})
	j := driver.New(s, nil)
	start(t, j, journal.Start{})
	switched.Store(true)
	conn := connect(t, dsn)
	query[int](t, conn, `SELECT count(pg_terminate_backend(pid, 10000))::int FROM pg_stat_activity
		WHERE datname = current_database() AND application_name = 'reprise'`)
	eventually(t, "a start is refused, and told why", func() bool {
		_, err := j.Start(t.Context(), nil, []journal.Start{{Workflow: "flow"}})
		return errors.Is(err, journal.ErrUnavailable) && strings.Contains(err.Error(), "postgres.Options.Pooler")
	})
	switched.Store(false)
	start(t, j, journal.Start{})
}
