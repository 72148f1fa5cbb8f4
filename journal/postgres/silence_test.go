package postgres_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// fillPool makes a store open n connections.
func fillPool(t *testing.T, s *postgres.Store, n int) {
	t.Helper()
	var list []journal.Tx
	for range n {
		tx, err := s.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, tx)
	}
	for _, tx := range list {
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSilentConnectionsAreFoundTogether: connections that have been quiet have fallen silent, as
// when a firewall has forgotten them; new ones work. The first question that gets no answer tells
// about all of them: to ask each would take longer than the call has.
func TestSilentConnectionsAreFoundTogether(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	link := pgtest.Proxy(t, dsn)
	s := open(t, link.DSN(), &postgres.Options{PoolSize: 60})
	fillPool(t, s, 30)
	conn := connect(t, dsn)
	eventually(t, "all have been quiet", func() bool {
		return query[int](t, conn, `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'reprise'
			AND state_change < clock_timestamp() - interval '1.1 s'`) >= 30
	})
	link.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), callTimeoutOfStore)
	defer cancel()
	for range 3 {
		if _, err := s.Nodes(ctx); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSuspectedConnectionsAreNotUsed: those that have not answered since a request that got no
// answer was sent; others are good.
func TestSuspectedConnectionsAreNotUsed(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn, nil)
	pid := func() (pid int) {
		t.Helper()
		tx, err := s.Begin(t.Context())
		if err == nil {
			err = tx.Value().(pgx.Tx).QueryRow(t.Context(), "SELECT pg_backend_pid()").Scan(&pid)
		}
		if err == nil {
			err = tx.Rollback(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		return pid
	}
	first := pid()
	s.Suspect(time.Now().Add(-time.Hour))
	if got := pid(); got != first {
		t.Error("a connection that has answered since is not used any more")
	}
	if _, err := s.Nodes(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Suspect(time.Now()) // after the last answer, and too short to say anything
	if got := pid(); got != first {
		t.Error("a request that was given up soon made a connection suspect")
	}
	s.SuspectNow()
	if got := pid(); got == first {
		t.Error("a connection that has not answered since is used")
	}
}

// stepThrough begins a step's transaction of a store, and writes in it.
func (w *txWorld) stepThrough(s *postgres.Store) journal.Tx {
	w.t.Helper()
	tx, err := s.Begin(w.t.Context())
	if err == nil {
		_, err = tx.Value().(pgx.Tx).Exec(w.t.Context(), "INSERT INTO effects VALUES ('silent')")
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return tx
}

// TestJ4_StepTxOnASilentConnection: a connection falls silent while a step works in its
// transaction, before the engine has said a word, or before COMMIT. The outcome is found in bounded
// time, and the server forgets the session, with all that the step has locked.
func TestJ4_StepTxOnASilentConnection(t *testing.T) {
	t.Parallel()
	for name, silence := range map[string]func(l *pgtest.Link){
		"in the body": func(l *pgtest.Link) { l.Freeze() },
		"in its write": func(l *pgtest.Link) {
			l.FreezeBefore(func(p pgtest.Point) bool { return p.Answered && p.Mentions("INSERT INTO reprise.events") }, nil)
		},
		"in its COMMIT": func(l *pgtest.Link) {
			l.FreezeBefore(func(p pgtest.Point) bool { return p.Answered && p.Mentions("commit") }, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := pgtest.New(t)
			w := newTxWorld(t, dsn)
			link := pgtest.Proxy(t, dsn)
			through := open(t, link.DSN(), nil)
			through.LimitSteps(2 * time.Second)
			if err := through.Adopt(t.Context(), w.node); err != nil {
				t.Fatal(err)
			}
			j := driver.New(through, nil)
			c := commitOf(j, owned(t, w.j, w.node), keep, began())
			c.Tx = w.stepThrough(through)
			silence(link)
			ctx, cancel := context.WithTimeout(t.Context(), callTimeoutOfStore)
			defer cancel()
			out, err := j.Commit(ctx, []driver.Commit{c})
			if err != nil || !errors.Is(out[0].Err, journal.ErrTxLost) || w.effects() != 0 {
				t.Errorf("%v, %+v, %d effects", err, out, w.effects())
			}
			eventually(t, "the server has ended the session", func() bool {
				return query[int](t, w.conn, `SELECT count(*)::int FROM pg_stat_activity
					WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()`) == 0
			})
			c.Tx = w.stepThrough(through)
			if out, err := j.Commit(ctx, []driver.Commit{c}); err != nil || out[0].Err != nil || w.effects() != 1 {
				t.Errorf("the next attempt: %v, %+v, %d effects", err, out, w.effects())
			}
		})
	}
}

// TestSilentSessionsAreEndedInTheEnd: the request to end a session that has fallen silent gets lost
// too. What the step has locked does not stay locked.
func TestSilentSessionsAreEndedInTheEnd(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	w := newTxWorld(t, dsn)
	link := pgtest.Proxy(t, dsn)
	tx := w.stepThrough(open(t, link.DSN(), nil))
	pid := tx.Value().(pgx.Tx).Conn().PgConn().PID()
	link.Freeze()
	lost := make(chan struct{})
	link.FreezeBefore(func(p pgtest.Point) bool { return p.Mentions("pg_terminate_backend") }, func() { close(lost) })
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-lost
	eventually(t, "the server has ended the session", func() bool {
		return query[int](t, w.conn, "SELECT count(*)::int FROM pg_stat_activity WHERE pid = $1", pid) == 0
	})
}

// TestBeginOnSilentConnections gives up in bounded time, and is as if it had never been asked.
func TestBeginOnSilentConnections(t *testing.T) {
	t.Parallel()
	link := pgtest.Proxy(t, pgtest.New(t))
	s := open(t, link.DSN(), nil)
	s.LimitSteps(100 * time.Millisecond)
	link.Stall()
	if _, err := s.Begin(t.Context()); !errors.Is(err, journal.ErrUnavailable) {
		t.Errorf("began: %v", err)
	}
	link.Resume()
	s.LimitSteps(20 * time.Second)
	var work sync.WaitGroup
	for range 8 { // as many as there are places
		work.Go(func() {
			tx, err := s.Begin(t.Context())
			if err == nil {
				err = tx.Rollback(t.Context())
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
}

// TestStepsGiveTheirSessionBack: whatever a step sets for its session, or for its transaction, is
// undone before the engine writes, and before anybody else has the session.
func TestStepsGiveTheirSessionBack(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	w := newTxWorld(t, dsn)
	role := "nobody_" + pgtest.Schema + query[string](t, w.conn, "SELECT current_database()")[8:20]
	mustExec(t, w.conn, "CREATE ROLE "+role)
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), dsn)
		if err == nil {
			_, err = conn.Exec(context.Background(), "DROP ROLE "+role)
			_ = conn.Close(context.Background())
		}
		if err != nil {
			t.Error(err)
		}
	})
	const settings = `SELECT string_agg(name || '=' || setting, ' ' ORDER BY name) FROM pg_settings WHERE name IN ('statement_timeout', 'search_path',
		'default_transaction_read_only', 'default_transaction_isolation', 'enable_seqscan', 'plan_cache_mode', 'jit', 'synchronous_commit', 'role', 'session_authorization')`
	look := func() (pid int, state string) {
		t.Helper()
		err := w.s.OnPool(t.Context(), func(ctx context.Context, c *pgx.Conn) error {
			return c.QueryRow(ctx, "SELECT pg_backend_pid(), ("+settings+") || ARRAY(SELECT pg_listening_channels())::text").Scan(&pid, &state)
		})
		if err != nil {
			t.Fatal(err)
		}
		return pid, state
	}
	first, before := look()
	for _, sql := range []string{
		"SET statement_timeout = '1min'", "SET default_transaction_read_only = on", "SET search_path = ''", "RESET ALL",
		"SET default_transaction_isolation = 'serializable'", "SET synchronous_commit = off", "SET LOCAL ROLE " + role, "SET ROLE " + role,
		"SET SESSION AUTHORIZATION " + role, "LISTEN news",
	} {
		c := commitOf(w.j, owned(t, w.j, w.node), keep, began())
		c.Tx = w.step()
		if _, err := c.Tx.Value().(pgx.Tx).Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		commit(t, w.j, c)
		if pid, after := look(); pid != first || after != before {
			t.Errorf("after %s, session %d is now %d:\n%s\nbefore:\n%s", sql, first, pid, after, before)
		}
	}
}
