package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestAfterCommit: what waits for a transaction of a caller is told when others see what it wrote,
// once for each call, and never of one that was rolled back. Nobody asks when none is open.
func TestAfterCommit(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	s := open(t, dsn, nil)
	conn := connect(t, dsn)
	if _, err := conn.Exec(t.Context(), "CREATE TABLE note (n int)"); err != nil {
		t.Fatal(err)
	}
	told := make(chan int, 10)
	begin := func(c *pgx.Conn, n int) pgx.Tx {
		tx, err := c.Begin(t.Context())
		if err == nil {
			_, err = tx.Exec(t.Context(), "INSERT INTO note VALUES ($1)", n)
		}
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // two calls in one transaction
			s.Hints().(driver.CommitWatcher).AfterCommit(t.Context(), postgres.InTx(tx), func() { told <- n })
		}
		return tx
	}
	lost, kept := begin(connect(t, dsn), 1), begin(conn, 2)
	if n := s.OpenEndings(); n != 2 {
		t.Errorf("%d transactions are waited for, want 2", n)
	}
	if err := lost.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the lost transaction is forgotten", func() bool { return s.OpenEndings() == 1 })
	if len(told) > 0 {
		t.Fatalf("told of %d, which is open or lost", <-told)
	}
	if err := kept.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if n := <-told; n != 2 {
			t.Errorf("told of %d, want 2", n)
		}
	}
	eventually(t, "nobody asks any more", func() bool { return !s.EndingsAsked() })
	// A server that does not know the transaction has gone back: whoever waits looks for himself.
	s.AwaitEnding(1<<40, func() { told <- 3 })
	if n := <-told; n != 3 {
		t.Errorf("told of %d, want 3", n)
	}
	eventually(t, "nobody asks any more", func() bool { return !s.EndingsAsked() && s.OpenEndings() == 0 })
}
