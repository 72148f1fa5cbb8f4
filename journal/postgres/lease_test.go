package postgres_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgserver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// memberOf makes a node on a store of its own, as another process would.
func memberOf(t *testing.T, dsn string, o *postgres.Options, grace time.Duration) (driver.Membership, *postgres.Store) {
	t.Helper()
	s := open(t, dsn, o)
	m, err := driver.New(s, nil).Join(t.Context(), journal.Node{Name: "node", Routes: []journal.Route{flowRoute}, Lease: 10 * time.Minute, Grace: grace})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second) // the server may be gone
		defer cancel()
		_ = m.Leave(ctx)
	})
	return m, s
}

func renew(t *testing.T, m driver.Membership) driver.Renewal {
	t.Helper()
	r, err := m.Renew(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// suspects returns whom a node suspects, as text.
func suspects(t *testing.T, m driver.Membership) string {
	t.Helper()
	l, err := m.Look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(l.Suspects)
}

func reap(t *testing.T, m driver.Membership, list ...journal.NodeID) string {
	t.Helper()
	r, err := m.Reap(t.Context(), list)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(r.Nodes)
}

// sessionsOf is the sessions that show that a node lives.
const sessionsOf = `FROM pg_locks l JOIN reprise.nodes n ON l.objid = n.process::oid
	WHERE l.locktype = 'advisory' AND l.mode = 'ShareLock' AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND n.id = $1`

func endSessions(t *testing.T, conn *pgx.Conn, node journal.NodeID) int {
	t.Helper()
	return query[int](t, conn, `SELECT count(pg_terminate_backend(l.pid, 10000))::int `+sessionsOf, int32(node))
}

// A node offers its sessions as evidence only while it knows of another node, and is judged from
// before it does so.
func TestNodesAreJudgedWhileThereAreOthers(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	conn := connect(t, dsn)
	a, _ := memberOf(t, dsn, nil, time.Second)
	state := func(what string, m driver.Membership, want bool) {
		t.Helper()
		_, judged := m.Contact()
		offers := query[bool](t, conn, `SELECT process IS NOT NULL FROM reprise.nodes WHERE id = $1`, int32(m.ID()))
		if judged != want || offers != want {
			t.Errorf("%s: judged %v, offers %v; want %v", what, judged, offers, want)
		}
	}
	state("alone", a, false)
	renew(t, a)
	state("alone, renewed", a, false)
	b, _ := memberOf(t, dsn, nil, time.Second)
	state("the second", b, true)
	state("has not heard of the second yet", a, false)
	renew(t, a)
	state("has heard of it", a, true)
	select {
	case <-a.Judged():
	default:
		t.Error("its node was not told that it is judged")
	}
	if err := b.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	state("the second has left", a, true)
	renew(t, a)
	state("alone again", a, false)
	pooled := pgtest.Bouncer(t, dsn, pgserver.PoolerOptions{}).DSN(dsn)
	p, _ := memberOf(t, pooled, &postgres.Options{Pooler: true}, time.Second)
	renew(t, p)
	state("behind a pooler", p, false)
	p, _ = memberOf(t, pooled, &postgres.Options{Pooler: true, ListenDSN: dsn}, time.Second)
	renew(t, p)
	state("behind a pooler, and beside it", p, true)
}

// TestDeadProcessIsSuspectedBeforeItsLeaseRunsOut: its sessions are gone, and other nodes see that:
// those who ask at their next question, all others when they look.
func TestDeadProcessIsSuspectedBeforeItsLeaseRunsOut(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	m, s := memberOf(t, dsn, nil, time.Second)
	p := spawn(t, "own", dsn)
	start(t, driver.New(s, nil), journal.Start{})
	p.begin(nil)
	var node journal.NodeID
	p.said(&node)
	renew(t, m)
	if look, err := m.Ask(t.Context(), true); look || err != nil {
		t.Errorf("while it lives: %v, %v", look, err)
	}
	if got := suspects(t, m); got != "[]" {
		t.Errorf("while it lives: %s", got)
	}
	if got := reap(t, m, node); got != "[]" {
		t.Errorf("a living node was reaped: %s", got)
	}
	p.kill()
	eventually(t, "the other node notices", func() bool {
		look, err := m.Ask(t.Context(), true)
		return look && err == nil
	})
	l, err := m.Look(t.Context())
	if err != nil || fmt.Sprint(l.Suspects) != fmt.Sprint([]journal.NodeID{node}) || l.Wait != graceOfChild {
		t.Fatalf("%+v, %v", l, err)
	}
	seen := time.Now()
	eventually(t, "the dead process is reaped", func() bool { return reap(t, m, node) != "[]" })
	if took := time.Since(seen); took < graceOfChild-50*time.Millisecond { // it counts from before the answer came here
		t.Errorf("reaped after %s, its grace is %s", took, graceOfChild)
	}
	if task := claimOne(t, driver.New(s, nil), m.ID()); task.Task.Fence.Count() != 2 || task.Task.Strikes != 1 {
		t.Errorf("taken over: %+v", task.Task)
	}
}

// TestNodesWithASessionAreAlive: whichever session of a node is ended, and however long it cannot
// be opened again, the others show that the node lives.
func TestNodesWithASessionAreAlive(t *testing.T) {
	t.Parallel()
	for name, bar := range map[string]func(l *pgtest.Link){
		"refused":  func(l *pgtest.Link) { l.Refuse(true) },
		"slow":     func(l *pgtest.Link) { l.Hang(true) },
		"possible": func(*pgtest.Link) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := pgtest.New(t)
			conn := connect(t, dsn)
			link := pgtest.Proxy(t, dsn)
			b, s := memberOf(t, link.DSN(), nil, 0)
			ctx, cancel := context.WithCancel(t.Context())
			t.Cleanup(cancel)
			go func() { _ = s.Hints().Watch(ctx, func(driver.Hint) {}) }()
			a, _ := memberOf(t, dsn, nil, 0)
			renew(t, b)
			eventually(t, "it listens, renews, and has a pool", func() bool {
				return query[int](t, conn, `SELECT count(*)::int `+sessionsOf, int32(b.ID())) >= 3
			})
			bar(link)
			for n := query[int](t, conn, `SELECT count(*)::int `+sessionsOf, int32(b.ID())); n > 1; n-- {
				query[int](t, conn, `SELECT count(pg_terminate_backend(p, 10000))::int FROM (SELECT l.pid AS p `+sessionsOf+` ORDER BY l.pid LIMIT 1) x`, int32(b.ID()))
				for range 3 {
					if got := suspects(t, a) + reap(t, a, b.ID()); got != "[][]" {
						t.Errorf("with %d sessions left: %s", n-1, got)
					}
				}
			}
			renewed := func() bool { _, err := b.Renew(t.Context()); return err == nil }
			link.Hang(false)
			link.Refuse(false)
			eventually(t, "it renews", renewed)
			if got := suspects(t, a); got != "[]" {
				t.Errorf("afterwards: %s", got)
			}
		})
	}
}

// TestRenewalsBeginTheCountAnew: a node that has lost all sessions, and was back in between, is not
// declared dead for a second silence. It has executed steps since.
func TestRenewalsBeginTheCountAnew(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	conn := connect(t, dsn)
	link := pgtest.Proxy(t, dsn)
	const grace = 100 * time.Millisecond
	b, _ := memberOf(t, link.DSN(), nil, grace)
	a, _ := memberOf(t, dsn, nil, grace)
	renew(t, b)
	link.Refuse(true)
	endSessions(t, conn, b.ID())
	want := fmt.Sprint([]journal.NodeID{b.ID()})
	if got := suspects(t, a); got != want {
		t.Fatalf("without a session: %s, want %s", got, want)
	}
	seen := time.Now()
	eventually(t, "its grace has passed", func() bool { return time.Since(seen) > grace })
	link.Refuse(false)
	eventually(t, "it is back", func() bool { _, err := b.Renew(t.Context()); return err == nil })
	link.Refuse(true)
	endSessions(t, conn, b.ID())
	if got := reap(t, a, b.ID()); got != "[]" {
		t.Errorf("it has renewed since the first look and was reaped: %s", got)
	}
	if got := suspects(t, a); got != want {
		t.Errorf("without a session again: %s, want %s", got, want)
	}
	if got := reap(t, a, b.ID()); got != "[]" {
		t.Errorf("reaped %s, before its grace has passed a second time", got)
	}
	eventually(t, "it is reaped at last", func() bool { return reap(t, a, b.ID()) == want })
	link.Refuse(false)
}

// TestRestartKillsNobody: a restart of the server ends all sessions, which says nothing about those
// who had them.
func TestRestartKillsNobody(t *testing.T) {
	t.Parallel()
	server, err := pgserver.Start(t.Context(), &pgserver.Options{NoFsync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	link := pgtest.Proxy(t, server.DSN("postgres"))
	b, _ := memberOf(t, link.DSN(), nil, 0)
	a, _ := memberOf(t, server.DSN("postgres"), nil, 0)
	renew(t, b)
	renew(t, a)
	link.Refuse(true)
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the other node is back", func() bool { r, err := a.Renew(t.Context()); return err == nil && r.Compare })
	for range 5 {
		if got := suspects(t, a) + reap(t, a, b.ID()); got != "[][]" {
			t.Errorf("after a restart: %s", got)
		}
	}
	link.Refuse(false)
	eventually(t, "it is back too", func() bool { r, err := b.Renew(t.Context()); return err == nil && r.Compare })
	if got := suspects(t, a); got != "[]" {
		t.Errorf("after it came back: %s", got)
	}
}

// callTimeoutOfStore is when a store gives up a call that hangs, so that its connection is free.
const callTimeoutOfStore = 30 * time.Second

// TestRenewalsNeedNoPool: calls that hang, as many as there are connections, hold no renewal up.
func TestRenewalsNeedNoPool(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	m, s := memberOf(t, dsn, &postgres.Options{PoolSize: 4}, time.Second)
	lock := connect(t, dsn)
	tx, err := lock.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "LOCK TABLE reprise.runs, reprise.tasks"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() { _, _ = s.Load(driver.ForNode(ctx), []driver.LoadRequest{{Run: journal.NewRunID()}}) })
	}
	conn := connect(t, dsn)
	eventually(t, "the pool is used up", func() bool {
		return query[int](t, conn, `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) == 4
	})
	limited, end := context.WithTimeout(t.Context(), callTimeoutOfStore/2)
	defer end()
	for range 3 {
		if _, err := m.Renew(limited); err != nil {
			t.Error(err)
		}
		if _, err := m.Ask(limited, true); err != nil {
			t.Error(err)
		}
	}
	cancel()
	_ = tx.Rollback(t.Context())
	calls.Wait()
}

// TestRenewalsGoOnWithoutTheLifeline: its session is ended, and cannot be opened again.
func TestRenewalsGoOnWithoutTheLifeline(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	link := pgtest.Proxy(t, dsn)
	m, _ := memberOf(t, link.DSN(), nil, time.Second)
	conn := connect(t, dsn)
	const lifeline = `FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%member AS%renewals + 1%' AND pid <> pg_backend_pid()`
	eventually(t, "it renews on the lifeline", func() bool {
		renew(t, m)
		return query[int](t, conn, `SELECT count(*)::int `+lifeline) > 0
	})
	link.Refuse(true)
	query[int](t, conn, `SELECT count(pg_terminate_backend(pid, 10000))::int `+lifeline)
	// The pool may have no connection that is open, and open one in vain; nodes ask again then.
	for range 3 {
		eventually(t, "the pool renews", func() bool { _, err := m.Renew(t.Context()); return err == nil })
	}
	last, _ := m.Contact()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := m.Ask(ctx, true); err != nil {
		t.Error(err)
	}
	eventually(t, "the pool's answer counts", func() bool { now, _ := m.Contact(); return now.After(last) })
	link.Refuse(false)
}

// TestUnsafeServersAreReported, once in a process.
func TestUnsafeServersAreReported(t *testing.T) {
	t.Parallel()
	server, err := pgserver.Start(t.Context(), &pgserver.Options{NoFsync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	var log strings.Builder
	o := &postgres.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
	open(t, server.DSN("postgres"), o)
	open(t, server.DSN("postgres"), o)
	if n := strings.Count(log.String(), "fsync=off full_page_writes=off"); n != 1 {
		t.Errorf("%d warnings: %s", n, &log)
	}
}
