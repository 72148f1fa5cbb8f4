package gather

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// Options of an input. The zero value means the defaults.
type Options struct {
	// Key makes the input idempotent for the life of the collector's run: a second one with it is
	// acknowledged and dropped. [Put] and [Add] do not know each other's keys. Default none.
	Key string
	// Tx puts the input exactly if and when this transaction commits: postgres.InTx(tx). [Add] does
	// not have it, because nobody can wait for what is not committed.
	Tx journal.Tx
}

// Put gives a collector an input for a key, which may be empty. It does not wait for a batch, and
// no node need be there: the input is durable when Put returns nil. o may be nil.
//
// Errors: journal.ErrInvalid for a collector whose rules cannot be, a key that is none, and an
// input that is no JSON or larger than Rules.Bytes, before anything is stored; those of
// runtime.SignalWithStart.
func Put[In, Out any](ctx context.Context, c *runtime.Client, to *Collector[In, Out], key string, in In, o *Options) error {
	if o == nil {
		o = &Options{}
	}
	it, err := to.item(key, in)
	if err != nil {
		return err
	}
	s := sender{c, key}
	if run, ok := to.known.get(s); ok && o.Tx == nil {
		err := runtime.Signal(ctx, c, run, inputs, it, &runtime.SignalOptions{Key: o.Key})
		if !isGone(err) {
			return err
		}
		to.known.drop(s)
	}
	so := startOptions(to.name, key)
	so.Tx = o.Tx
	run, err := runtime.SignalWithStart(ctx, c, name, state{Name: to.name, Key: key}, inputs, it, so, &runtime.SignalOptions{Key: o.Key})
	if err == nil && o.Tx == nil {
		to.known.set(s, run.ID())
	}
	return err
}

// Add is [Put] that returns a ticket for the run that gets the input. It costs more: the collector
// answers each such input. o may be nil, and o.Tx must be.
//
// Errors are those of [Put], and of runtime.UpdateWithStart.
func Add[In, Out any](
	ctx context.Context, c *runtime.Client, to *Collector[In, Out], key string, in In, o *Options,
) (*Ticket[Out], error) {
	if o == nil {
		o = &Options{}
	}
	it, err := to.item(key, in)
	if err == nil && o.Tx != nil {
		err = fmt.Errorf("collector %q: nobody can wait for what a transaction has not committed, use Put: %w", to.name, journal.ErrInvalid)
	}
	if err != nil {
		return nil, err
	}
	t := &Ticket[Out]{client: c, name: to.name, key: key}
	s, uo := sender{c, key}, &runtime.UpdateOptions{Key: o.Key}
	if run, ok := to.known.get(s); ok {
		t.answer, err = runtime.SendUpdate(ctx, c, run, joins, it, uo)
		if err == nil {
			return t, nil
		}
		if !isGone(err) {
			return nil, err
		}
		to.known.drop(s)
	}
	run, answer, err := runtime.UpdateWithStart(ctx, c, name, state{Name: to.name, Key: key}, joins, it, startOptions(to.name, key), uo)
	if err != nil {
		return nil, err
	}
	to.known.set(s, run.ID())
	t.answer = answer
	return t, nil
}

// isGone tells whether a run that a sender remembers cannot take a message any more.
func isGone(err error) bool {
	return errors.Is(err, journal.ErrClosed) || errors.Is(err, journal.ErrNotFound)
}

// startOptions are how the run is started that collects a key.
func startOptions(name, key string) *runtime.StartOptions {
	return &runtime.StartOptions{Key: KeyOf(name, key), Reuse: journal.ReuseAllow, Labels: labelsOf(name, key, nil)}
}

// item is an input, with what is to become of it.
type item struct {
	Plan  plan            `json:"plan"`
	Input json.RawMessage `json:"input"`
}

// item makes the message of an input, or refuses it.
func (to *Collector[In, Out]) item(key string, in In) (item, error) {
	if to.err != nil {
		return item{}, to.err
	}
	if len(key) > keyBytesMax {
		return item{}, fmt.Errorf("collector %q: the key has %d bytes, at most %d are allowed: %w", to.name, len(key), keyBytesMax, journal.ErrInvalid)
	}
	if err := journal.CheckKey("key", KeyOf(to.name, key)); err != nil {
		return item{}, fmt.Errorf("collector %q: %w", to.name, err)
	}
	var value any = in
	p, err := journal.JSON{}.Encode(value)
	if err != nil {
		return item{}, fmt.Errorf("collector %q: %w: %w", to.name, journal.ErrInvalid, err)
	}
	if len(p.Data) > to.plan.Bytes {
		return item{}, fmt.Errorf("collector %q: the input has %d bytes, a batch has at most %d: keep large inputs elsewhere: %w",
			to.name, len(p.Data), to.plan.Bytes, journal.ErrInvalid)
	}
	return item{to.plan, p.Data}, nil
}

// Ticket stands for an input, for those who want to know what has become of it. It holds no
// resources and may be copied and used from many goroutines.
type Ticket[Out any] struct {
	client    *runtime.Client
	name, key string
	answer    *runtime.UpdateHandle[receipt]
}

// Run waits until the run that gets the input has been started, and returns a handle on it. Of a
// [Debounce] or [Latest] that is the run of the input that took the place of this one.
//
// If the collector's run goes on as new before that, the ticket asks for the run now and then, and
// may be five seconds late.
//
// Errors: journal.ErrClosed if the collector's run ended before it started a run for the input;
// journal.ErrNotFound if it was deleted; ctx's, after which Run may be called again.
func (t *Ticket[Out]) Run(ctx context.Context) (*runtime.Run[Out], error) {
	r, err := t.answer.Result(ctx)
	if err == nil && r.Run.IsZero() {
		r.Run, err = find(ctx, t.client, t.answer.Run(), keyOfBatch(t.name, t.key, t.answer.Run(), r.Batch))
	}
	if err != nil {
		return nil, fmt.Errorf("an input of collector %q: %w", t.name, err)
	}
	return runtime.RunOf(t.client, workflow.Name[none, Out](""), r.Run), nil
}

// Result waits for [Ticket.Run] and returns what that run does. Errors are those of both.
func (t *Ticket[Out]) Result(ctx context.Context) (Out, error) {
	run, err := t.Run(ctx)
	if err != nil {
		var zero Out
		return zero, err
	}
	return run.Result(ctx)
}

// find waits until a batch has been started whose collector could not wait with its answer. It asks
// again and again: to ask the collector would make its history longer, and that is why the answer
// came early.
func find(ctx context.Context, c *runtime.Client, collector journal.RunID, key string) (journal.RunID, error) {
	for pause := findFirst; ; pause = min(2*pause, findMax) {
		open, err := isOpen(ctx, c, collector) // ahead of the key: what its last turn started is found then
		if err != nil {
			return journal.RunID{}, err
		}
		run, err := c.FindKey(ctx, key)
		switch {
		case !errors.Is(err, journal.ErrNotFound):
			return run, err
		case !open:
			return run, fmt.Errorf("the collector's run %s ended without a run for it, or both were deleted: %w", collector, journal.ErrClosed)
		}
		again := time.NewTimer(pause)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return run, ctx.Err()
		}
	}
}
