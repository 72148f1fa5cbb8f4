package runtimetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/reprise-run/reprise/journal/driver"
)

// testerTx is a transaction of the test's database. The package imports no driver: who tests on
// SQLite need not build pgx. So a transaction is what it can do.
//
// Around what the body does there is a savepoint, as on the real store for SQLite. If it is gone in
// the end, the body has ended the transaction by SQL, whatever it has begun since.
type testerTx struct {
	tx     any // as the body gets it
	ender  ender
	cancel context.CancelFunc // ends the context that it began with
	over   bool               // it is committed
}

// ender ends a transaction.
type ender interface {
	Commit(context.Context) error
	Rollback(context.Context) error
}

// sqlEnder ends a *sql.Tx, or what has its methods.
type sqlEnder struct {
	tx interface {
		Commit() error
		Rollback() error
	}
}

func (s sqlEnder) Commit(context.Context) error   { return s.tx.Commit() }
func (s sqlEnder) Rollback(context.Context) error { return s.tx.Rollback() }

const (
	savepointSQL = `SAVEPOINT reprise_step`
	releaseSQL   = `RELEASE SAVEPOINT reprise_step`
)

// beginUser begins a transaction. ctx ends the wait for it and not the transaction itself, which
// database/sql would roll back with its context: who ends a transaction is for the engine to say.
func beginUser(ctx context.Context, begin func(context.Context) (any, error)) (*testerTx, error) {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, cancel)
	tx, err := begin(life)
	stop()
	if err != nil {
		cancel()
		return nil, fmt.Errorf("cannot begin: %w (open the database in the function of the test, and close it by Env.Cleanup)", err)
	}
	t := &testerTx{tx: tx, cancel: cancel}
	if v := reflect.ValueOf(tx); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		cancel()
		return nil, errors.New("what TxFrom was given returned nil for a transaction, and no error")
	}
	switch end := tx.(type) {
	case ender:
		t.ender = end
	case interface {
		Commit() error
		Rollback() error
	}:
		t.ender = sqlEnder{end}
	default:
		cancel()
		return nil, fmt.Errorf("what TxFrom was given returned a %T, which cannot be committed: it needs the methods Commit and Rollback, "+
			"as those of a pgx.Tx or of a *sql.Tx", tx)
	}
	if err := t.exec(life, savepointSQL); err != nil {
		t.rollback(context.WithoutCancel(ctx))
		return nil, fmt.Errorf("cannot begin: %s: %w", savepointSQL, err)
	}
	return t, nil
}

// exec executes a statement, or nothing if the transaction has no method for that.
func (t *testerTx) exec(ctx context.Context, statement string) error {
	if x, ok := t.tx.(interface {
		ExecContext(context.Context, string, ...any) (sql.Result, error)
	}); ok {
		_, err := x.ExecContext(ctx, statement)
		return err
	}
	// That of pgx.Tx returns a type of pgx.
	m := reflect.ValueOf(t.tx).MethodByName("Exec")
	if !m.IsValid() || !isExec(m.Type()) {
		return nil
	}
	out := m.Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(statement)})
	err, _ := out[1].Interface().(error)
	return err
}

// isExec tells whether a method is func(context.Context, string, ...any) (something, error).
func isExec(m reflect.Type) bool {
	return m.NumIn() == 3 && m.IsVariadic() && m.In(0) == reflect.TypeFor[context.Context]() && m.In(1) == reflect.TypeFor[string]() &&
		m.In(2) == reflect.TypeFor[[]any]() && m.NumOut() == 2 && m.Out(1) == reflect.TypeFor[error]()
}

// release ends the savepoint. Its error is a driver.TxEndedError if there is none any more. Who has
// called it can only commit or roll back.
func (t *testerTx) release(ctx context.Context) error {
	err := t.exec(ctx, releaseSQL)
	switch state := sqlState(err); {
	case err == nil:
		return nil
	case state == "25P02":
		return fmt.Errorf("a statement of the step failed and its body went on without the error; return it, or run what may fail in a savepoint: %w", err)
	case state == "3B001", state == "25P01", strings.Contains(err.Error(), "no such savepoint"), t.closed(ctx, err):
		return &driver.TxEndedError{}
	}
	return fmt.Errorf("cannot commit: %s: %w", releaseSQL, err)
}

// sqlState is the code of an error of Postgres: 3B001 and 25P01 mean that there is no savepoint of
// this name, and no transaction. SQLite says that by a text.
func sqlState(err error) string {
	if s, ok := errors.AsType[interface {
		error
		SQLState() string
	}](err); ok {
		return s.SQLState()
	}
	return ""
}

// closed tells whether an error is what the transaction answers after its end. pgx and database/sql
// have an error for that each, which they return for everything, a further rollback among it. If
// the transaction was open, this rolls it back.
func (t *testerTx) closed(ctx context.Context, err error) bool {
	_ = t.ender.Rollback(ctx)
	again := t.ender.Rollback(ctx)
	return again != nil && errors.Is(err, again)
}

// commit commits.
func (t *testerTx) commit(ctx context.Context) error {
	if err := t.release(ctx); err != nil {
		return err
	}
	err := t.ender.Commit(ctx)
	switch {
	case err == nil:
		t.over = true
		return nil
	case t.closed(ctx, err):
		return &driver.TxEndedError{}
	}
	return fmt.Errorf("cannot commit: %w", err)
}

// rollback rolls back, or does nothing after a commit. Its error means that the connection is lost,
// and the transaction with it.
func (t *testerTx) rollback(ctx context.Context) {
	if !t.over {
		_ = t.ender.Rollback(ctx)
	}
	t.cancel()
}

func isEnded(err error) bool {
	_, ended := errors.AsType[*driver.TxEndedError](err)
	return ended
}
