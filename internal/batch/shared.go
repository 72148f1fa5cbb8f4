package batch

import (
	"context"
	"sync"
)

// CallShared makes one call for many callers, whose contexts ctxOf returns. The call's context ends
// when the last of the callers has given up, whatever their order. It has the values of the first
// caller's context, and neither its deadline nor its cancellation: a caller with little patience
// must not abort the call of the others.
func CallShared[C, Out any](
	batch []C, ctxOf func(*C) context.Context, call func(context.Context) (Out, error),
) (Out, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctxOf(&batch[0])))
	defer cancel()
	c := callers{
		size: len(batch), ctxOf: func(i int) context.Context { return ctxOf(&batch[i]) }, allGone: cancel,
	}
	c.watch()
	defer c.close()
	return call(ctx)
}

// callers finds out when the last one of several callers has given up. It watches one of them at a
// time: most calls end before anybody gives up, so watching all would cost a registration for each
// for nothing. When the watched one gives up, those after it are asked in order for one who still
// waits. A context never comes back to life, so those that were passed need no second look.
type callers struct {
	size    int
	ctxOf   func(i int) context.Context
	allGone func()

	mu      sync.Mutex
	watched int         // index of the caller that is watched; those before it have given up
	stop    func() bool // ends the watching
	closed  bool        // the call has ended: ctxOf must not be used any more
}

// watch looks for a caller who still waits and watches that one. The watched context calls it.
func (c *callers) watch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed { // the batch holds other callers by now
		return
	}
	for c.watched < c.size && c.ctxOf(c.watched).Err() != nil {
		c.watched++
	}
	if c.watched == c.size {
		c.allGone()
		return
	}
	c.stop = context.AfterFunc(c.ctxOf(c.watched), c.watch)
}

// close ends the watching. A watch that fires at that moment sees that and looks at nobody.
func (c *callers) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.stop != nil {
		c.stop()
	}
}
