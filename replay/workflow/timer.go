package workflow

import (
	"time"

	"github.com/reprise-run/reprise/replay"
)

// Sleep waits for d of workflow time, which may be years: no process and no goroutine waits
// meanwhile. It fires late rather than early, by what a node needs to acquire the run. With d <=
// 0 it returns at once. Errors: the scope's, if it is cancelled first.
func Sleep(ctx Context, d time.Duration) error {
	if _, err := ctx.inside(); err != nil {
		return err
	}
	return Timer{ctx.scope.Timer("", d), nil}.Get(ctx)
}

// Timer fires once, after its time. Copies are the same timer. The zero Timer never fires: Get
// returns [ErrOutside].
type Timer struct {
	cmd *replay.Command // nil if it was refused, for err
	err error
}

// NewTimer arms a timer that fires after d. With d <= 0 it has fired.
func NewTimer(ctx Context, d time.Duration) Timer {
	ctx.env()
	return Timer{ctx.scope.Timer("", d), nil}
}

// NewNamedTimer is NewTimer with a name for people who read the history. Replay compares it.
func NewNamedTimer(ctx Context, name string, d time.Duration) Timer {
	ctx.env()
	if err := checkName("timer", name); err != nil {
		return Timer{nil, err}
	}
	return Timer{ctx.scope.Timer(name, d), nil}
}

// Get waits until the timer fires. Errors: one that matches [ErrCancelled] if the timer was
// stopped; that of a scope, the timer's or ctx's, that is cancelled first.
func (t Timer) Get(ctx Context) error {
	_, err := ctx.inside()
	switch {
	case err != nil:
		return err
	case t.err != nil:
		return t.err
	case t.cmd == nil:
		return ErrOutside
	}
	if err := t.cmd.Await(ctx.scope); err != nil {
		return err
	}
	if t.cmd.Outcome() == replay.Cancelled {
		return t.cmd.Err()
	}
	return nil
}

// Stop cancels the timer. It reports whether that was in time; on a timer that has fired or was
// stopped before it does nothing.
func (t Timer) Stop() bool {
	if t.cmd == nil {
		return false
	}
	mustBeInside(t.cmd.Env())
	return t.cmd.Cancel()
}

// Fired tells whether the timer has fired.
func (t Timer) Fired() bool {
	if t.cmd == nil {
		return false
	}
	t.cmd.Env().Poll()
	return t.cmd.Outcome() == replay.Completed
}
