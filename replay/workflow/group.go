package workflow

// Group runs functions that are part of one task, each in a strand of its own. The first error
// cancels the others.
type Group struct {
	ctx     Context
	cancel  func()
	all     WaitGroup
	limit   int // 0 for none
	running int
	queue   []func(Context) error
	err     error
}

// NewGroup returns a group, and the Context that its functions get. Its scope is below ctx's, and
// is cancelled when a function returns an error and when Wait returns.
func NewGroup(ctx Context) (*Group, Context) {
	inner, cancel := WithCancel(ctx)
	return &Group{ctx: inner, cancel: cancel}, inner
}

// SetLimit bounds how many functions run at once; n <= 0 is no bound. It holds for later calls of
// Go.
func (g *Group) SetLimit(n int) { g.limit = max(n, 0) }

// Go runs fn in a strand. It does not wait: while as many functions run as the limit allows, fn
// is queued. Queued functions run in the order of the calls; they are dropped when a function
// fails.
func (g *Group) Go(fn func(Context) error) {
	g.ctx.env()
	g.all.Add(1)
	if g.limit > 0 && g.running >= g.limit {
		g.queue = append(g.queue, fn)
		return
	}
	g.running++
	Go(g.ctx, func(ctx Context) {
		for fn := fn; fn != nil; fn = g.next() {
			if err := fn(ctx); err != nil && g.err == nil {
				g.err = err
				g.cancel()
			}
			g.all.Done()
		}
		g.running--
	})
}

// next returns the function whose turn it is, or nil.
func (g *Group) next() func(Context) error {
	if g.err != nil {
		g.all.Add(-len(g.queue))
		g.queue = nil
	}
	if len(g.queue) == 0 || g.limit > 0 && g.running > g.limit {
		return nil
	}
	fn := g.queue[0]
	g.queue[0] = nil
	g.queue = g.queue[1:]
	return fn
}

// Wait waits until all functions have returned, and returns the first error of them, by time. It
// waits for them in a cancelled scope too, in which they should end soon.
func (g *Group) Wait() error {
	if _, err := g.ctx.inside(); err != nil {
		return err
	}
	if err := g.all.Wait(Shield(g.ctx)); err != nil {
		return err
	}
	g.cancel()
	return g.err
}

// Race runs functions, each in a strand of its own. The first one that returns wins, with or
// without an error: Race cancels the others, waits for them, and returns the winner's index and
// what it returned. Without functions it returns -1 and [ErrNothing].
func Race[T any](ctx Context, fns ...func(Context) (T, error)) (int, T, error) {
	var won T
	_, err := ctx.inside()
	switch {
	case err != nil:
		return -1, won, err
	case len(fns) == 0:
		return -1, won, ErrNothing
	}
	inner, cancel := WithCancel(ctx)
	winner := -1
	var all WaitGroup
	for i, fn := range fns {
		all.Go(inner, func(ctx Context) {
			v, failed := fn(ctx)
			if winner < 0 {
				winner, won, err = i, v, failed
				cancel()
			}
		})
	}
	if outside := all.Wait(Shield(ctx)); outside != nil {
		return -1, won, outside
	}
	return winner, won, err
}
