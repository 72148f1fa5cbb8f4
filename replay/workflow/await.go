package workflow

import (
	"time"

	"github.com/reprise-run/reprise/replay"
)

// Await waits until cond returns true. cond reads the workflow's own variables, and what comes
// from outside through [Signal.Pending], [Context.Now], [Context.Err] or
// [Context.ShouldContinue]. It is called each time all strands are blocked, so it must be quick.
// Verbs in it that change the run or wait are refused with [ErrReadOnly]. Of several strands
// whose conditions hold, the one that has waited longest goes on first and alone, so cond is
// still true when Await returns.
//
// Errors: the scope's, if it is cancelled first. A condition that is true counts, even in a
// cancelled scope.
func Await(ctx Context, cond func() bool) error {
	if _, err := ctx.inside(); err != nil {
		return err
	}
	_, err := ctx.scope.Until(cond, nil)
	return err
}

// AwaitTimeout is Await for at most d of workflow time; it returns false if cond was not true in
// time. It arms a timer, unless cond is true at once, and stops it when cond comes true. A
// condition that comes true at the moment at which the time is up counts. With d <= 0 it does not
// wait.
func AwaitTimeout(ctx Context, d time.Duration, cond func() bool) (bool, error) {
	e, err := ctx.inside()
	if err != nil {
		return false, err
	}
	met := e.Test(cond)
	if met {
		e.Poll()
		return true, nil
	}
	late := ctx.scope.Timer("", d)
	met, err = ctx.scope.Until(cond, late)
	if late.Outcome() == replay.Unresolved {
		late.Cancel()
	}
	return met, err
}
