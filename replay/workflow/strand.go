package workflow

import "github.com/reprise-run/reprise/replay"

// Go runs fn concurrently with the caller, in a strand of its own. Strands run one at a time and
// only change at waits, so they share variables without locks. fn's Context is in ctx's scope.
// When the workflow's function returns, the other strands end: wait for them with a [WaitGroup]
// if they matter.
func Go(ctx Context, fn func(Context)) {
	ctx.env().Go(func() { fn(ctx) })
}

// WaitGroup waits for a number of strands. The zero WaitGroup is ready for use; it must not be
// copied.
type WaitGroup struct {
	n    int
	cond replay.Cond
	env  *replay.Env
}

// Add adds n, which may be negative, to the counter. It panics if the counter falls below zero.
func (wg *WaitGroup) Add(n int) {
	mayChange(wg.env)
	if wg.n += n; wg.n < 0 {
		panic("workflow: negative WaitGroup counter")
	}
	if wg.n == 0 && wg.env != nil {
		wg.env.Broadcast(&wg.cond)
	}
}

// Done takes one off the counter.
func (wg *WaitGroup) Done() { wg.Add(-1) }

// Go runs fn in a strand that the group waits for.
func (wg *WaitGroup) Go(ctx Context, fn func(Context)) {
	wg.env = ctx.env()
	wg.Add(1)
	Go(ctx, func(ctx Context) {
		defer wg.Done()
		fn(ctx)
	})
}

// Wait waits until the counter is zero, or returns the scope's error if that is cancelled first.
func (wg *WaitGroup) Wait(ctx Context) error {
	e, err := ctx.inside()
	if err != nil {
		return err
	}
	wg.env, wg.cond.What, wg.cond.Internal = e, "wait group", true
	return ctx.scope.Await(func() bool { return wg.n == 0 }, &wg.cond)
}
