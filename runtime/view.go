package runtime

import (
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// views are the machines that answer queries. While the node runs, some are kept for a while after their last query; else only as long
// as somebody uses them. Queries of one run at the same time share one, and one replay.
type views struct {
	mu     sync.Mutex
	keep   bool
	byRun  map[journal.RunID]*view
	clock  uint64
	sweeps *time.Timer // nil while nothing is kept
	swept  uint64      // clock at the last sweep
}

func (s *views) take(run journal.RunID) *view {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.byRun[run]
	if v == nil {
		v = &view{run: run, turn: make(chan struct{}, 1)}
		if s.byRun == nil {
			s.byRun = map[journal.RunID]*view{}
		}
		s.byRun[run] = v
	}
	v.users++
	return v
}

func (s *views) give(v *view) { end(s.given(v)) }

// given returns the views that are to be ended.
func (s *views) given(v *view) []*view {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock++
	v.age = s.clock
	if v.users--; v.users > 0 {
		return nil
	}
	if !s.keep || !v.fits {
		delete(s.byRun, v.run)
		return []*view{v}
	}
	if s.sweeps == nil {
		s.swept = s.clock - 1
		s.sweeps = time.AfterFunc(viewIdle, s.sweep)
	}
	return s.excess()
}

// end closes the machines of views that nobody can take any more. It runs deferred calls of workflow code, so no lock is held.
func end(list []*view) {
	for _, v := range list {
		v.reset()
	}
}

// excess takes out the idle views that were used longest ago, as long as there are too many. The caller holds the lock.
func (s *views) excess() (list []*view) {
	for len(s.byRun) > viewsMax {
		var oldest *view
		for _, v := range s.byRun {
			if v.users == 0 && (oldest == nil || v.age < oldest.age) {
				oldest = v
			}
		}
		if oldest == nil {
			break
		}
		delete(s.byRun, oldest.run)
		list = append(list, oldest)
	}
	return list
}

// idle takes out the views that nobody uses, and nobody has used since the clock was at. The caller holds the lock.
func (s *views) idle(at uint64) (list []*view) {
	for _, v := range s.byRun {
		if v.users == 0 && v.age <= at {
			delete(s.byRun, v.run)
			list = append(list, v)
		}
	}
	return list
}

// sweep ends the views that were not used since the last sweep.
func (s *views) sweep() {
	s.mu.Lock()
	list := s.idle(s.swept)
	s.swept, s.sweeps = s.clock, nil
	if s.keep && len(s.byRun) > 0 {
		s.sweeps = time.AfterFunc(viewIdle, s.sweep)
	}
	s.mu.Unlock()
	end(list)
}

// open begins to keep views.
func (s *views) open() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep = true
}

// close ends what is kept.
func (s *views) close() {
	s.mu.Lock()
	s.keep = false
	if s.sweeps != nil {
		s.sweeps.Stop()
		s.sweeps = nil
	}
	list := s.idle(s.clock)
	s.mu.Unlock()
	end(list)
}
