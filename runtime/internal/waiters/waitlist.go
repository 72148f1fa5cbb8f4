package waiters

import (
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// waitlist holds the waiters and what is to be read for them. [Waiters] says which order of events
// it guards against. Its mutex is a leaf: it is not held while the store is called.
type waitlist struct {
	announce func() // tells other processes that this one waits

	mu          sync.Mutex
	hintsPushed bool // every hint of the process comes to hint
	waiting     map[journal.RunID][]*waiter
	toRead      map[journal.RunID]bool      // read when the loop next wakes; only runs in waiting
	stateAt     map[journal.RunID]time.Time // when the state of a run was last asked for
	wake        chan struct{}               // has one element while toRead or scan holds something new
	scan        bool                        // hints were lost
	stop        context.CancelFunc          // ends the loop; nil while nobody waits
	announcedAt time.Time                   // when other processes were last told
	reads       int                         // that have begun
	recent      recent
}

// waiter is one caller. It is resolved at most once: whoever resolves it has removed it from the
// list.
type waiter struct {
	resolved chan resolution  // has room for the one resolution, so that resolving never blocks
	local    bool             // the end is announced inside the process: no read before the first poll
	update   journal.InboxSeq // the update whose answer is waited for; 0 for the end of the run
	ask      bool             // the reader is to look at the state of the run
	held     error            // why the run does not end for now, as of the last look at its state
	since    int              // reads that had begun when it registered: they tell it nothing
}

// stateBefore is how long before its deadline a waiter looks at the state of the run.
const stateBefore = 500 * time.Millisecond

// stateFresh is how long an answer about the state of a run serves all who wait for its end. The
// answer goes to everybody who waits when it comes, so who asks then has it, or gets it.
const stateFresh = stateBefore / 5

// resolution is what a waiter gets: the terminal event, the answer, or an error.
type resolution struct {
	terminal *journal.Event
	reply    *journal.Answer
	err      error
}

// add adds a waiter. If it is the first one, it returns the context of a loop that the caller has
// to start. For the end of a run that closed in this process a moment ago it adds nothing and
// returns the terminal event.
func (l *waitlist) add(run journal.RunID, wt *waiter) (loop context.Context, terminal *journal.Event) {
	loop, terminal, silent := l.register(run, wt)
	if silent {
		l.announce()
	}
	return loop, terminal
}

// register is add, but for the announcement: silent says that it is due.
func (l *waitlist) register(run journal.RunID, wt *waiter) (loop context.Context, terminal *journal.Event, silent bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if wt.update == 0 {
		ev, closed := l.recent.find(run)
		if ev != nil {
			return nil, ev, false
		}
		if closed {
			wt.local = false // its end was announced before: no further hint will come
		}
	}
	wt.local = wt.local && l.hintsPushed
	wt.since = l.reads
	l.waiting[run] = append(l.waiting[run], wt)
	if !wt.local {
		l.toRead[run] = true
		l.wakeLoop()
		silent = l.announcementDue()
	}
	if l.stop == nil {
		loop, l.stop = context.WithCancel(context.Background())
	}
	return loop, nil, silent
}

// setPushed says whether hints are pushed from now on. When they are not any more, some may have
// been missed, and the loop watches the journal itself: everybody is read, those too whose end
// would have been announced here.
func (l *waitlist) setPushed(pushed bool) {
	l.mu.Lock()
	was := l.hintsPushed
	l.hintsPushed = pushed
	if was && !pushed {
		for _, list := range l.waiting {
			for _, wt := range list {
				wt.local = false
			}
		}
	}
	l.mu.Unlock()
	if was && !pushed {
		l.readAll()
	}
}

// pushed tells whether hints are pushed.
func (l *waitlist) pushed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hintsPushed
}

// announcementDue tells whether the caller, who holds the mutex, is to call announce without it:
// other processes keep hints about runs that close to themselves while nobody asks, and may answer
// with one before announce returns.
func (l *waitlist) announcementDue() bool {
	if time.Since(l.announcedAt) < driver.WaiterInterval {
		return false
	}
	l.announcedAt = time.Now()
	return true
}

// wakeLoop makes the loop read what is in toRead. The caller holds the mutex.
func (l *waitlist) wakeLoop() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// askState makes the loop look at the state of a run, unless it looked a moment ago for another
// waiter: deadlines of many often come together.
func (l *waitlist) askState(run journal.RunID, wt *waiter) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting[run] == nil || time.Since(l.stateAt[run]) < stateFresh {
		return
	}
	if l.stateAt == nil {
		l.stateAt = map[journal.RunID]time.Time{}
	}
	l.stateAt[run] = time.Now()
	wt.ask, l.toRead[run] = true, true
	l.wakeLoop()
}

// noteState notes why a run does not end for now, nil for no reason.
func (l *waitlist) noteState(run journal.RunID, held error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, wt := range l.waiting[run] {
		wt.held = held
	}
}

// forget removes a waiter whose caller gave up, and returns why the run does not end for now, as
// far as that is known.
func (l *waitlist) forget(run journal.RunID, wt *waiter) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := l.waiting[run]
	for i := range list {
		if list[i] == wt {
			l.waiting[run] = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	if len(l.waiting[run]) == 0 {
		l.remove(run)
	}
	return wt.held
}

// remove forgets a run that nobody waits for; the last one ends the loop. The caller holds the
// mutex.
func (l *waitlist) remove(run journal.RunID) {
	delete(l.waiting, run)
	delete(l.toRead, run)
	delete(l.stateAt, run)
	if len(l.waiting) == 0 && l.stop != nil {
		l.stop()
		l.stop = nil
	}
}

// announced gives everybody who waits for the end of a run the end that was announced, unless it is
// that of a generation that this client has left behind: who waits has asked for another one.
func (l *waitlist) announced(run journal.RunID, terminal *journal.Event, g journal.Generation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	// Where hints are not pushed only part of them is seen, and the next end may be missed.
	if l.recent.add(run, terminal, g, l.hintsPushed) {
		l.resolve(run, 0, math.MaxInt, resolution{terminal: terminal})
	}
}

// found gives what a read has found to everybody who waits for this update of the run, or for its
// end if update is 0, and registered before the read began.
func (l *waitlist) found(read int, run journal.RunID, update journal.InboxSeq, res resolution) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resolve(run, update, read, res)
}

// goesOn drops what is remembered of the end of a run that goes on behind a generation.
func (l *waitlist) goesOn(run journal.RunID, g journal.Generation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recent.leave(run, g)
}

// resolve resolves those who wait for an update, or for the end, since before a read. The caller
// holds the mutex.
func (l *waitlist) resolve(run journal.RunID, update journal.InboxSeq, read int, res resolution) {
	list, ok := l.waiting[run]
	if !ok {
		return
	}
	left := slices.DeleteFunc(list, func(wt *waiter) bool {
		if wt.update != update || wt.since >= read {
			return false
		}
		wt.resolved <- res
		return true
	})
	switch len(left) {
	case 0:
		l.remove(run)
	case len(list):
	default:
		l.waiting[run] = left
	}
}

// resolveAll gives everybody who waits for anything of these runs the same resolution.
func (l *waitlist) resolveAll(runs []journal.RunID, res resolution) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, run := range runs {
		for _, wt := range l.waiting[run] {
			wt.resolved <- res
		}
		l.remove(run)
	}
}

// hint takes any hint of the journal: see Waiters.Hint.
func (l *waitlist) hint(h driver.Hint) {
	switch h.Kind {
	case driver.HintClosed:
		if h.Run.IsZero() {
			l.lost()
		} else {
			l.hintClosed(h)
		}
	case driver.HintScan:
		l.lost()
	}
}

// lost makes the loop read all waiting runs soon.
func (l *waitlist) lost() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.scan = true
	l.wakeLoop()
}

// takeScan tells whether hints were lost since it was last asked.
func (l *waitlist) takeScan() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	scan := l.scan
	l.scan = false
	return scan
}

// readAgain makes the loop read a run once more.
func (l *waitlist) readAgain(run journal.RunID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting[run] != nil {
		l.toRead[run] = true
	}
}

func (l *waitlist) hintClosed(h driver.Hint) {
	if h.Terminal != nil {
		l.announced(h.Run, h.Terminal, h.Generation)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting[h.Run] != nil { // for an update, or the hint came from another process
		l.toRead[h.Run] = true
		l.wakeLoop()
	}
}

// readAll puts every waiting run into toRead: hints were lost, or may have been.
func (l *waitlist) readAll() {
	if l.markAll() {
		l.announce()
	}
}

// markAll is readAll, but for the announcement: silent says that it is due.
func (l *waitlist) markAll() (silent bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for run, list := range l.waiting {
		l.toRead[run] = true
		if slices.ContainsFunc(list, func(wt *waiter) bool { return !wt.local }) {
			silent = silent || l.announcementDue()
		}
	}
	if len(l.waiting) > 0 {
		l.wakeLoop()
	}
	return silent
}

// putBack leaves what could not be read to the next poll. If this loop has ended there may be a
// newer one, whose wake signal this one took: it is woken again.
func (l *waitlist) putBack(ids []journal.RunID, ended bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		if l.waiting[id] != nil {
			l.toRead[id] = true
		}
	}
	if ended {
		l.wakeLoop()
	}
}

// takeToRead empties toRead, or as much of it as one call of the store may ask for: the runs whose
// end somebody waits for, and the updates that somebody waits for, each once. read is the number of
// the read that begins with it.
func (l *waitlist) takeToRead() (read int, ids []journal.RunID, updates []driver.LoadRequest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	for id := range l.toRead {
		if len(ids) == journal.ListMax || len(updates) >= journal.ListMax {
			break
		}
		delete(l.toRead, id)
		end, seen := false, map[journal.InboxSeq]bool{}
		for _, wt := range l.waiting[id] {
			if wt.ask && !seen[driver.StateOnly] {
				seen[driver.StateOnly] = true
				updates = append(updates, driver.LoadRequest{Run: id, Answer: driver.StateOnly})
			}
			wt.ask = false
			if wt.update == 0 {
				end = true
			} else if !seen[wt.update] {
				seen[wt.update] = true
				updates = append(updates, driver.LoadRequest{Run: id, Answer: wt.update})
			}
		}
		if end {
			ids = append(ids, id)
		}
	}
	return l.reads, ids, updates
}
