package workflow

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// Send sends the signal to another run and waits until it is in that run's inbox, or refused. It
// is sent exactly once, however often this run is replayed.
//
// Errors: a [*SignalError] that matches [ErrRunNotFound] or [ErrRunClosed]; the scope's, if it
// was cancelled before; a payload that cannot be encoded or is too large.
func (s Signal[T]) Send(ctx Context, to RunID, v T) error {
	c, err := s.issue(ctx, to, v)
	_, err = await[none](ctx, c, err)
	return err
}

// SendAsync is Send without waiting. Signals to one run arrive in the order in which they were
// sent.
func (s Signal[T]) SendAsync(ctx Context, to RunID, v T) Future[struct{}] {
	return issued[none](s.issue(ctx, to, v))
}

func (s Signal[T]) issue(ctx Context, to RunID, v T) (*replay.Command, error) {
	e, err := ctx.inside()
	if err != nil {
		return nil, err
	}
	if err := checkName("signal", string(s)); err != nil {
		return nil, err
	}
	p, err := e.Encoder().Encode("signal "+string(s), v)
	if err != nil {
		return nil, err
	}
	return ctx.scope.Send(journal.Message{Run: to, Kind: journal.MessageSignal, Name: string(s), Payload: p}), nil
}

// CancelRun sends a cancel request to another run, and waits until it is in that run's inbox. A
// run is asked once: if it was asked before, this does nothing and returns nil, even after the
// run's end. Cancel a child by its [Child] or with its scope instead.
//
// Errors: a [*SignalError] that matches [ErrRunNotFound] or [ErrRunClosed]; the scope's, if it
// was cancelled before.
func CancelRun(ctx Context, run RunID, reason string) error {
	if _, err := ctx.inside(); err != nil {
		return err
	}
	f := &journal.Failure{Type: journal.FailureCancelled, Message: reason}
	c := ctx.scope.Send(journal.Message{Run: run, Kind: journal.MessageCancel, Payload: journal.EncodeFailure(f)})
	_, err := await[none](ctx, c, nil)
	return err
}
