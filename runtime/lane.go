package runtime

import "sync"

// lane is group commit: it writes one batch at a time, and whatever arrives meanwhile forms the next one. An idle lane
// writes at once and costs no goroutine. Calls keep their order.
//
// It is generic because commits, starts, messages and loads are gathered the same way; it never looks inside.
type lane[In, Out any] struct {
	max   int
	write func(batch []In) []Out // blocks; answers each member

	mu      sync.Mutex
	waiting []call[In, Out]
	busy    bool
	idle    sync.WaitGroup // done while not busy
}

type call[In, Out any] struct {
	in   In
	done func(Out)
}

func newLane[In, Out any](max int, write func([]In) []Out) *lane[In, Out] {
	return &lane[In, Out]{max: max, write: write}
}

// add never blocks. done is called on the lane's goroutine and must be quick.
func (l *lane[In, Out]) add(in In, done func(Out)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, call[In, Out]{in, done})
	if !l.busy {
		l.busy = true
		l.idle.Add(1)
		go l.run()
	}
}

func (l *lane[In, Out]) run() {
	defer l.idle.Done()
	for {
		batch := l.take()
		if batch == nil {
			return
		}
		in := make([]In, len(batch))
		for i := range batch {
			in[i] = batch[i].in
		}
		for i, out := range l.write(in) {
			batch[i].done(out)
		}
	}
}

func (l *lane[In, Out]) take() []call[In, Out] {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(l.waiting), l.max)
	if n == 0 {
		l.busy, l.waiting = false, nil
		return nil
	}
	batch := l.waiting[:n:n]
	l.waiting = l.waiting[n:]
	return batch
}

// wait returns when everything added before has been written.
func (l *lane[In, Out]) wait() { l.idle.Wait() }
