// Package waiters resolves callers who wait for a run to end or for the answer to an update.
package waiters

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Waiters is everybody in one client who waits for the end of a run or for the answer to an update.
//
// A waiter costs a channel and an entry in a map, never a connection or a goroutine. One loop
// serves them all, and exists only while somebody waits. It learns of an end in three ways. A hint
// from the same process carries the terminal event and resolves the waiter without a read. A hint
// from another process names the run, which is then read. And every poll reads all waiting runs, as
// many in one call as a list allows. The poll alone is correct; the hints only make the answer
// early.
//
// # Why no end is missed
//
// An end that is durable before [Waiters.AwaitEnd] is called can have no hint to come, so the run
// is put into toRead when its waiter registers, under the mutex that also guards the list of
// waiters. An end that becomes durable later finds the waiter in that list: the hint puts the run
// into toRead again, even if a read of it is under way and will answer "still open". toRead is
// emptied before the read begins, never after it, so a hint during a read causes another read.
//
// A waiter whose run is executed by this client's own node is local. Its end is announced inside
// the process, so it is not read before the first poll. An end that was announced between the start
// and the registration is found in [recent]. If the recent output was too large to keep, its entry
// without an event makes the waiter one that reads at once.
//
// # The loop's end
//
// The last waiter that leaves cancels the loop, under the mutex; the next one starts a new loop.
// The two may overlap, and share toRead and the wake channel: the ending loop may have taken from
// toRead what a new waiter put there, and its read fails because its context has ended. It puts
// such runs back and wakes whoever reads next.
type Waiters struct {
	j *journal.Journal
	o Options

	mu          sync.Mutex
	waiting     map[journal.RunID][]*waiter
	toRead      map[journal.RunID]bool // read when the loop next wakes; only runs in waiting
	wake        chan struct{}          // has one element while toRead holds something new
	stop        context.CancelFunc     // ends the loop; nil while nobody waits
	announcedAt time.Time              // when other processes were last told that this one waits
	recent      recent
}

// Options of Waiters.
type Options struct {
	// Poll is the time between two reads of every waiting run.
	Poll time.Duration
	// HintsPushed says that the owner calls Hint with every hint of the journal. Else the loop
	// watches the journal itself, while it exists.
	HintsPushed bool
	// Unanswered returns why an update of the run has no answer and gets none for now, nil if the
	// answer is still to come.
	Unanswered func(run *journal.Run) error
}

// waiter is one caller. It is resolved at most once: whoever resolves it has removed it from the
// list.
type waiter struct {
	resolved chan resolution  // has room for the one resolution, so that resolving never blocks
	local    bool             // the end is announced inside the process: no read before the first poll
	update   journal.InboxSeq // the update whose answer is waited for; 0 for the end of the run
}

// resolution is what a waiter gets: the terminal event, the answer, or an error.
type resolution struct {
	terminal *journal.Event
	reply    *journal.Answer
	err      error
}

// New returns Waiters without a goroutine.
func New(j *journal.Journal, o Options) *Waiters {
	return &Waiters{
		j: j, o: o, waiting: map[journal.RunID][]*waiter{}, toRead: map[journal.RunID]bool{},
		wake: make(chan struct{}, 1), recent: recent{events: map[journal.RunID]*journal.Event{}},
	}
}

// AwaitEnd returns the terminal event of the run, once it is durable. local says that this process
// executes the run, so that its end is announced here. Errors: journal.ErrNotFound, ctx's.
func (w *Waiters) AwaitEnd(ctx context.Context, run journal.RunID, local bool) (*journal.Event, error) {
	wt := &waiter{resolved: make(chan resolution, 1), local: local}
	if ev := w.register(run, wt); ev != nil {
		return ev, nil
	}
	res, err := w.receive(ctx, run, wt)
	return res.terminal, err
}

// AwaitReply returns the answer to an update. The answer may be durable already, so the run is read
// at once. Errors: journal.ErrNotFound, what Options.Unanswered returns, ctx's.
func (w *Waiters) AwaitReply(
	ctx context.Context, run journal.RunID, update journal.InboxSeq,
) (*journal.Answer, error) {
	wt := &waiter{resolved: make(chan resolution, 1), update: update}
	w.register(run, wt)
	res, err := w.receive(ctx, run, wt)
	return res.reply, err
}

func (w *Waiters) receive(ctx context.Context, run journal.RunID, wt *waiter) (resolution, error) {
	select {
	case res := <-wt.resolved:
		return res, res.err
	case <-ctx.Done():
		w.forget(run, wt)
		return resolution{}, ctx.Err()
	}
}

// register adds a waiter and starts the loop for the first one. For the end of a run that closed in
// this process a moment ago it returns the terminal event instead.
func (w *Waiters) register(run journal.RunID, wt *waiter) *journal.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	if wt.update == 0 {
		ev, closed := w.recent.find(run)
		if ev != nil {
			return ev
		}
		if closed {
			wt.local = false // its end was announced before: no further hint will come
		}
	}
	w.waiting[run] = append(w.waiting[run], wt)
	if !wt.local {
		w.toRead[run] = true
		w.wakeLoop()
		w.announce()
	}
	if w.stop == nil {
		ctx, cancel := context.WithCancel(context.Background())
		w.stop = cancel
		go w.loop(ctx)
	}
	return nil
}

// announce tells other processes to send hints about runs that close, which they keep to themselves
// while nobody asks. The caller holds the mutex.
func (w *Waiters) announce() {
	if time.Since(w.announcedAt) >= journal.WaiterInterval {
		w.announcedAt = time.Now()
		w.j.AnnounceWaiter()
	}
}

// wakeLoop makes the loop read what is in toRead. The caller holds the mutex.
func (w *Waiters) wakeLoop() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// forget removes a waiter whose caller gave up.
func (w *Waiters) forget(run journal.RunID, wt *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.waiting[run]
	for i := range list {
		if list[i] == wt {
			w.waiting[run] = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	if len(w.waiting[run]) == 0 {
		w.remove(run)
	}
}

// remove forgets a run that nobody waits for; the last one ends the loop. The caller holds the
// mutex.
func (w *Waiters) remove(run journal.RunID) {
	delete(w.waiting, run)
	delete(w.toRead, run)
	if len(w.waiting) == 0 && w.stop != nil {
		w.stop()
		w.stop = nil
	}
}

// resolve gives everybody who waits for this update of the run, or for its end if update is 0, the
// resolution.
func (w *Waiters) resolve(run journal.RunID, update journal.InboxSeq, res resolution) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list, ok := w.waiting[run]
	if !ok {
		return
	}
	w.waiting[run] = slices.DeleteFunc(list, func(wt *waiter) bool {
		if wt.update != update {
			return false
		}
		wt.resolved <- res
		return true
	})
	if len(w.waiting[run]) == 0 {
		w.remove(run)
	}
}

// Hint takes a hint of the journal: a run was closed or has answered an update, or hints may have
// been lost. It is quick and ignores hints of other kinds.
func (w *Waiters) Hint(h journal.Hint) {
	switch h.Kind {
	case journal.HintClosed:
		w.hintClosed(h)
	case journal.HintScan:
		w.readAll()
	}
}

func (w *Waiters) hintClosed(h journal.Hint) {
	if h.Terminal != nil {
		w.remember(h.Run, h.Terminal)
		w.resolve(h.Run, 0, resolution{terminal: h.Terminal})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting[h.Run] != nil { // for an update, or the hint came from another process
		w.toRead[h.Run] = true
		w.wakeLoop()
	}
}

// remember keeps a closure that happened in this process for callers who ask a little late. A loop
// that watches by itself sees only part of the hints, so nothing is kept then.
func (w *Waiters) remember(run journal.RunID, terminal *journal.Event) {
	if !w.o.HintsPushed {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.recent.add(run, terminal)
}

// readAll makes the loop read every waiting run: hints were lost, or may have been.
func (w *Waiters) readAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for run, list := range w.waiting {
		w.toRead[run] = true
		if slices.ContainsFunc(list, func(wt *waiter) bool { return !wt.local }) {
			w.announce()
		}
	}
	if len(w.waiting) > 0 {
		w.wakeLoop()
	}
}
