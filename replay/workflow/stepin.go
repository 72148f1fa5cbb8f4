package workflow

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// Database is a database beside the store's, in which steps have transactions: see [StepIn].
// postgres.OpenDatabase and sqlite.OpenDatabase make one.
type Database[Tx any] interface {
	// Once calls fn in a transaction, which also keeps what fn returns under the key. If the
	// database has something under the key already, it returns that and does not call fn. After an
	// error of fn nothing is kept.
	Once(ctx context.Context, key string, fn func(context.Context, Tx) (journal.Payload, error)) (journal.Payload, error)
}

// StepIn is Step for a function that works in a transaction of another database than the store's.
// The effect happens exactly once: the transaction also keeps the step's output, in a small table
// of that database, and an attempt that finds it there returns it without calling fn. So it does
// not matter whether the answer to a commit was lost, or the process died before the step's event
// was stored. fn must not commit or roll back. It may be called more than once, each time in a
// transaction of which nothing is left if it does not commit.
//
// A database that is not available is a failure of the attempt, like any error of fn: see
// [StepOptions].Retry. Tests with runtimetest fake such a step like any other; db may be nil then.
// Or they execute it on a database of the test's.
func StepIn[Tx, T any](ctx Context, name string, db Database[Tx], fn func(context.Context, Tx) (T, error), o *StepOptions) (T, error) {
	c, err := issueStep(ctx, name, o, inBodyOf(ctx, name, db, fn), false)
	return await[T](ctx, c, err)
}

// DoIn is StepIn for a function without an output.
func DoIn[Tx any](ctx Context, name string, db Database[Tx], fn func(context.Context, Tx) error, o *StepOptions) error {
	_, err := StepIn(ctx, name, db, func(ctx context.Context, tx Tx) (none, error) { return none{}, fn(ctx, tx) }, o)
	return err
}

// StepInAsync is StepIn without waiting.
func StepInAsync[Tx, T any](ctx Context, name string, db Database[Tx], fn func(context.Context, Tx) (T, error), o *StepOptions) Future[T] {
	c, err := issueStep(ctx, name, o, inBodyOf(ctx, name, db, fn), false)
	return issued[T](c, err)
}

// inBodyOf makes the body of a step in another database. The name is part of the key: if the store
// goes back in time, the run may ask for another step under the same number.
func inBodyOf[Tx, T any](ctx Context, name string, db Database[Tx], fn func(context.Context, Tx) (T, error)) replay.Body {
	enc := ctx.encoder()
	return func(ctx context.Context, _ any) (journal.Payload, error) {
		if db == nil {
			return journal.Payload{}, Permanent(fmt.Errorf("step %q has no database: open one with OpenDatabase of package postgres or sqlite", name))
		}
		key := IdempotencyKey(ctx)
		if key == "" { // all steps would be one to the database
			return journal.Payload{}, Permanent(fmt.Errorf("step %q: its context does not come from the one that the node gave: %w", name, ErrNotInStep))
		}
		return db.Once(ctx, key+"/"+name, func(ctx context.Context, tx Tx) (journal.Payload, error) {
			out, err := fn(ctx, tx)
			if err != nil {
				return journal.Payload{}, err
			}
			return encode(enc, name, out)
		})
	}
}
