package workflow

import (
	"context"
	"fmt"
	"reflect"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// Step runs fn outside of the workflow and returns its output. fn may block and have effects; it
// runs at least once, is repeated as o says, and only its last outcome is kept, under the name. A
// step that failed for good returns a *StepError. o may be nil.
//
// If the scope is cancelled while fn runs, fn's context is cancelled and its outcome is waited for.
func Step[T any](ctx Context, name string, fn func(context.Context) (T, error), o *StepOptions) (T, error) {
	c, err := issueStep(ctx, name, o, bodyOf(ctx, name, fn), false)
	return await[T](ctx, c, err)
}

// Do is Step for a function without an output.
func Do(ctx Context, name string, fn func(context.Context) error, o *StepOptions) error {
	_, err := Step(ctx, name, func(ctx context.Context) (none, error) { return none{}, fn(ctx) }, o)
	return err
}

// StepAsync is Step without waiting: the step runs while the workflow goes on.
func StepAsync[T any](ctx Context, name string, fn func(context.Context) (T, error), o *StepOptions) Future[T] {
	c, err := issueStep(ctx, name, o, bodyOf(ctx, name, fn), false)
	return issued[T](c, err)
}

// StepTx is Step for a function that works in a transaction of the store's database. The
// transaction commits together with the step's event, so the effect happens exactly once. Tx is
// pgx.Tx on Postgres and *sql.Tx on SQLite; with another type than the store's the step fails for
// good.
func StepTx[Tx, T any](ctx Context, name string, fn func(context.Context, Tx) (T, error), o *StepOptions) (T, error) {
	c, err := issueStep(ctx, name, o, txBodyOf(ctx, name, fn), true)
	return await[T](ctx, c, err)
}

// StepTxAsync is StepTx without waiting.
func StepTxAsync[Tx, T any](ctx Context, name string, fn func(context.Context, Tx) (T, error), o *StepOptions) Future[T] {
	c, err := issueStep(ctx, name, o, txBodyOf(ctx, name, fn), true)
	return issued[T](c, err)
}

func issueStep(ctx Context, name string, o *StepOptions, body replay.Body, tx bool) (*replay.Command, error) {
	if _, err := ctx.inside(); err != nil {
		return nil, err
	}
	if err := checkName("step", name); err != nil {
		return nil, err
	}
	options, err := o.resolve(name, tx)
	if err != nil {
		return nil, err
	}
	return ctx.scope.Step(name, options, body), nil
}

// checkName is journal.CheckName with a short way for the usual: it runs for every step of every
// replay.
func checkName(what, name string) error {
	for i := range len(name) {
		if c := name[i]; c < ' ' || c > '~' {
			return journal.CheckName(what, name)
		}
	}
	if name == "" || len(name) > journal.NameBytesMax {
		return journal.CheckName(what, name)
	}
	return nil
}

// bodyOf makes the step's body. It runs on another goroutine, so it takes what it needs of ctx now.
func bodyOf[T any](ctx Context, name string, fn func(context.Context) (T, error)) replay.Body {
	enc := ctx.encoder()
	return func(ctx context.Context, _ any) (journal.Payload, error) {
		out, err := fn(ctx)
		if err != nil {
			return journal.Payload{}, err
		}
		return encode(enc, name, out)
	}
}

func txBodyOf[Tx, T any](ctx Context, name string, fn func(context.Context, Tx) (T, error)) replay.Body {
	enc := ctx.encoder()
	return func(ctx context.Context, value any) (journal.Payload, error) {
		tx, ok := value.(Tx)
		if !ok {
			return journal.Payload{}, Permanent(fmt.Errorf("step %q works in a transaction of type %v, the store's is %T",
				name, reflect.TypeFor[Tx](), value))
		}
		out, err := fn(ctx, tx)
		if err != nil {
			return journal.Payload{}, err
		}
		return encode(enc, name, out)
	}
}

// encode refuses an output for good: the next attempt would have the same.
func encode(enc replay.Encoder, name string, out any) (journal.Payload, error) {
	p, err := enc.Encode("output of step "+name, out)
	if err != nil {
		return journal.Payload{}, &replay.EncodeError{Err: err}
	}
	return p, nil
}
