package pgtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestLinkCarriesAndCuts(t *testing.T) {
	link, conn := linked(t)
	exec(t, conn, "create table marks (n int)", "insert into marks values (1)")
	link.Cut()
	if _, err := conn.Exec(t.Context(), "select 1"); err == nil {
		t.Error("a cut connection works")
	}
	link.Refuse(true)
	if _, err := pgx.Connect(t.Context(), link.DSN()); err == nil {
		t.Error("a refusing link takes connections")
	}
	link.Refuse(false)
	if got := marks(t, connect(t, link.DSN())); got != 1 {
		t.Errorf("%d marks, want 1", got)
	}
}

func TestLinkLosesTheAnswerToAnExplicitCommit(t *testing.T) {
	link, conn := linked(t)
	exec(t, conn, "create table marks (n int)")
	lost := link.LoseAnswer(2, "commit")
	for n := range 3 {
		tx, err := conn.Begin(t.Context())
		if err == nil {
			_, err = tx.Exec(t.Context(), "insert into marks values ($1)", n)
		}
		if err == nil {
			err = tx.Commit(t.Context())
		}
		if (err == nil) != (n == 0) {
			t.Errorf("transaction %d: %v", n, err)
		}
	}
	<-lost
	if got := marks(t, connect(t, link.DSN())); got != 2 {
		t.Errorf("%d marks, want 2: the commit must have happened", got)
	}
}

func TestLinkLosesTheAnswerToABatch(t *testing.T) {
	link, conn := linked(t)
	exec(t, conn, "create table marks (n int)")
	lost := link.LoseAnswer(1, "INSERT INTO marks")
	var b pgx.Batch
	b.Queue("insert into marks values ($1)", 1)
	b.Queue("insert into marks values ($1)", 2)
	if err := conn.SendBatch(t.Context(), &b).Close(); err == nil {
		t.Error("the answer arrived")
	}
	<-lost
	if got := marks(t, connect(t, link.DSN())); got != 2 {
		t.Errorf("%d marks, want 2", got)
	}
}

func TestLinkCutsInsideABatch(t *testing.T) {
	link, conn := linked(t)
	exec(t, conn, "create table marks (n int)")
	died := make(chan struct{})
	link.CutWhen(func(p pgtest.Point) bool { return p.N == 1 && !p.Answered }, func() { close(died) })
	var b pgx.Batch
	b.Queue("insert into marks values ($1)", 1)
	b.Queue("insert into marks values ($1)", 2)
	if err := conn.SendBatch(t.Context(), &b).Close(); err == nil {
		t.Error("the answer arrived")
	}
	<-died
	if got := link.Points(); got != 1 {
		t.Errorf("%d points, want 1", got)
	}
	if got := marks(t, connect(t, link.DSN())); got != 0 {
		t.Errorf("%d marks, want 0: nothing was committed", got)
	}
}

func TestLinkStalls(t *testing.T) {
	link, conn := linked(t)
	link.Stall()
	answer := make(chan error, 1)
	go func() {
		_, err := conn.Exec(context.Background(), "select 1")
		answer <- err
	}()
	select {
	case err := <-answer:
		t.Errorf("an answer came through a stalled link: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	link.Resume()
	if err := <-answer; err != nil {
		t.Error(err)
	}
}

func linked(t *testing.T) (*pgtest.Link, *pgx.Conn) {
	t.Helper()
	link := pgtest.Proxy(t, pgtest.Empty(t))
	return link, connect(t, link.DSN())
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func exec(t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
}

func marks(t *testing.T, conn *pgx.Conn) (n int) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), "select count(*) from marks").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
