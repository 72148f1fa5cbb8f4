package postgres_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// outboxWorld has a run with a step whose transaction is open, and another run.
type outboxWorld struct {
	*txWorld
	first driver.Commit // of the run
	other journal.RunID
	tx    journal.Tx
	body  pgx.Tx // what the step's body has
}

func newOutboxWorld(t *testing.T) *outboxWorld {
	t.Helper()
	w := &outboxWorld{txWorld: newTxWorld(t, pgtest.New(t))}
	w.first = commitOf(w.j, owned(t, w.j, w.node), keep, began("a"))
	commit(t, w.j, w.first)
	out, err := w.j.Start(t.Context(), nil, []journal.Start{{Workflow: "flow", Key: "other"}})
	if err != nil || out[0].Err != nil {
		t.Fatal(err, out)
	}
	w.other = out[0].Run
	w.begin()
	return w
}

func (w *outboxWorld) begin() {
	w.tx = w.step()
	w.body = w.tx.Value().(pgx.Tx)
	tx := w.tx
	w.t.Cleanup(func() { _ = tx.Rollback(context.Background()) }) // else the store could not be closed
}

func (w *outboxWorld) send(tx pgx.Tx, to journal.RunID, key string) error {
	w.t.Helper()
	sent, err := w.j.Send(w.t.Context(), postgres.InTx(tx), []journal.Message{{Run: to, Kind: journal.MessageSignal, Name: "sig", Key: key}})
	if err != nil {
		w.t.Fatal(err)
	}
	return sent[0].Err
}

func (w *outboxWorld) start(tx pgx.Tx, s journal.Start) journal.Started {
	w.t.Helper()
	out, err := w.j.Start(w.t.Context(), postgres.InTx(tx), []journal.Start{s})
	if err != nil {
		w.t.Fatal(err)
	}
	return out[0]
}

// commit ends the step.
func (w *outboxWorld) commit() error {
	w.t.Helper()
	c := after(w.first, keep, stepDone(1, "a"))
	c.Tx = w.tx
	out, err := w.j.Commit(w.t.Context(), []driver.Commit{c})
	if err != nil {
		w.t.Fatal(err)
	}
	return out[0].Err
}

func (w *outboxWorld) messages(run journal.RunID) int {
	w.t.Helper()
	return query[int](w.t, w.conn, "SELECT count(*)::int FROM reprise.inbox WHERE run_id = $1", run.String())
}

// While a body is at work nothing of the journal's is locked by what it has sent and started: the
// receivers' turns go on, its own run's too. All of it is there when the step is.
func TestOutboxWaitsForTheCommit(t *testing.T) {
	t.Parallel()
	w := newOutboxWorld(t)
	mustExec(t, w.conn, "SET lock_timeout = '1ms'")
	for _, to := range []journal.RunID{w.first.Run, w.other} {
		if err := w.send(w.body, to, "1"); err != nil {
			t.Fatal(err)
		}
	}
	made := w.start(w.body, journal.Start{Workflow: "flow", Key: "new"})
	if made.Err != nil || !made.Created {
		t.Fatal(made)
	}
	again := w.start(w.body, journal.Start{Workflow: "flow", Key: "new"})
	if again.Err != nil || again.Created || again.Run != made.Run {
		t.Errorf("the second start of a key in the transaction: %+v", again)
	}
	if err := w.send(w.body, made.Run, "1"); err != nil {
		t.Errorf("to a run that the transaction starts: %v", err)
	}
	if n := query[int](t, w.conn, "SELECT count(*)::int FROM (SELECT FROM reprise.tasks FOR UPDATE) t"); n != 2 {
		t.Errorf("%d tasks before the commit, want 2", n)
	}
	if err := w.commit(); err != nil {
		t.Fatal(err)
	}
	for _, run := range []journal.RunID{w.first.Run, w.other, made.Run} {
		if n := w.messages(run); n != 1 {
			t.Errorf("%d messages for %s, want 1", n, run)
		}
	}
	if err := w.send(w.body, w.other, "late"); err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("after the commit: %v", err)
	}
}

// What a body is told when it sends is true at that moment.
func TestOutboxAnswersAtOnce(t *testing.T) {
	t.Parallel()
	w := newOutboxWorld(t)
	out, err := w.j.Start(t.Context(), nil, []journal.Start{{Workflow: "flow"}})
	if err == nil {
		_, err = w.j.Admin(t.Context(), driver.AdminAction{Run: out[0].Run, Kind: driver.AdminTerminate})
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := w.send(w.body, out[0].Run, "1"); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("to a closed run: %v", err)
	}
	if err := w.send(w.body, journal.NewRunID(), "1"); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("to an unknown run: %v", err)
	}
	if got := w.start(w.body, journal.Start{Workflow: "flow", Key: "other"}); got.Err != nil || got.Created || got.Run != w.other {
		t.Errorf("under the key of an open run: %+v", got)
	}
	if got := w.start(w.body, journal.Start{Workflow: "else", Key: "other"}); !isConflict(got.Err) {
		t.Errorf("under the key of another workflow: %+v", got)
	}
	joined := w.start(w.body, journal.Start{Workflow: "flow", Key: "other", Message: &journal.Message{Kind: journal.MessageSignal, Name: "sig", Key: "with"}})
	if joined.Err != nil || joined.Sent.Err != nil || joined.Run != w.other {
		t.Errorf("a signal with a start: %+v", joined)
	}
	if err := w.commit(); err != nil || w.messages(w.other) != 1 || runs(t, w.j) != 3 {
		t.Errorf("%v, %d messages, %d runs", err, w.messages(w.other), runs(t, w.j))
	}
}

func isConflict(err error) bool {
	_, ok := errors.AsType[*journal.KeyConflictError](err)
	return ok
}

// A key that is taken between the body and the commit loses the step's transaction, because the
// body was told otherwise. A message to a run that has closed meanwhile is dropped.
func TestOutboxThatIsOvertaken(t *testing.T) {
	t.Parallel()
	w := newOutboxWorld(t)
	if got := w.start(w.body, journal.Start{Workflow: "flow", Key: "raced"}); got.Err != nil {
		t.Fatal(got)
	}
	if err := w.send(w.body, w.other, "1"); err != nil {
		t.Fatal(err)
	}
	faster, err := w.j.Start(t.Context(), nil, []journal.Start{{Workflow: "flow", Key: "raced"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.commit(); !errors.Is(err, journal.ErrTxLost) || !strings.Contains(err.Error(), faster[0].Run.String()) {
		t.Errorf("got %v", err)
	}
	if n := w.messages(w.other) + w.effects(); n != 0 {
		t.Errorf("%d effects of a lost transaction", n)
	}
	w.begin()
	if err := w.send(w.body, w.other, "1"); err != nil {
		t.Fatal(err)
	}
	if _, err := w.j.Admin(t.Context(), driver.AdminAction{Run: w.other, Kind: driver.AdminTerminate}); err != nil {
		t.Fatal(err)
	}
	if err := w.commit(); err != nil || w.effects() != 1 || w.messages(w.other) != 0 {
		t.Errorf("%v, %d effects, %d messages", err, w.effects(), w.messages(w.other))
	}
}

// What is undone is not sent: by a savepoint, or with the transaction. The rest stays within limits.
func TestOutboxThatIsUndone(t *testing.T) {
	t.Parallel()
	w := newOutboxWorld(t)
	if err := w.send(w.body, w.other, "outer"); err != nil {
		t.Fatal(err)
	}
	undo := errors.New("undo")
	err := pgx.BeginFunc(t.Context(), w.body, func(outer pgx.Tx) error {
		if err := w.send(outer, w.other, "undone"); err != nil {
			t.Fatal(err)
		}
		return errors.Join(undo, pgx.BeginFunc(t.Context(), outer, func(inner pgx.Tx) error {
			w.start(inner, journal.Start{Workflow: "flow", Key: "undone"})
			return nil
		}))
	})
	if !errors.Is(err, undo) {
		t.Fatal(err)
	}
	err = pgx.BeginFunc(t.Context(), w.body, func(tx pgx.Tx) error { return w.send(tx, w.other, "kept") })
	if err != nil {
		t.Fatal(err)
	}
	if err := w.commit(); err != nil || w.messages(w.other) != 2 || runs(t, w.j) != 2 {
		t.Errorf("%v: %d messages, %d runs; want 2 and 2", err, w.messages(w.other), runs(t, w.j))
	}
	w.begin()
	for i := 0; ; i++ {
		if err := w.send(w.body, w.other, ""); err != nil {
			if limit, ok := errors.AsType[*journal.LimitError](err); !ok || i != limit.Max {
				t.Errorf("message %d: %v", i, err)
			}
			break
		}
	}
	if err := w.tx.Rollback(t.Context()); err != nil || w.messages(w.other) != 2 {
		t.Errorf("%v: %d messages after the rollback", err, w.messages(w.other))
	}
	if err := w.send(w.body, w.other, ""); err == nil {
		t.Error("a message after the rollback")
	}
}

type wrappedTx struct{ pgx.Tx }

// A transaction of a step inside of another type is refused: what is sent by it would be written at
// once, and lock its receivers, the step's own run too.
func TestOutboxCannotBeGoneAround(t *testing.T) {
	t.Parallel()
	w := newOutboxWorld(t)
	tx := postgres.InTx(wrappedTx{w.body})
	_, err := w.j.Send(t.Context(), tx, []journal.Message{{Run: w.first.Run, Kind: journal.MessageSignal, Name: "sig"}})
	if !errors.Is(err, journal.ErrInvalid) || !strings.Contains(err.Error(), "that the body was given") {
		t.Errorf("sent: %v", err)
	}
	if _, err := w.j.Start(t.Context(), tx, []journal.Start{{Workflow: "flow"}}); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("started: %v", err)
	}
	if err := w.commit(); err != nil || runs(t, w.j) != 2 || w.messages(w.first.Run) != 0 {
		t.Errorf("%v, %d runs, %d messages", err, runs(t, w.j), w.messages(w.first.Run))
	}
}
