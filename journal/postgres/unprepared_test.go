package postgres_test

import (
	"context"
	"net"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// sending counts what is sent on a connection: each time is one round trip.
type sending struct {
	net.Conn
	times *atomic.Int64
}

// Write implements net.Conn.
func (c sending) Write(p []byte) (int, error) {
	c.times.Add(1)
	return c.Conn.Write(p)
}

// TestUnprepared: without prepared statements the first question of each kind is one round trip, and
// its answer the same. A store is open after three: whether there is TLS, the log-in, the session.
func TestUnprepared(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	var times atomic.Int64
	counted := func(unprepared bool) *postgres.Store {
		times.Store(0)
		return open(t, dsn, &postgres.Options{SkipMigrations: true, Unprepared: unprepared, BeforeConnect: func(_ context.Context, c *pgx.ConnConfig) error {
			dial := c.DialFunc
			c.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := dial(ctx, network, address)
				return sending{conn, &times}, err
			}
			return nil
		}})
	}
	first := open(t, dsn, nil)
	j := driver.New(first, nil)
	node := join(t, j)
	run := start(t, j, journal.Start{Key: "k", Input: journal.Payload{Encoding: "x", Data: []byte{0, 200, '\\', '"'}}, Labels: map[string]string{"a": "b"}}).Run
	send(t, j, journal.Message{Run: run, Kind: journal.MessageSignal, Name: "sig", Payload: journal.Payload{Data: []byte("1")}})
	c := claimOne(t, j, node)
	commit(t, j, commitOf(j, c, driver.Next{Kind: driver.NextKeep}, began("a")))
	prepared, plain := counted(false), counted(true)
	if n := times.Load(); n > 3 {
		t.Errorf("the store is open after %d round trips, want 3", n)
	}
	for name, ask := range map[string]func(s *postgres.Store) (any, error){
		"applied": func(s *postgres.Store) (any, error) { return postgres.Applied(t.Context(), s) },
		"load": func(s *postgres.Store) (any, error) {
			return s.Load(t.Context(), []driver.LoadRequest{{Run: run}})
		},
		"list": func(s *postgres.Store) (any, error) {
			page, err := s.List(t.Context(), journal.ListFilter{Limit: 10})
			return page.Runs, err
		},
		"find": func(s *postgres.Store) (any, error) {
			page, err := s.List(t.Context(), journal.ListFilter{Where: `key = "k" and a = "b"`, Limit: 10})
			return page.Runs, err
		},
		"nodes":  func(s *postgres.Store) (any, error) { return s.Nodes(t.Context()) },
		"pauses": func(s *postgres.Store) (any, error) { return s.Pauses(t.Context()) },
		"audit":  func(s *postgres.Store) (any, error) { return s.Audit(t.Context(), journal.AuditFilter{Limit: 10}) },
	} {
		want, err := ask(prepared)
		if err != nil {
			t.Fatal(err)
		}
		before := times.Load()
		got, err := ask(plain)
		if n := times.Load() - before; err != nil || n != 1 || !reflect.DeepEqual(got, want) {
			t.Errorf("%s takes %d round trips: %+v, %v; want %+v", name, n, got, err, want)
		}
	}
}
