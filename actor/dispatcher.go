package actor

import (
	"sync"
	"time"
)

// dispatcher runs the mailboxes of a system on a few goroutines that stay, so that a message costs neither a fresh
// goroutine nor the growth of its stack. Mailboxes are meant to return quickly. One that does not, because its workflow's code
// does not await, loses its place after a while: another goroutine serves the rest meanwhile.
//
// It implements protoactor's Dispatcher.
type dispatcher struct {
	size int // goroutines that are to be available

	mu      sync.Mutex
	work    *sync.Cond
	queue   fifo
	workers []*worker
	idle    int    // workers that wait and have not been told to go on
	at      int    // workers that are idle or have begun with their mailbox lately
	round   uint64 // grows with every look
	looking bool   // a look is to come
	ended   bool
}

// worker is one goroutine of a dispatcher.
type worker struct {
	busy  bool
	gone  bool   // its mailbox does not return: it is not counted
	round uint64 // in which it began with its mailbox
}

func newDispatcher(size int) *dispatcher {
	d := &dispatcher{size: size}
	d.work = sync.NewCond(&d.mu)
	return d
}

// Throughput is how many messages of one mailbox are handled before it lets others go on.
func (d *dispatcher) Throughput() int { return mailboxThroughput }

// Schedule has a mailbox processed soon. It never blocks.
func (d *dispatcher) Schedule(mailbox func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		go mailbox() // of an actor that a step's end or a late answer still reaches
		return
	}
	d.queue.push(mailbox)
	switch {
	case d.idle > 0:
		d.idle--
		d.work.Signal()
	case d.at < d.size:
		d.hire()
	case !d.looking:
		d.lookLater()
	}
}

// hire adds a worker. The caller holds the lock.
func (d *dispatcher) hire() {
	w := &worker{}
	d.workers = append(d.workers, w)
	d.at++
	go d.serve(w)
}

func (d *dispatcher) serve(w *worker) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.at <= d.size {
		mailbox, ok := d.queue.pop()
		if !ok && d.ended {
			break
		}
		if !ok {
			d.idle++
			d.work.Wait()
			continue
		}
		w.busy, w.round = true, d.round
		d.mu.Unlock()
		mailbox()
		d.mu.Lock()
		w.busy = false
		if w.gone { // somebody has taken its place, who may be one too many now
			w.gone = false
			d.at++
		}
	}
	d.dismiss(w)
}

// dismiss takes a worker out. The caller holds the lock.
func (d *dispatcher) dismiss(w *worker) {
	d.at--
	for i := range d.workers {
		if d.workers[i] == w {
			d.workers = append(d.workers[:i], d.workers[i+1:]...)
			return
		}
	}
}

// lookLater has workers looked after while mailboxes wait. The caller holds the lock.
func (d *dispatcher) lookLater() {
	d.looking = true
	time.AfterFunc(mailboxLook, d.look)
}

// look replaces workers whose mailbox has not returned since the look before the last one.
func (d *dispatcher) look() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.looking = d.queue.len() > 0; !d.looking {
		return
	}
	d.round++
	for _, w := range d.workers {
		if w.busy && !w.gone && d.round-w.round > 1 {
			w.gone = true
			d.at--
		}
	}
	for range min(d.size-d.at, d.queue.len()) {
		d.hire()
	}
	d.lookLater()
}

// end lets the workers go once nothing waits.
func (d *dispatcher) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	d.idle = 0
	d.work.Broadcast()
}

// fifo is a queue in a ring that keeps its memory.
type fifo struct {
	ring []func()
	head int
	n    int
}

func (q *fifo) len() int { return q.n }

func (q *fifo) push(fn func()) {
	if q.n == len(q.ring) {
		bigger := make([]func(), max(2*q.n, 64))
		for i := range q.n {
			bigger[i] = q.ring[(q.head+i)%len(q.ring)]
		}
		q.ring, q.head = bigger, 0
	}
	q.ring[(q.head+q.n)%len(q.ring)] = fn
	q.n++
}

func (q *fifo) pop() (func(), bool) {
	if q.n == 0 {
		return nil, false
	}
	fn := q.ring[q.head]
	q.ring[q.head] = nil
	q.head = (q.head + 1) % len(q.ring)
	q.n--
	return fn, true
}
