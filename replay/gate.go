package replay

import "github.com/reprise-run/reprise/internal/list"

// Gate is a place where strands wait. Whoever changes what they wait for opens it; each strand then
// looks again. The zero Gate is ready for use, by one machine.
type Gate struct {
	// What names the gate for people; a gate without a name is not shown.
	What string
	// Internal tells that only the run's own strands open the gate: see Stuck.
	Internal bool
	cmd      *Command // whose gate it is, to name it
	waiters  list.List[waiter]
}

// waiter links a strand into a gate. Both ends are intrusive lists, so that leaving a long-lived gate
// costs the same however many wait there.
type waiter struct {
	strand *strand
	notify func() // of a Watcher, instead of a strand
	gate   *Gate
	node   list.Node[waiter] // in the gate's waiters
}

func (g *Gate) enter(w *waiter) {
	w.gate = g
	g.waiters.PushBack(&w.node, w)
}

func (w *waiter) leave() {
	w.gate.waiters.Remove(&w.node)
	*w = waiter{}
}

// Open lets every strand that waits at the gate look again.
func (m *Machine) Open(g *Gate) {
	for w := g.waiters.First(); w != nil; w = w.node.Next() {
		if w.notify != nil {
			w.notify()
		} else {
			m.strands.wake(w.strand)
		}
	}
}

// Watcher is told each time a gate opens, without a strand of its own. It must not move once it watches.
type Watcher struct{ waiter waiter }

// Watch calls fn each time g opens, until Stop. fn may note something and open another gate, not more.
func (w *Watcher) Watch(g *Gate, fn func()) {
	w.waiter.notify = fn
	g.enter(&w.waiter)
}

// Stop ends Watch.
func (w *Watcher) Stop() {
	if w.waiter.gate != nil {
		w.waiter.leave()
	}
}

// openFirst lets the strand look again that has waited longest and is not awake already.
func (m *Machine) openFirst(g *Gate) {
	for w := g.waiters.First(); w != nil; w = w.node.Next() {
		if w.notify == nil && !w.strand.woken {
			m.strands.wake(w.strand)
			return
		}
	}
}

// String names what the strand waits for, or is empty.
func (w *waiter) String() string {
	switch {
	case w.gate == nil:
		return ""
	case w.gate.cmd != nil:
		return w.gate.cmd.String()
	}
	return w.gate.What
}
