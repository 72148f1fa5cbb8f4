package workflow

import "time"

// WithCancel returns a Context whose scope is cancelled with ctx's, or by the function. Call the
// function when the scope's work is done, else the scope lives as long as ctx's. Calling it again
// does nothing.
func WithCancel(ctx Context) (Context, func()) {
	ctx.env()
	sc := ctx.scope.Child()
	return Context{sc, ctx.changes}, func() { ctx.env(); sc.Cancel() }
}

// WithTimeout is WithCancel for a scope that is also cancelled after d of workflow time, with an
// error that matches [ErrTimeout]. It arms a timer; the function stops it.
func WithTimeout(ctx Context, d time.Duration) (Context, func()) {
	ctx.env()
	sc := ctx.scope.Timeout(d)
	return Context{sc, ctx.changes}, func() { ctx.env(); sc.Cancel() }
}

// Shield returns a Context that is not cancelled with ctx, for clean-up that must go on. What is
// done in it ends only with the workflow's function.
func Shield(ctx Context) Context {
	ctx.env()
	return Context{ctx.scope.Shield(), ctx.changes}
}
