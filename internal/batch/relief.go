package batch

import "time"

// patience is how long calls wait behind a write before another writer takes them. It is far above
// what a write takes on a store that is well.
const patience = 250 * time.Millisecond

// relievedMax bounds the writes of one Batcher that take long. Each has a connection of the store.
const relievedMax = 3

// setWatch sets the timer, unless it is set. The caller holds the lock.
func (b *Batcher[In, Out]) setWatch() {
	if b.watching {
		return
	}
	b.watching, b.watched = true, b.turn
	if b.watch == nil {
		b.watch = time.AfterFunc(patience, b.look)
		return
	}
	b.watch.Reset(patience)
}

// look relieves the writer if it still writes the batch of the last look and calls wait.
func (b *Batcher[In, Out]) look() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watching = false
	if !b.busy || !b.waits() {
		return
	}
	if b.writing && b.turn == b.watched && b.relieved < relievedMax {
		b.relieved++
		b.turn++
		b.writing = false
		b.idle.Add(1)
		go b.spawn(b) // which may not be called under the lock
	}
	b.setWatch()
}

// wasRelieved tells a writer that is done with a batch whether another one is responsible now. The
// caller holds the lock.
func (b *Batcher[In, Out]) wasRelieved(batch *calls[In, Out]) bool {
	if batch.turn == 0 || batch.turn == b.turn {
		return false
	}
	b.relieved--
	b.idle.Done()
	return true
}
