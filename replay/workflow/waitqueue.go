package workflow

import (
	"fmt"

	"github.com/reprise-run/reprise/internal/list"
	"github.com/reprise-run/reprise/replay"
)

// waitQueue is where strands wait to be served by another one, first come, first served: for a
// value, for room in a channel, for a lock.
//
// Who serves a waiter hands over in the same moment what it waits for: the value is in the waiter,
// the lock is the waiter's, before the strand wakes. So there is no gap in which a third strand
// could take it, and nothing to lose if the waiter's scope is cancelled between being served and
// running: a waiter that was served takes what it got and not the cancellation.
//
// A Select waits in several queues with one wait. Serving it in one of them makes its waiters in
// the others void; head drops those when it meets them, and the Select removes the rest when it
// wakes.
type waitQueue[T any] struct{ waiters list.List[waiter[T]] }

// waiter is a strand's place in a queue, with what it brings or gets.
type waiter[T any] struct {
	value   T
	wait    *wait
	index   int // the Select's case
	cond    replay.Cond
	refused bool          // the channel was closed
	in      *waitQueue[T] // nil once it is removed
	node    list.Node[waiter[T]]
}

// wait is what the waiters of one strand share.
type wait struct{ served int } // 1 plus the index of the waiter that was served; 0 if none was

// push puts a waiter at the end of the queue. what names the wait for people.
func (q *waitQueue[T]) push(w *waiter[T], what string) {
	w.cond.What, w.cond.Internal = what, true
	w.in = q
	q.waiters.PushBack(&w.node, w)
}

// head returns the first waiter that is not served, or nil. Those before it are removed: their
// Select was served elsewhere.
func (q *waitQueue[T]) head() *waiter[T] {
	w := q.waiters.First()
	for w != nil && w.wait.served != 0 {
		w.remove()
		w = q.waiters.First()
	}
	return w
}

// serve lets the strand go on and takes the waiter out of the queue.
func (w *waiter[T]) serve(e *replay.Env) {
	w.wait.served = w.index + 1
	w.remove()
	e.Broadcast(&w.cond)
}

// remove takes the waiter out of its queue, if it is in one.
func (w *waiter[T]) remove() {
	if w.in != nil {
		w.in.waiters.Remove(&w.node)
		w.in = nil
	}
}

// await waits in the queue until w is served, or returns the scope's error if that is cancelled
// before.
func (q *waitQueue[T]) await(ctx Context, w *waiter[T], what string) error {
	w.wait = &wait{}
	q.push(w, what)
	err := ctx.scope.Await(func() bool { return w.wait.served != 0 }, &w.cond)
	w.remove()
	return err
}

// named is a thing with its name, in the form of Waiting.
func named(kind, name string) string {
	if name == "" {
		return kind
	}
	return fmt.Sprintf("%s %q", kind, name)
}
