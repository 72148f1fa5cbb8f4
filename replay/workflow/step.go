package workflow

import (
	"context"
	"fmt"
	"reflect"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// Step runs fn outside of the workflow and returns its output. fn may block and have effects. It
// runs at least once, on any node, and is repeated as o says; its last outcome is kept in the
// history under the name. o may be nil.
//
// If the scope is cancelled while fn runs, fn's context is cancelled and its outcome is waited
// for, unless o.OnCancel says otherwise.
//
// Errors: a [*StepError] if the step failed for good; the scope's, if it was cancelled before; an
// invalid name or option, with which the workflow cannot end: its run is blocked then. An output
// that cannot be encoded or decoded again, or is larger than the journal's limit (2 MiB by
// default), fails the step for good.
func Step[T any](ctx Context, name string, fn func(context.Context) (T, error), o *StepOptions) (T, error) {
	c, err := issueStep(ctx, name, o, bodyOf(ctx, name, fn), false)
	return await[T](ctx, c, err)
}

// Do is Step for a function without an output.
func Do(ctx Context, name string, fn func(context.Context) error, o *StepOptions) error {
	_, err := Step(ctx, name, outputless(fn), o)
	return err
}

// outputless makes a step's function of one without an output. What is nil stays nil.
func outputless(fn func(context.Context) error) func(context.Context) (none, error) {
	if fn == nil {
		return nil
	}
	return func(ctx context.Context) (none, error) { return none{}, fn(ctx) }
}

// StepAsync is Step without waiting: the step runs while the workflow goes on.
func StepAsync[T any](ctx Context, name string, fn func(context.Context) (T, error), o *StepOptions) Future[T] {
	c, err := issueStep(ctx, name, o, bodyOf(ctx, name, fn), false)
	return issued[T](c, err)
}

// StepTx is Step for a function that works in a transaction of the store's database. The
// transaction commits together with the step's event, so the effect happens exactly once. fn must
// not commit or roll back; if it does so by SQL, the step fails for good. Tx is pgx.Tx on Postgres
// and *sql.Tx on SQLite; with another type the step fails for good.
//
// A store lets a bounded number of such transactions be open at once (postgres.Options.StepTxMax,
// half of its pool by default; SQLite lets one write), and fn holds its place until it returns. So
// fn should be short, and must not wait for a run that has a StepTx itself: when all places are
// taken by those who wait, nobody can go on. A step that waits for its place for several seconds is
// in the log. What fn sets for the session is undone before the commit.
func StepTx[Tx, T any](ctx Context, name string, fn func(context.Context, Tx) (T, error), o *StepOptions) (T, error) {
	c, err := issueStep(ctx, name, o, txBodyOf(ctx, name, fn), true)
	return await[T](ctx, c, err)
}

// DoTx is StepTx for a function without an output.
func DoTx[Tx any](ctx Context, name string, fn func(context.Context, Tx) error, o *StepOptions) error {
	_, err := StepTx(ctx, name, func(ctx context.Context, tx Tx) (none, error) { return none{}, fn(ctx, tx) }, o)
	return err
}

// StepTxAsync is StepTx without waiting.
func StepTxAsync[Tx, T any](ctx Context, name string, fn func(context.Context, Tx) (T, error), o *StepOptions) Future[T] {
	c, err := issueStep(ctx, name, o, txBodyOf(ctx, name, fn), true)
	return issued[T](c, err)
}

// issueStep asks for a step. A nil body is that of a nil function.
func issueStep(ctx Context, name string, o *StepOptions, body replay.Body, tx bool) (*replay.Command, error) {
	if _, err := ctx.inside(); err != nil {
		return nil, err
	}
	if body == nil {
		return nil, invalid("step %q: its function is nil", name)
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

// checkName is journal.CheckName with a fast path for plain ASCII: it runs for every step of
// every replay.
func checkName(what, name string) error {
	plain := name != "" && len(name) <= journal.NameBytesMax
	for i := 0; plain && i < len(name); i++ {
		plain = ' ' <= name[i] && name[i] <= '~'
	}
	if plain {
		return nil
	}
	if err := journal.CheckName(what, name); err != nil {
		return refused(err)
	}
	return nil
}

// bodyOf makes the step's body. It runs on another goroutine, so what it needs of ctx is read
// now.
func bodyOf[T any](ctx Context, name string, fn func(context.Context) (T, error)) replay.Body {
	if fn == nil {
		return nil
	}
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
	if fn == nil {
		return nil
	}
	enc := ctx.encoder()
	return func(ctx context.Context, value any) (journal.Payload, error) {
		tx, ok := value.(Tx)
		if !ok {
			return journal.Payload{}, Permanent(fmt.Errorf("step %q works in a transaction of type %v, the store's is %T: "+
				"its function must take what the store has (pgx.Tx on Postgres, *sql.Tx on SQLite; in a test, what TxFrom of package runtimetest gives)",
				name, reflect.TypeFor[Tx](), value))
		}
		out, err := fn(ctx, tx)
		if err != nil {
			return journal.Payload{}, err
		}
		return encode(enc, name, out)
	}
}

// encode makes the failure of an output permanent: the next attempt would have the same output. It
// also reads back what it wrote, because the workflow will have to: a type that does not decode
// what it encodes fails its step, whose error the code can handle, and not every replay of the run.
func encode[T any](enc replay.Encoder, name string, out T) (journal.Payload, error) {
	p, err := enc.Encode("output of a step", out)
	if err != nil { // again, for an error with the name: building the name for each output would cost more
		p, err = enc.Encode("output of step "+name, out)
	}
	if err != nil {
		return journal.Payload{}, &replay.EncodeError{Err: err}
	}
	var back T
	if err := enc.Codec().Decode(p, &back); err != nil {
		return journal.Payload{}, &replay.EncodeError{Err: fmt.Errorf("output of step %s: %T cannot be decoded from what it is encoded to: %w", name, out, err)}
	}
	return p, nil
}
