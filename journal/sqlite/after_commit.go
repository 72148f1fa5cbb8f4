package sqlite

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
)

const (
	// endingPause is the time between two tries to write behind a transaction of a caller, each of
	// which waits for the file as long as any write does.
	endingPause = 20 * time.Millisecond
	// endingsMax is how many calls in transactions of callers are announced at once. A claim that
	// the first ones cause finds more.
	endingsMax = 1_000
)

// endings are calls in transactions of callers that wait to be announced. While there are any, one
// loop runs.
type endings struct {
	loops   sync.WaitGroup
	waiting []func() // guarded by the writer's mu, as is runs
	runs    bool
}

// AfterCommit implements driver.CommitWatcher. A transaction that writes keeps all others from
// writing, that of a step and one on a connection of the caller's alike. So it has ended when a
// write of the store that is asked for now comes to its turn; that one writes nothing and costs no
// sync of the disk.
func (h hints) AfterCommit(_ context.Context, _ journal.Tx, done func()) {
	s, e := h.s, &h.s.endings
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	if s.writer.closed || len(e.waiting) >= endingsMax { // Close has begun, or will wait
		return
	}
	if e.waiting = append(e.waiting, done); !e.runs {
		e.runs = true
		e.loops.Go(s.announce)
	}
}

// announce makes one write for all calls that wait before it begins, until none does.
func (s *Store) announce() {
	for {
		waiting := s.takeEndings()
		if len(waiting) == 0 {
			return
		}
		for errors.Is(s.write(s.life, 0, func(*batch) error { return nil }), journal.ErrUnavailable) {
			select {
			case <-s.life.Done():
			case <-time.After(endingPause):
			}
		}
		if s.life.Err() != nil {
			return
		}
		for _, done := range waiting {
			done()
		}
	}
}

// takeEndings returns the calls that wait. The loop ends if there are none.
func (s *Store) takeEndings() []func() {
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	waiting := s.endings.waiting
	s.endings.waiting, s.endings.runs = nil, len(waiting) > 0
	return waiting
}
