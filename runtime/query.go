package runtime

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/trace"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/internal/replica"
)

// Query asks a run a question and returns the answer of the handler that its code registered with
// workflow.HandleQuery. The node replays the run's history, and what waits in its inbox, with its
// own code: it need not run, nor own the run, but the workflow must be registered on it.
//
// The answer is a state that the run is in or will be in. It covers everything that was
// acknowledged before the call: events, and signals, updates and cancel requests that the run has
// not consumed yet. While a node works on the run, the query waits until that has taken them:
// milliseconds, and at most 3 s, or half of ctx's time. If no node does, what the next one will do
// is foreseen. That ends where only the run's owner decides (a SideEffect, a new Changed, the time,
// the id of a new child), and where the code fails: then the answer is the state of before. The run
// may be open, parked, blocked or closed. It is not touched, and nothing is written. The first
// query of a run costs a replay of its history; while the node runs, further ones within seconds
// cost what is new.
//
// A handler that does not return is not waited for beyond ctx, and 30 s: the error names it and
// matches [ErrStuck] and context.DeadlineExceeded or what ended ctx. It goes on in the background,
// and keeps a goroutine; the next question gets a fresh replay, and one that is refused with
// [ErrStuck] at once when too many calls of the same handler have not returned.
//
// If the code does not fit the history, or panics on it, the answer is the state before the event
// at which they part, and the error is a *[BehindError], which says as of which event the answer is
// and wraps the cause. It is the only error beside which there is an answer.
//
// Errors: journal.ErrNotFound; a *journal.UnreadableError, if part of the run cannot be read;
// [ErrNotRegistered], naming the workflow and version; *replay.UndecidedError, naming the line, if
// the run has taken no turn and its first one depends on what only its owner decides;
// replay.ErrNoHandler, naming the queries that the run has; the handler's error, or that it
// panicked; *replay.DivergenceError if the code does not fit the history; *replay.PanicError if the
// code panics on it; ctx's. The error has the cause and the handler's if the code does not fit, and
// there is no answer from before that either.
func Query[Arg, Res any](
	ctx context.Context, n *Node, run journal.RunID, q workflow.Query[Arg, Res], arg Arg,
) (Res, error) {
	ctx, end := n.tel.call(ctx, spanQuery, string(q), run, trace.SpanKindInternal)
	res, err := ask(ctx, n, run, q, arg)
	end(err)
	return res, err
}

// ask is Query without a span.
func ask[Arg, Res any](ctx context.Context, n *Node, run journal.RunID, q workflow.Query[Arg, Res], arg Arg) (Res, error) {
	failed := func(err error) error { return fmt.Errorf("query %s of run %s: %w", q, run, err) }
	var value any = arg
	p, err := n.j.Encode("argument", value)
	if err != nil {
		var none Res
		return none, failed(err)
	}
	call := Call{Kind: QueryCall, Run: run, Name: string(q), Payload: value}
	var earlier Res // what a BehindError stands beside: interceptors pass an error on, and no answer with it
	res, err := intercepted(ctx, n.client, call, func(ctx context.Context, _ *Call) (res Res, err error) {
		answer, err := n.replicas.Query(ctx, run, string(q), p)
		behind, isBehind := errors.AsType[*replica.BehindError](err)
		if isBehind {
			err = &BehindError{Seq: behind.Seq, Err: behind.Err}
		}
		if err == nil || isBehind {
			if unread := n.j.Codec().Decode(answer, &res); unread != nil {
				err = unread
			}
		}
		if earlier = res; err != nil {
			return res, failed(err)
		}
		return res, nil
	})
	if _, behind := errors.AsType[*BehindError](err); behind {
		return earlier, err
	}
	return res, err
}
