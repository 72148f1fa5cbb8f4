package workflow

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// Query is the durable name of a question about a run, with the types of its argument and its
// answer. It is a constant that the workflow's code and the askers share.
type Query[Arg, Res any] string

// Handle answers the query from now on. fn reads the variables that it shares with the workflow's
// code. It must change nothing and must not wait: verbs return or panic with [ErrReadOnly].
// Queries are answered by replaying the run's history, on any node that has its code, also after
// the run has closed, and leave no trace. It panics if the name is not valid.
func (q Query[Arg, Res]) Handle(ctx Context, fn func(Arg) (Res, error)) {
	e := ctx.env()
	if err := checkName("query", string(q)); err != nil {
		panic(err)
	}
	e.HandleQuery(string(q), func(p journal.Payload) (journal.Payload, error) {
		var arg Arg
		if err := argument(e, "query", string(q), p, &arg); err != nil {
			return journal.Payload{}, err
		}
		res, err := fn(arg)
		if err != nil {
			return journal.Payload{}, err
		}
		return e.Encoder().Encode("answer of query "+string(q), res)
	})
}

// argument decodes what a caller sent. An argument that does not fit is the caller's error, not
// the run's.
func argument(e *replay.Env, what, name string, p journal.Payload, v any) error {
	if err := e.Encoder().Codec().Decode(p, v); err != nil {
		return fmt.Errorf("argument of %s %q: %w", what, name, err)
	}
	return nil
}
