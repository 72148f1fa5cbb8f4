package sqlite

import (
	"context"
	"errors"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// endingPause is the time between two tries to write behind a transaction of a caller, each of
// which waits for the file as long as any write does.
const endingPause = 20 * time.Millisecond

// AfterCommit implements driver.CommitWatcher. A transaction that writes keeps all others from
// writing, that of a step and one on a connection of the caller's alike. So it has ended when the
// store's next write comes to its turn; that one writes nothing and costs no sync of the disk.
func (h hints) AfterCommit(_ context.Context, _ journal.Tx, done func()) {
	s := h.s
	s.writer.mu.Lock()
	defer s.writer.mu.Unlock()
	if s.writer.closed { // Close has begun, or will wait
		return
	}
	s.endings.Go(func() {
		for {
			err := s.write(s.life, 0, func(*batch) error { return nil })
			if err == nil {
				done()
				return
			}
			if !errors.Is(err, journal.ErrUnavailable) {
				return
			}
			select {
			case <-s.life.Done():
				return
			case <-time.After(endingPause):
			}
		}
	})
}
