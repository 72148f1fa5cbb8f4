package workflow

import "github.com/reprise-run/reprise/replay"

// Channel carries values between the strands of a run, as Go's channels do between goroutines:
// values arrive in the order they were sent, strands that wait are served in the order they came,
// and no value is lost, even if a Select that waits to send or receive takes another case. One
// thing differs: sending on a closed channel returns an error instead of panicking.
//
// Values do not leave the run and are not in its history: they come from what the code did. They
// are not copied. The zero Channel is unbuffered. A Channel must not be copied. A nil *Channel is
// never ready.
type Channel[T any] struct {
	binding
	name      string
	size      int
	buffer    []T
	closed    bool
	receivers waitQueue[*received[T]]
	senders   waitQueue[T]
}

// received is what a strand that waits gets.
type received[T any] struct {
	value T
	ok    bool
}

// NewChannel makes a channel with room for n values; with 0 a sender waits until its value is
// received. The name is for people who look at what a run waits for, and may be empty. It panics if
// n is negative.
func NewChannel[T any](n int, name string) *Channel[T] {
	if n < 0 {
		panic("workflow: negative size of a channel")
	}
	return &Channel[T]{size: n, name: name}
}

// Send sends v, waiting until there is room or a receiver. If it returns an error, v was not
// sent.
//
// Errors: [ErrChannelClosed] if the channel is closed, or is closed while Send waits; the
// scope's, if it is cancelled first.
func (c *Channel[T]) Send(ctx Context, v T) error {
	if c == nil {
		return never(ctx)
	}
	e, err := c.use(ctx)
	if err != nil {
		return err
	}
	if sent, err := c.trySend(e, v); sent || err != nil {
		return err
	}
	w := &waiter[T]{value: v}
	if err := c.senders.await(ctx, w, c.what("send")); err != nil {
		return err
	}
	return w.sent()
}

// TrySend is Send without waiting: it reports whether v was sent.
func (c *Channel[T]) TrySend(ctx Context, v T) (bool, error) {
	if c == nil {
		_, err := ctx.inside()
		return false, err
	}
	e, err := c.use(ctx)
	if err != nil {
		return false, err
	}
	return c.trySend(e, v)
}

// Receive returns the next value, waiting for it if there is none. ok is false if the channel is
// closed and everything that was sent has been received. Errors: the scope's, if it is cancelled
// first.
func (c *Channel[T]) Receive(ctx Context) (v T, ok bool, err error) {
	if c == nil {
		return v, false, never(ctx)
	}
	e, err := c.use(ctx)
	if err != nil {
		return v, false, err
	}
	r, ready := c.tryReceive(e)
	if ready {
		return r.value, r.ok, nil
	}
	w := &waiter[*received[T]]{value: &r}
	if err := c.receivers.await(ctx, w, c.what("receive")); err != nil {
		return v, false, err
	}
	return r.value, r.ok, nil
}

// TryReceive is Receive without waiting. ok is false if there is nothing to receive;
// [Channel.Closed] tells whether there ever will be.
func (c *Channel[T]) TryReceive(ctx Context) (v T, ok bool, err error) {
	if c == nil {
		_, err := ctx.inside()
		return v, false, err
	}
	e, err := c.use(ctx)
	if err != nil {
		return v, false, err
	}
	r, _ := c.tryReceive(e)
	return r.value, r.ok, nil
}

// Close says that nothing will be sent any more. Receivers get what was sent before, then ok is
// false; strands that wait to send get ErrChannelClosed. Closing again does nothing.
func (c *Channel[T]) Close() {
	c.check()
	if c.closed {
		return
	}
	c.closed = true
	for w := c.receivers.head(); w != nil; w = c.receivers.head() {
		w.serve(c.env)
	}
	for w := c.senders.head(); w != nil; w = c.senders.head() {
		w.refused = true
		w.serve(c.env)
	}
}

// Closed tells whether the channel was closed. Values may still be in it: see Len.
func (c *Channel[T]) Closed() bool { return c != nil && c.closed }

// Len is the number of values in the buffer.
func (c *Channel[T]) Len() int {
	if c == nil {
		return 0
	}
	return len(c.buffer)
}

// trySend hands v to the receiver that has waited longest, or puts it into the buffer. Two things
// are always so, and keep the order of values: nobody waits to receive while the buffer has
// values or a sender waits, and nobody waits to send while the buffer has room or a receiver
// waits.
func (c *Channel[T]) trySend(e *replay.Env, v T) (bool, error) {
	if c.closed {
		return false, ErrChannelClosed
	}
	if w := c.receivers.head(); w != nil {
		*w.value = received[T]{v, true}
		w.serve(e)
		return true, nil
	}
	if len(c.buffer) < c.size {
		c.buffer = append(c.buffer, v)
		return true, nil
	}
	return false, nil
}

// tryReceive takes the oldest value. The room that it leaves goes at once to the sender that has
// waited longest, else one that comes later could overtake it.
func (c *Channel[T]) tryReceive(e *replay.Env) (r received[T], ready bool) {
	w := c.senders.head()
	if len(c.buffer) > 0 {
		r = received[T]{c.shift(), true}
		if w != nil {
			c.buffer = append(c.buffer, w.value)
			w.serve(e)
		}
		return r, true
	}
	if w != nil {
		r = received[T]{w.value, true}
		w.serve(e)
		return r, true
	}
	return r, c.closed
}

func (c *Channel[T]) shift() T {
	var zero T
	v := c.buffer[0]
	c.buffer[0] = zero
	if c.buffer = c.buffer[1:]; len(c.buffer) == 0 {
		c.buffer = nil
	}
	return v
}

func (c *Channel[T]) canReceive() bool {
	return len(c.buffer) > 0 || c.closed || c.senders.head() != nil
}

func (c *Channel[T]) canSend() bool {
	return len(c.buffer) < c.size || c.closed || c.receivers.head() != nil
}

func (c *Channel[T]) what(verb string) string { return named("channel", c.name) + " (" + verb + ")" }

// sent returns what became of a send that waited.
func (w *waiter[T]) sent() error {
	if w.refused {
		return ErrChannelClosed
	}
	return nil
}

// never waits on a nil channel: until the scope is cancelled.
func never(ctx Context) error {
	if _, err := ctx.inside(); err != nil {
		return err
	}
	return ctx.scope.Await(func() bool { return false })
}

// OnReceive is ready when the channel has a value or is closed; fn gets what Receive would return,
// and may be nil. A value is received only if this case is chosen. With a nil channel it is never
// ready.
func OnReceive[T any](c *Channel[T], fn func(v T, ok bool)) Case {
	return Case{func(e *replay.Env, b *bound) error {
		if c == nil {
			b.ready = func() bool { return false }
			return nil
		}
		if err := c.bind(e); err != nil {
			return err
		}
		w := &waiter[*received[T]]{}
		b.ready, b.cond = c.canReceive, &w.cond
		b.push = func(shared *wait, index int) {
			w.wait, w.index, w.value = shared, index, new(received[T])
			c.receivers.push(w, c.what("receive"))
		}
		b.remove = w.remove
		b.fire = func(served bool) error {
			var r received[T]
			if served {
				r = *w.value
			} else {
				r, _ = c.tryReceive(e)
			}
			if fn != nil {
				fn(r.value, r.ok)
			}
			return nil
		}
		return nil
	}}
}

// OnSend is ready when v can be sent at once; it is sent only if this case is chosen, and fn is
// called then, which may be nil. On a closed channel it is ready, and Select returns
// ErrChannelClosed. With a nil channel it is never ready.
func OnSend[T any](c *Channel[T], v T, fn func()) Case {
	return Case{func(e *replay.Env, b *bound) error {
		if c == nil {
			b.ready = func() bool { return false }
			return nil
		}
		if err := c.bind(e); err != nil {
			return err
		}
		w := &waiter[T]{value: v}
		b.ready, b.cond = c.canSend, &w.cond
		b.push = func(shared *wait, index int) {
			w.wait, w.index = shared, index
			c.senders.push(w, c.what("send"))
		}
		b.remove = w.remove
		b.fire = func(served bool) error {
			err := w.sent()
			if !served {
				_, err = c.trySend(e, v)
			}
			if err == nil && fn != nil {
				fn()
			}
			return err
		}
		return nil
	}}
}
