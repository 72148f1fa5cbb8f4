package sqlite

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/reprise-run/reprise/journal"
)

// Whatever waits for one transaction of a caller's waits by one call, and not more of it than is
// worth announcing. It is told when the transaction has ended, and so is what comes later.
func TestAfterCommitWaitsOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal.db")
	s, err := Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	step, err := s.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tx := step.Value().(*sql.Tx)
	if _, err := tx.ExecContext(t.Context(), "CREATE TABLE note (n)"); err != nil {
		t.Fatal(err)
	}
	const many = 3 * endingsMax
	told := make(chan int, many)
	wait := func(n int) { hints{s}.AfterCommit(t.Context(), InTx(tx), func() { told <- n }) }
	for i := range many {
		wait(i)
	}
	s.writer.mu.Lock()
	jobs, waiting := len(s.writer.jobs), len(s.endings.waiting)
	s.writer.mu.Unlock()
	if jobs > 1 || waiting > endingsMax || len(told) > 0 {
		t.Errorf("%d calls of the store for %d that wait, %d told", jobs, waiting, len(told))
	}
	if err := step.Rollback(context.Background()); err != nil {
		t.Fatal(err)
	}
	if n := <-told; n != 0 {
		t.Errorf("told of %d first", n)
	}
	for {
		wait(many)
		if <-told == many {
			break
		}
	}
	s.Close()
	wait(many) // nobody is told any more, and nothing is left behind
	if err := s.write(t.Context(), 0, func(*batch) error { return nil }); err != journal.ErrStoreClosed {
		t.Errorf("a write after the end: %v", err)
	}
}
