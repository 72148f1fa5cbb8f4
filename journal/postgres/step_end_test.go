package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

const sleepers = "FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"

// within returns what comes from a channel soon, or fails.
func within[T any](t *testing.T, what string, from <-chan T) (got T) {
	t.Helper()
	select {
	case got = <-from:
	case <-time.After(20 * time.Second):
		t.Fatalf("it did not end: %s", what)
	}
	return got
}

// outcome commits a turn and returns what comes of it.
func outcome(t *testing.T, j *driver.Journal, c driver.Commit) error {
	out, err := j.Commit(t.Context(), []driver.Commit{c})
	if err != nil {
		return err
	}
	return out[0].Err
}

// A store that is closed while the outcome of a step's COMMIT is unknown leaves it unknown, and ends:
// neither waits for the other.
func TestCloseWhileAnOutcomeIsUnknown(t *testing.T) {
	t.Parallel()
	p := newProxied(t)
	second := p.slowCommit()
	committed, closed := make(chan error, 1), make(chan struct{})
	go func() {
		out, err := p.j.Commit(t.Context(), []driver.Commit{second})
		if err == nil {
			err = fmt.Errorf("outcome %w", out[0].Err)
		}
		committed <- err
	}()
	eventually(t, "the server is in its COMMIT", func() bool { return query[int](t, p.conn, "SELECT count(*)::int "+sleepers) == 1 })
	go func() { p.s.Close(); close(closed) }()
	eventually(t, "nobody gets a connection any more", func() bool {
		_, err := p.s.Nodes(t.Context())
		return errors.Is(err, journal.ErrStoreClosed)
	})
	p.link.Cut()
	if err := within(t, "the commit", committed); !errors.Is(err, journal.ErrStoreClosed) || errors.Is(err, journal.ErrTxLost) {
		t.Errorf("commit: %v", err)
	}
	within(t, "the store's end", closed)
	mustExec(t, p.conn, "SELECT pg_terminate_backend(pid) "+sleepers)
}

// A step that waits for a place does not wait for that of a closed store.
func TestCloseEndsTheWaitForAPlace(t *testing.T) {
	t.Parallel()
	s := open(t, pgtest.New(t), &postgres.Options{PoolSize: 4})
	held, err := s.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Rollback(context.Background()) }) // else the store could not be closed
	began, closed := make(chan error, 1), make(chan struct{})
	go func() {
		_, err := s.Begin(t.Context())
		began <- err
	}()
	go func() { s.Close(); close(closed) }()
	err = within(t, "the wait for a place", began)
	if rolled := held.Rollback(t.Context()); !errors.Is(err, journal.ErrStoreClosed) || rolled != nil {
		t.Errorf("began: %v, rolled back: %v", err, rolled)
	}
	within(t, "the store's end", closed)
}

// A body that takes the session's prepared statements away loses its own transaction at most: the
// next attempt, and everybody else, has another session.
func TestStepTxWithoutPreparedStatements(t *testing.T) {
	t.Parallel()
	w := newTxWorld(t, pgtest.New(t))
	try := func(c driver.Commit, sql string) error {
		c.Tx = w.step()
		if _, err := c.Tx.Value().(pgx.Tx).Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		return outcome(t, w.j, c)
	}
	next := func() driver.Commit { return commitOf(w.j, owned(t, w.j, w.node), keep, began()) }
	if err := try(next(), "SELECT"); err != nil { // from here on the session has them
		t.Fatal(err)
	}
	c := next()
	if err := try(c, "DEALLOCATE ALL"); !errors.Is(err, journal.ErrTxLost) {
		t.Errorf("got %v", err)
	}
	if err := try(c, "SELECT"); err != nil {
		t.Errorf("the next attempt: %v", err)
	}
	c = next()
	if err := w.s.OnPool(t.Context(), func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, "DEALLOCATE ALL")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a call is repeated on another session", func() bool {
		err := outcome(t, w.j, c)
		if err != nil && !errors.Is(err, journal.ErrUnavailable) {
			t.Fatal(err)
		}
		return err == nil
	})
}

// A turn that sends to a run which comes into being amid its commit, and to which somebody else has
// sent first, loses the transaction of its step at most. It is no fault of the turn's.
func TestStepTxThatSendsToARunThatAppears(t *testing.T) {
	t.Parallel()
	w := newOutboxWorld(t)
	p := &playwright{t: t, dsn: w.conn.Config().ConnString(), look: w.conn}
	holder, starter, rival := p.begin(), p.begin(), p.begin()
	started, err := w.j.Start(t.Context(), postgres.InTx(starter), []journal.Start{{Workflow: "flow"}})
	if err != nil {
		t.Fatal(err)
	}
	appears := started[0].Run
	if _, err := holder.Exec(t.Context(), "SELECT FROM reprise.runs WHERE id = $1 FOR UPDATE", w.first.Run.String()); err != nil {
		t.Fatal(err)
	}
	turn := func(tx journal.Tx) error {
		c := after(w.first, keep, stepDone(1, "a"))
		c.Tx, c.Messages = tx, []journal.Message{{Run: appears, Kind: journal.MessageSignal, Name: "sig"}}
		c.Published = []journal.Published{{Name: "p"}} // is written before the messages, and waits for the holder
		return outcome(t, w.j, c)
	}
	committed := make(chan error, 1)
	go func() { committed <- turn(w.tx) }()
	p.waits("the turn waits for the holder", holder)
	p.end(starter)
	if _, err := w.j.Send(t.Context(), postgres.InTx(rival), []journal.Message{{Run: appears, Kind: journal.MessageSignal, Name: "sig"}}); err != nil {
		t.Fatal(err)
	}
	p.end(holder)
	p.waits("the turn finds that the first one has its number", rival)
	p.end(rival)
	if err := within(t, "the commit", committed); !errors.Is(err, journal.ErrTxLost) {
		t.Errorf("got %v", err)
	}
	w.begin()
	if err := turn(w.tx); err != nil || w.messages(appears) != 2 || w.effects() != 1 {
		t.Errorf("the next attempt: %v, %d messages, %d effects", err, w.messages(appears), w.effects())
	}
}
