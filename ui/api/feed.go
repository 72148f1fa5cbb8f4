package api

import (
	"context"
	"sync"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// feed wakes streams when a hint tells of something that they show. It watches the journal while at
// least one stream is open. A hint may be lost, and many changes have none, so a stream also looks
// by itself: the feed makes it early and is never what makes it right.
type feed struct {
	j *driver.Journal

	mu      sync.Mutex
	readers map[*reader]bool
	stop    context.CancelFunc // ends the watch; nil without readers
}

// reader is a stream that waits for hints.
type reader struct {
	run  journal.RunID // zero for a stream of all
	wake chan struct{} // has room for one: what wakes a reader twice before it looks is one look
}

func newFeed(j *driver.Journal) *feed { return &feed{j: j, readers: map[*reader]bool{}} }

// join adds a reader, and begins to watch for the first one. It must be called before the reader
// looks for the first time, or a change in between would wait for the next poll.
func (f *feed) join(run journal.RunID) *reader {
	r := &reader{run: run, wake: make(chan struct{}, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readers[r] = true
	if f.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		f.stop = stop
		go func() { _ = f.j.Watch(ctx, f.hint) }() // readers poll if it ends early
	}
	return r
}

// leave ends the watch with the last reader.
func (f *feed) leave(r *reader) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.readers, r)
	if len(f.readers) == 0 {
		f.stop()
		f.stop = nil
	}
}

// hint is called by whoever writes, so it must not wait.
func (f *feed) hint(h driver.Hint) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for r := range f.readers {
		if h.Kind == driver.HintScan || r.run.IsZero() || r.run == h.Run {
			select {
			case r.wake <- struct{}{}:
			default:
			}
		}
	}
}
