package actor

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/reprise-run/reprise/internal/list"
	"github.com/reprise-run/reprise/journal"
)

// slots are the places of a node for step bodies, and the queue of attempts that wait for one. An
// attempt has no goroutine, and no worker, before it has a slot.
//
// # Order
//
// Attempts wait in lines, one for each run. A slot that becomes free goes to the most urgent
// priority that waits; within a priority the lines take turns; within a line the oldest attempt is
// first. So a run with five thousand steps gets as many slots as a run with two, as long as both
// wait. Every eighth slot goes to the priority that has gone without one for longest, so a low
// priority never starves: with n lines of its priority a run begins an attempt at the latest with
// every 40·n-th slot, 40 being eight times the five priorities.
//
// # State
//
// free is the number of slots that nobody has, queued the number of attempts in lines. Whenever mu
// is free,
//
//	free = 0, or queued = 0, or somebody who has changed one of the two has yet to look at the other
//
// so no attempt waits while a slot is free. take adds to queued, then looks at free; put adds to
// free, then looks at queued. Both are atomic, so of two that happen at once at least one sees the
// other, and takes mu to hand slots out. As long as nobody waits, take and put are one atomic
// operation each and mu is not touched.
//
// An attempt is in a line, or has begun, never both: mu decides, and began says which. Whoever
// removes an attempt from its line under mu, by a grant or by withdraw, is the only one who does.
// So an attempt that its run withdraws, or whose context ends, begins later under no circumstances,
// and one that has begun is not withdrawn.
type slots struct {
	size  int64
	begin func(*attempt) // executes an attempt that has a slot; must not block
	over  func(*attempt) // answers for an attempt whose context has ended in the line

	free   atomic.Int64
	queued atomic.Int64
	ended  atomic.Int64 // slots that were given back so far

	// stalled counts the lines whose runs have no slot, as far as the lines know: a slot that was
	// taken without waiting belongs to none. It is for System.Room, which may be a little wrong.
	stalled atomic.Int64

	mu     sync.Mutex
	lines  map[journal.RunID]*line
	levels [journal.PriorityMax + 1]level
	grants uint64 // slots that the queue has handed out
}

// level is one priority.
type level struct {
	lines  list.List[line] // that have attempts, whose turn is next first
	served uint64          // the number of the grant that this level got last, or at which it came to wait
}

// line is what waits of one run, and how many slots the run got by waiting. It exists while either
// is not nothing.
type line struct {
	run      journal.RunID
	level    *level
	node     list.Node[line] // in level.lines, while attempts wait
	attempts list.List[attempt]
	slots    int
}

// levelShare is one of how many slots goes to the priority that has waited for longest.
const levelShare = 8

func newSlots(size int, begin, over func(*attempt)) *slots {
	s := &slots{size: int64(size), begin: begin, over: over, lines: map[journal.RunID]*line{}}
	s.free.Store(s.size)
	return s
}

// take gives the attempt a slot, and begins it, or puts it into its line.
func (s *slots) take(a *attempt) {
	if s.queued.Load() == 0 && s.takeFree() {
		a.began.Store(true)
		s.begin(a)
		return
	}
	s.beginAll(s.queue(a))
}

// queue puts an attempt into its line, and returns those that get a slot.
func (s *slots) queue(a *attempt) (granted []*attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lineOf(a.run)
	s.count(l, -1)
	if l.attempts.Empty() {
		if l.level.lines.Empty() {
			l.level.served = s.grants
		}
		l.level.lines.PushBack(&l.node, l)
	}
	l.attempts.PushBack(&a.node, a)
	a.line = l
	s.count(l, 1)
	s.queued.Add(1)
	a.unwatch = context.AfterFunc(a.ctx, func() {
		if s.withdraw(a) {
			s.over(a)
		}
	})
	return s.grant()
}

// put gives the slot of an attempt back. It must be called once for each attempt that has begun.
func (s *slots) put(a *attempt) {
	s.ended.Add(1)
	s.free.Add(1)
	if a.line == nil && s.queued.Load() == 0 {
		return
	}
	s.beginAll(s.regrant(a))
}

// regrant takes note of the slot that an attempt gave back, and returns those that get one.
func (s *slots) regrant(a *attempt) (granted []*attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := a.line; l != nil {
		s.count(l, -1)
		l.slots--
		s.count(l, 1)
		s.forget(l)
	}
	return s.grant()
}

// withdraw takes an attempt out of its line, and tells whether it was there. If so it will not
// begin, and nobody answers for it but the caller.
func (s *slots) withdraw(a *attempt) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !a.node.Linked() {
		return false
	}
	s.leave(a)
	s.forget(a.line)
	return true
}

// grant hands free slots to attempts that wait, and returns those that got one. The caller holds
// the lock, and begins them without it.
func (s *slots) grant() (granted []*attempt) {
	for s.queued.Load() > 0 && s.takeFree() {
		s.grants++
		level := s.next()
		level.served = s.grants
		l := level.lines.First()
		a := l.attempts.First()
		s.leave(a)
		s.count(l, -1)
		l.slots++
		s.count(l, 1)
		if l.node.Linked() { // the next turn is another line's
			level.lines.Remove(&l.node)
			level.lines.PushBack(&l.node, l)
		}
		a.began.Store(true)
		granted = append(granted, a)
	}
	return granted
}

// next chooses the priority that gets the next slot. One must wait.
func (s *slots) next() (best *level) {
	byAge := s.grants%levelShare == 0
	for i := range s.levels {
		l := &s.levels[i]
		if l.lines.Empty() {
			continue
		}
		if best == nil || byAge && l.served < best.served {
			best = l
		}
	}
	return best
}

// leave takes an attempt out of its line. The caller holds the lock.
func (s *slots) leave(a *attempt) {
	l := a.line
	s.count(l, -1)
	l.attempts.Remove(&a.node)
	s.queued.Add(-1)
	a.unwatch()
	if l.attempts.Empty() {
		l.level.lines.Remove(&l.node)
	}
	s.count(l, 1)
}

// lineOf returns the line of a run.
func (s *slots) lineOf(run *journal.Run) *line {
	l := s.lines[run.ID]
	if l == nil {
		l = &line{run: run.ID, level: s.levelOf(run.Priority)}
		s.lines[run.ID] = l
	}
	return l
}

// levelOf returns the level of a priority. One that is not known waits with the least urgent: the
// number comes from a row, which a newer release or a hand may have written.
func (s *slots) levelOf(priority int16) *level {
	if priority < journal.PriorityMin || priority > journal.PriorityMax {
		priority = journal.PriorityMax
	}
	return &s.levels[priority]
}

// forget drops a line that says nothing any more.
func (s *slots) forget(l *line) {
	if l.attempts.Empty() && l.slots == 0 {
		delete(s.lines, l.run)
	}
}

// count adds a line to the stalled ones, or takes it out, if it is one. It is called before and
// after each change.
func (s *slots) count(l *line, by int64) {
	if l.slots == 0 && !l.attempts.Empty() {
		s.stalled.Add(by)
	}
}

func (s *slots) takeFree() bool {
	for n := s.free.Load(); n > 0; n = s.free.Load() {
		if s.free.CompareAndSwap(n, n-1) {
			return true
		}
	}
	return false
}

func (s *slots) beginAll(granted []*attempt) {
	for _, a := range granted {
		s.begin(a)
	}
}
