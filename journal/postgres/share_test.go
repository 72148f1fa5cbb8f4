package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// waitingForLocks counts the sessions of the test's database that wait for a lock.
const waitingForLocks = `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`

// lockedBy begins a transaction of somebody else that has locked something.
func lockedBy(t *testing.T, conn *pgx.Conn, sql string, args ...any) pgx.Tx {
	t.Helper()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), sql, args...); err != nil {
		t.Fatal(err)
	}
	return tx
}

// TestClientsLeaveConnectionsToTheEngine: reads of clients that hang, more than there are
// connections, hold up neither claims, commits and loads, nor transactions of steps, nor what
// clients write. Without a node they may have all connections.
func TestClientsLeaveConnectionsToTheEngine(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(ctx context.Context, s *postgres.Store) error{
		"listings": func(ctx context.Context, s *postgres.Store) error {
			_, err := s.List(ctx, journal.ListFilter{Limit: 1})
			return err
		},
		"loads": func(ctx context.Context, s *postgres.Store) error {
			_, err := s.Load(ctx, []driver.LoadRequest{{Run: journal.NewRunID()}})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := pgtest.New(t)
			s := open(t, dsn, &postgres.Options{PoolSize: 10, ClientMax: 3})
			j := driver.New(s, nil)
			conn, look := connect(t, dsn), connect(t, dsn)
			hang := func(n int) (end func()) {
				tx := lockedBy(t, conn, "LOCK TABLE reprise.events")
				ctx, cancel := context.WithCancel(t.Context())
				var calls sync.WaitGroup
				for range 20 {
					calls.Go(func() { _ = read(ctx, s) })
				}
				eventually(t, fmt.Sprintf("%d reads hang", n), func() bool { return query[int](t, look, waitingForLocks) == n })
				return func() {
					cancel()
					calls.Wait()
					if err := tx.Rollback(t.Context()); err != nil {
						t.Error(err)
					}
				}
			}
			hang(10)()
			node := join(t, j)
			end := hang(2)
			ctx, cancel := context.WithTimeout(t.Context(), callTimeoutOfStore/2)
			defer cancel()
			if _, err := j.Claim(ctx, driver.ClaimRequest{Node: node, Max: 1}); err != nil {
				t.Error("claim:", err)
			}
			for range 5 {
				if _, err := j.Start(ctx, nil, []journal.Start{{Workflow: "flow"}}); err != nil {
					t.Error("start:", err)
				}
			}
			for range 5 { // half of the pool
				tx, err := j.Begin(ctx)
				if err != nil {
					t.Fatal("begin:", err)
				}
				defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
			}
			if n := query[int](t, look, waitingForLocks); n != 2 {
				t.Errorf("%d reads hang by now", n)
			}
			end()
		})
	}
}

// TestActionsOnOneRunWaitTogether: however many administrative actions need the row of a run that
// somebody has locked, other calls of clients go on; they are carried out when the row is free.
func TestActionsOnOneRunWaitTogether(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]driver.AdminKind{"resume": driver.AdminResume, "terminate": driver.AdminTerminate, "set-labels": driver.AdminSetLabels} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := pgtest.New(t)
			j := driver.New(open(t, dsn, &postgres.Options{PoolSize: 8, ClientMax: 2}), nil)
			join(t, j)
			var runs []journal.RunID
			for range 5 {
				runs = append(runs, start(t, j, journal.Start{}).Run)
			}
			conn, look := connect(t, dsn), connect(t, dsn)
			tx := lockedBy(t, conn, "SELECT FROM reprise.tasks FOR UPDATE")
			ended := make(chan error, 20)
			for i := range cap(ended) {
				go func() {
					_, err := j.Admin(t.Context(), driver.AdminAction{Run: runs[i%len(runs)], Kind: kind, Reason: "over", Labels: map[string]*string{"a": new("1")}})
					ended <- err
				}()
			}
			eventually(t, "one waits, and others do", func() bool { return query[int](t, look, waitingForLocks) > 0 })
			ctx, cancel := context.WithTimeout(t.Context(), callTimeoutOfStore/2)
			defer cancel()
			for range 10 {
				if _, err := j.Start(ctx, nil, []journal.Start{{Workflow: "flow"}}); err != nil {
					t.Error("start:", err)
				}
			}
			if err := tx.Rollback(t.Context()); err != nil {
				t.Fatal(err)
			}
			done := 0
			for range cap(ended) {
				switch err := <-ended; {
				case err == nil:
					done++
				case kind != driver.AdminTerminate || !errors.Is(err, journal.ErrClosed):
					t.Error(err)
				}
			}
			if kind != driver.AdminTerminate && done != cap(ended) || kind == driver.AdminTerminate && done != len(runs) {
				t.Errorf("%d were carried out", done)
			}
		})
	}
}

// TestSharesMustFit: the engine must be left something, and an error says how to go on.
func TestSharesMustFit(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	for _, c := range []struct {
		o    postgres.Options
		want string // of the error; empty for none
	}{
		{postgres.Options{StepTxMax: 12}, "PoolSize must be at least 18"},
		{postgres.Options{ClientMax: 15, StepTxMax: 1}, "PoolSize must be at least 18"},
		{postgres.Options{StepTxMax: -1}, "must not be negative"},
		{postgres.Options{StepTxMax: 10}, ""},
		{postgres.Options{PoolSize: 4}, ""},
	} {
		s, err := postgres.Open(t.Context(), dsn, &c.o)
		if err == nil {
			s.Close()
		}
		if (err == nil) != (c.want == "") || err != nil && (!strings.Contains(err.Error(), c.want) || !errors.Is(err, journal.ErrInvalid)) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		}
	}
}

// TestCallersHearWhichShareIsUsedUp, when they give up.
func TestCallersHearWhichShareIsUsedUp(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn, &postgres.Options{PoolSize: 4})
	join(t, driver.New(s, nil))
	conn, look := connect(t, dsn), connect(t, dsn)
	tx := lockedBy(t, conn, "LOCK TABLE reprise.events")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	list := func(ctx context.Context) error { _, err := s.List(ctx, journal.ListFilter{Limit: 1}); return err }
	go func() { defer close(ended); _ = list(ctx) }()
	eventually(t, "a listing hangs", func() bool { return query[int](t, look, waitingForLocks) == 1 })
	short, end := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer end()
	if err := list(short); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "postgres.Options.ClientMax") {
		t.Errorf("%v", err)
	}
	cancel()
	<-ended
	_ = tx.Rollback(t.Context())
}

// TestTheEngineIsInNoShareOfClients: while starts that hang have all places of clients, no other
// call of a client begins, whichever it is, and everything that the engine does goes on. Nobody
// keeps a place.
func TestTheEngineIsInNoShareOfClients(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn, &postgres.Options{PoolSize: 8, ClientMax: 2})
	j := driver.New(s, nil)
	node := join(t, j)
	c := commitOf(j, owned(t, j, node), keep, began())
	free := start(t, j, journal.Start{}).Run
	conn, look := connect(t, dsn), connect(t, dsn)
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	held := []journal.Start{{Workflow: "flow", Key: "held"}}
	if _, err := j.Start(t.Context(), postgres.InTx(tx), held); err != nil {
		t.Fatal(err)
	}
	var starts sync.WaitGroup
	for range 2 {
		starts.Go(func() {
			if _, err := j.Start(t.Context(), nil, held); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "both hang", func() bool { return query[int](t, look, waitingForLocks) == 2 })

	for name, call := range map[string]func(ctx context.Context) error{
		"start": func(ctx context.Context) error {
			_, err := j.Start(ctx, nil, []journal.Start{{Workflow: "flow"}})
			return err
		},
		"send": func(ctx context.Context) error {
			_, err := j.Send(ctx, nil, []journal.Message{{Run: free, Kind: journal.MessageSignal, Name: "s"}})
			return err
		},
		"list":  func(ctx context.Context) error { _, err := j.List(ctx, journal.ListFilter{Limit: 1}); return err },
		"nodes": func(ctx context.Context) error { _, err := j.Nodes(ctx); return err },
		"admin": func(ctx context.Context) error {
			_, err := j.Admin(ctx, driver.AdminAction{Run: free, Kind: driver.AdminResume})
			return err
		},
	} {
		short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if err := call(short); err == nil || !strings.Contains(err.Error(), "postgres.Options.ClientMax") {
			t.Errorf("%s: %v; want that the places of clients are in use", name, err)
		}
		cancel()
	}
	ctx, cancel := context.WithTimeout(t.Context(), callTimeoutOfStore/2)
	defer cancel()
	if _, err := j.Claim(ctx, driver.ClaimRequest{Node: node, Max: 1}); err != nil {
		t.Error("claim:", err)
	}
	if out, err := j.Commit(ctx, []driver.Commit{c}); err != nil || out[0].Err != nil {
		t.Errorf("commit: %v, %+v", err, out)
	}
	if _, err := j.Load(driver.ForNode(ctx), []driver.LoadRequest{{Run: c.Run}}); err != nil {
		t.Error("load:", err)
	}

	if err := tx.Rollback(ctx); err != nil {
		t.Fatal(err)
	}
	starts.Wait()
	if _, err := j.List(ctx, journal.ListFilter{Limit: 1}); err != nil {
		t.Error("a listing when all places are free again:", err)
	}
}
