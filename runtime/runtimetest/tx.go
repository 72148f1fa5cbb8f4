package runtimetest

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/replay"
)

// TxFrom gives the bodies of StepTx, DoTx and PushTx a real transaction in place of a
// *memory.Effects: one that begin begins, on a database of the test's. So their SQL is executed,
// and it is committed with the outcome of the step, or rolled back. T is what the bodies take:
//
//	runtimetest.TxFrom(e, pool.Begin) // pgx.Tx
//	runtimetest.TxFrom(e, func(ctx context.Context) (*sql.Tx, error) { return db.BeginTx(ctx, nil) })
//
// Any other T must have the methods Commit and Rollback, as one of these two has them. begin is
// called for each attempt whose body is executed: not for one that [FakeTx] or [Env.FailNext]
// answers. If it fails, so does the test. TxFrom must be called before the first run is started.
//
// The two commits, of the transaction and of the turn that holds the step's outcome, are one for
// the test. The turn is checked, then the transaction is committed, and then the turn is written,
// which cannot fail any more; nobody looks at the store meanwhile, and no crash of the kit comes
// between the two. So at a crash before the turn, as at one of [Env.Crash] before that, nothing of
// the SQL is left, and the body is executed again; at a crash after it everything is there, and it
// is not. If the transaction cannot be committed, the turn is not written, and the attempt has
// failed. One thing is left that can happen twice: a Commit that returns an error although the
// database has committed, because the connection broke in between. A real store asks the database
// then; the kit cannot, and takes it for not committed.
//
// A body must not commit or roll back. What a real store refuses happens here, so the kit finds it
// afterwards: the step fails for good. It is found too if the body does so by SQL, as long as T has
// the method Exec of a pgx.Tx, or the ExecContext of a *sql.Tx.
//
// One transaction is open at a time, whatever a real store allows. So bodies never wait for each
// other's locks, which would stop the bubble's clock; and what a crash leaves behind of the old
// node has ended before the new one executes a body. The test's own SQL can wait for a lock: see
// the package's documentation for this, and for where to open the database.
func TxFrom[T any](e *Env, begin func(ctx context.Context) (T, error)) {
	e.Helper()
	if begin == nil {
		e.Fatal("TxFrom: begin is nil: give it a function that begins a transaction, as the method Begin of a pgx pool is")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.process != nil:
		e.Fatal("TxFrom must be called before the first run is started")
	case e.txs != nil:
		e.Fatal("TxFrom is called twice: the steps of a test work in transactions of one database, as those of a store do")
	}
	e.txs = &txSource{
		begin: func(ctx context.Context) (any, error) { return begin(ctx) },
		place: make(chan struct{}, 1),
	}
}

// txSource is where the transactions of TxFrom come from. Whoever has one open, or waits for its
// body, has the place. It is a channel because who waits for it must not stop the bubble's clock:
// the body that has it may need the clock to end.
type txSource struct {
	begin func(context.Context) (any, error)
	place chan struct{}
}

// stepTx is the transaction of a step with TxFrom: one of the store in memory, which decides, and
// the test's own, which is committed or rolled back with it. The latter begins with the body, which
// is where the name of the step is known, and is not needed by a fake.
//
// It is used by one goroutine after the other, as any transaction of a step: its body, and then the
// one that commits or rolls back. Only end may be called by two, since a commit that a crash
// swallows ends it, and its run, which gets no answer, does so again.
type stepTx struct {
	journal.Tx // of the store in memory
	from       *txSource
	stop       func(error) // fails the test
	step       string      // that it has begun for
	user       *testerTx   // nil before the body
	end        sync.Once
}

var (
	_ journal.Tx       = (*stepTx)(nil)
	_ driver.CheckedTx = (*stepTx)(nil)
)

// open waits for the place, and begins the store's part.
func (s *txSource) open(ctx context.Context, store *memory.Store, stop func(error)) (journal.Tx, error) {
	select {
	case s.place <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	tx, err := store.Begin(ctx)
	if err != nil {
		<-s.place
		return nil, err
	}
	return &stepTx{Tx: tx, from: s, stop: stop}, nil
}

// Value implements journal.Tx. What the body gets in its place is for opened to say.
func (t *stepTx) Value() any { return t }

// Rollback implements journal.Tx.
func (t *stepTx) Rollback(ctx context.Context) error {
	t.end.Do(func() {
		if t.user != nil {
			t.user.rollback(ctx)
		}
		_ = t.Tx.Rollback(ctx) // an idle note in memory
		<-t.from.place
	})
	return nil
}

// Check implements driver.CheckedTx.
func (t *stepTx) Check(ctx context.Context) error {
	if t.user == nil {
		return nil
	}
	if err := t.user.release(ctx); isEnded(err) {
		return t.named(err)
	}
	return nil
}

// commitStep commits a turn with the transaction of its step, if the transaction is of TxFrom.
// Whatever comes of it, the transaction is over.
func commitStep(ctx context.Context, store *memory.Store, commits []driver.Commit) ([]driver.Outcome, error) {
	t := txOf(commits)
	if t == nil {
		return store.Commit(ctx, commits)
	}
	whole := context.WithoutCancel(ctx) // nobody could tell what came of a commit that is interrupted
	defer t.Rollback(whole)
	c := commits[0]
	c.Tx = t.Tx
	if t.user != nil {
		t.effects().Try(func() error { return t.named(t.user.commit(whole)) })
	}
	return store.Commit(ctx, []driver.Commit{c})
}

// txOf returns the transaction of TxFrom that commits carry, nil if they carry none.
func txOf(commits []driver.Commit) *stepTx {
	if len(commits) != 1 {
		return nil
	}
	t, _ := commits[0].Tx.(*stepTx)
	return t
}

func (t *stepTx) effects() *memory.Effects { return t.Tx.Value().(*memory.Effects) }

// opened is what the body of a step gets as its transaction, or the fake in its place. The test's
// own begins here.
func opened(ctx context.Context, tx any, faked bool) (any, error) {
	t, ok := tx.(*stepTx)
	switch {
	case !ok:
		return tx, nil
	case faked:
		return t.effects(), nil
	}
	t.step = replay.StepContextFrom(ctx).Step
	user, err := t.begin(ctx)
	switch {
	case err == nil:
		t.user = user
		return user.tx, nil
	case ctx.Err() == nil: // else the attempt was to end, and begin has looked at ctx
		t.stop(t.named(err))
	}
	return nil, err
}

// begin calls what TxFrom was given. If that panics or ends its goroutine, the test fails like for
// an error: it is no failure of the step, which would be tried again until the test's patience
// ends.
func (t *stepTx) begin(ctx context.Context) (user *testerTx, err error) {
	returned := false
	defer func() {
		p := recover()
		switch {
		case p != nil:
			err = fmt.Errorf("what TxFrom was given panicked: %v\n%s", p, debug.Stack())
		case !returned:
			t.stop(t.named(errors.New("what TxFrom was given ended its goroutine: it must return its error, and not call Fatal or FailNow")))
		}
	}()
	user, err = beginUser(ctx, t.from.begin)
	returned = true
	return user, err
}

// named says whose transaction an error is about.
func (t *stepTx) named(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("transaction of step %q: %w", t.step, err)
}
