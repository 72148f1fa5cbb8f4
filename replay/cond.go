package replay

import "github.com/reprise-run/reprise/internal/list"

// Cond is a condition variable: a place where strands wait for something to change. Whoever changes
// it calls Broadcast, and each strand then looks again. There is no lock beside it as with
// sync.Cond, because strands change only at waits. The zero Cond is ready for use, within one run;
// it must not be copied while strands wait.
type Cond struct {
	// What names it for people who look at what a run waits for; a Cond without a name is not
	// shown.
	What string
	// Internal tells that only the run's own strands change what is waited for. If all strands wait
	// for such conditions, nothing will ever wake them: see Machine.Stuck.
	Internal bool
	cmd      *Command // whose outcome is waited for, to name it
	waiters  list.List[waiter]
}

// waiter links a strand into a Cond. A strand that waits for several things has a waiter in each,
// and takes all of them out when it goes on, which costs the same however many others wait there.
type waiter struct {
	strand *strand
	notify func() // of a Watcher, instead of a strand
	cond   *Cond  // that the node is in; nil if it is in none
	node   list.Node[waiter]
}

// add puts a waiter after those that wait already.
func (c *Cond) add(w *waiter) {
	w.cond = c
	c.waiters.PushBack(&w.node, w)
}

// remove takes the waiter out of the Cond that it is in.
func (w *waiter) remove() {
	w.cond.waiters.Remove(&w.node)
	*w = waiter{}
}

// Watcher is told each time a Cond is broadcast, without a strand of its own. It must not move once
// it watches.
type Watcher struct{ waiter waiter }

// Watch calls fn at each Broadcast of c until Stop. fn runs on whoever broadcasts: it may note
// something and broadcast another Cond, and nothing else.
func (w *Watcher) Watch(c *Cond, fn func()) {
	w.waiter.notify = fn
	c.add(&w.waiter)
}

// Stop ends Watch. It may be called again, and without Watch.
func (w *Watcher) Stop() {
	if w.waiter.cond != nil {
		w.waiter.remove()
	}
}
