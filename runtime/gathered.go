package runtime

import (
	"context"
	"sync"
)

// gathered makes one call for many callers. It is repeated while the store is unavailable and any of them still waits.
func gathered[C, Out any](batch []C, ctxOf func(*C) context.Context, call func(context.Context) (Out, error)) (Out, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctxOf(&batch[0])))
	defer cancel()
	c := company{size: len(batch), ctxOf: func(i int) context.Context { return ctxOf(&batch[i]) }, empty: cancel}
	c.watch()
	defer c.close()
	var out Out
	err := untilAvailable(ctx, func() (err error) {
		out, err = call(ctx)
		return err
	})
	return out, err
}

// company tells when the last one of some callers has left. It watches one caller at a time, because most calls end
// before anybody leaves.
type company struct {
	size  int
	ctxOf func(i int) context.Context
	empty func()

	mu     sync.Mutex
	at     int // the caller that is watched; those before it have left
	stop   func() bool
	closed bool
}

// watch looks for a caller who is still there and watches that one.
func (c *company) watch() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed { // the call has ended, and its batch is used for others already
		return
	}
	for c.at < c.size && c.ctxOf(c.at).Err() != nil {
		c.at++
	}
	if c.at == c.size {
		c.empty()
		return
	}
	c.stop = context.AfterFunc(c.ctxOf(c.at), c.watch)
}

func (c *company) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.stop != nil {
		c.stop()
	}
}
