package api

import (
	"context"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// feed wakes streams when something tells of a change, and gives those that ask the same question
// one answer. It watches the journal while at least one stream is open. Not every change is told,
// so streams also ask by themselves: the feed makes them early and is never what makes them right.
//
// However many streams are open, the store is asked little. While nothing happens, all questions
// together are asked about once in Options.Poll, those about nodes, pauses and the audit more
// seldom. When something does, each question is asked once, and not again for a moment.
type feed struct {
	j    *driver.Journal
	poll time.Duration

	mu      sync.Mutex
	readers map[*reader]bool
	lists   map[string]int // how many readers have a list, by its name
	runs    map[journal.RunID]int
	stop    context.CancelFunc // ends the watch; nil without readers
	told    [subjects]uint64   // how often something told of a change
	answers map[string]*answer
}

// subject is what a question is about.
type subject int

const (
	aboutRuns subject = iota
	aboutFleet
	aboutAudit
	subjects
)

// reader is a stream that waits for changes.
type reader struct {
	run  journal.RunID // zero for a stream of all
	list string        // what a stream of all lists
	wake chan struct{} // has room for one: what wakes a reader twice before it looks is one look
}

func newFeed(j *driver.Journal, poll time.Duration) *feed {
	return &feed{j: j, poll: poll, readers: map[*reader]bool{}, lists: map[string]int{}, runs: map[journal.RunID]int{}, answers: map[string]*answer{}}
}

// join adds a reader of a run, or of a list, and begins to watch for the first one. It must be
// called before the reader looks for the first time, or a change in between would wait for the next
// poll.
func (f *feed) join(run journal.RunID, list string) *reader {
	r := &reader{run: run, list: list, wake: make(chan struct{}, 1)}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.readers[r] = true
	if run.IsZero() {
		f.lists[list]++
	} else {
		f.runs[run]++
	}
	if f.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		unlisten := f.j.Changes(f.changed)
		f.stop = func() {
			unlisten()
			stop()
		}
		go func() { _ = f.j.Watch(ctx, f.hint) }() // readers poll if it ends early
	}
	return r
}

// leave ends the watch with the last reader.
func (f *feed) leave(r *reader) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.readers, r)
	if r.run.IsZero() {
		less(f.lists, r.list)
	} else {
		less(f.runs, r.run)
	}
	if len(f.readers) == 0 {
		f.stop()
		f.stop = nil
		clear(f.answers)
	}
}

func less[K comparable](counts map[K]int, k K) {
	if counts[k]--; counts[k] == 0 {
		delete(counts, k)
	}
}

// hint is called by whoever writes, so it must not wait.
func (f *feed) hint(h driver.Hint) {
	switch h.Kind {
	case driver.HintScan:
		f.tell(journal.RunID{}, aboutRuns, aboutFleet, aboutAudit)
	case driver.HintNode:
		f.tell(journal.RunID{}, aboutFleet)
	default:
		f.tell(h.Run, aboutRuns)
	}
}

// changed hears of what this process does, of which hints tell a part only.
func (f *feed) changed(c driver.Change) {
	switch {
	case c.Operator && c.Run.IsZero():
		f.tell(c.Run, aboutFleet, aboutAudit)
	case c.Operator:
		f.tell(c.Run, aboutRuns, aboutAudit)
	default:
		f.tell(c.Run, aboutRuns)
	}
}

// tell wakes the readers of a run, those of all runs if it is zero, and those of lists.
func (f *feed) tell(run journal.RunID, about ...subject) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range about {
		f.told[s]++
	}
	for r := range f.readers {
		if run.IsZero() || r.run.IsZero() || r.run == run {
			r.again()
		}
	}
}

// again makes a reader look once more.
func (r *reader) again() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// pace is how often a reader looks: at least every so often, and never sooner than after a gap. It
// depends on how many different questions there are, so that all of them together cost the same.
func (f *feed) pace() (gap, every time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.paceLocked()
}

func (f *feed) paceLocked() (gap, every time.Duration) {
	questions := time.Duration(max(1, len(f.lists)+min(1, len(f.runs))))
	return min(f.poll/gapShare, max(gapMax, questions*gapEach)), questions * f.poll
}
