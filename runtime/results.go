package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// results resolves everyone in the process who waits for a run to end, or to answer an update. Hints wake it, and a poll of
// all waiting runs at once is correct alone. It costs a goroutine only while somebody waits.
type results struct {
	j     *journal.Journal
	every time.Duration // between polls
	fed   bool          // a node's watch loop passes hints on, so no watch of its own is needed
	mu    sync.Mutex
	waits map[journal.RunID][]*wait
	ask   map[journal.RunID]bool // to be read at the next occasion
	nudge chan struct{}
	stop  context.CancelFunc // of the loop; nil while nobody waits
	told  time.Time          // when other processes last heard that this one waits

	recent map[journal.RunID]*journal.Event // runs closed in this process lately; nil for one whose output is large
	order  []journal.RunID
}

type wait struct {
	answer chan answer
	local  bool
	update journal.InboxSeq // whose answer is waited for; 0 for the end of the run
}

type answer struct {
	terminal *journal.Event
	reply    *journal.Answer
	err      error
}

func newResults(j *journal.Journal, every time.Duration, fed bool) *results {
	return &results{
		j: j, every: every, fed: fed, waits: map[journal.RunID][]*wait{}, ask: map[journal.RunID]bool{},
		nudge: make(chan struct{}, 1), recent: map[journal.RunID]*journal.Event{},
	}
}

// await returns the terminal event of the run. If local, its end is announced inside the process, so there is no need
// to look before the first poll.
func (r *results) await(ctx context.Context, run journal.RunID, local bool) (*journal.Event, error) {
	w := &wait{answer: make(chan answer, 1), local: local}
	if ev := r.register(run, w); ev != nil {
		return ev, nil
	}
	a, err := r.receive(ctx, run, w)
	return a.terminal, err
}

// awaitReply returns the answer to an update. It is read at once, because it may have been given before.
func (r *results) awaitReply(ctx context.Context, run journal.RunID, update journal.InboxSeq) (*journal.Answer, error) {
	w := &wait{answer: make(chan answer, 1), update: update}
	r.register(run, w)
	a, err := r.receive(ctx, run, w)
	return a.reply, err
}

func (r *results) receive(ctx context.Context, run journal.RunID, w *wait) (answer, error) {
	select {
	case a := <-w.answer:
		return a, a.err
	case <-ctx.Done():
		r.forget(run, w)
		return answer{}, ctx.Err()
	}
}

func (r *results) register(run journal.RunID, w *wait) *journal.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.update == 0 {
		ev, closed := r.recent[run]
		if ev != nil {
			return ev
		}
		if closed {
			w.local = false // its end was announced already
		}
	}
	r.waits[run] = append(r.waits[run], w)
	if !w.local {
		r.ask[run] = true
		r.poke()
		r.announce()
	}
	if r.stop == nil {
		ctx, cancel := context.WithCancel(context.Background())
		r.stop = cancel
		go r.loop(ctx)
	}
	return nil
}

// announce tells other processes that their closures are of interest here. The caller holds the lock.
func (r *results) announce() {
	if time.Since(r.told) >= journal.WaiterInterval {
		r.told = time.Now()
		r.j.AnnounceWaiter()
	}
}

// poke makes the loop read what is asked. The caller holds the lock.
func (r *results) poke() {
	select {
	case r.nudge <- struct{}{}:
	default:
	}
}

func (r *results) forget(run journal.RunID, w *wait) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.waits[run]
	for i := range list {
		if list[i] == w {
			r.waits[run] = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	if len(r.waits[run]) == 0 {
		r.drop(run)
	}
}

// drop forgets a run nobody waits for; the last one ends the loop. The caller holds the lock.
func (r *results) drop(run journal.RunID) {
	delete(r.waits, run)
	delete(r.ask, run)
	if len(r.waits) == 0 && r.stop != nil {
		r.stop()
		r.stop = nil
	}
}

// resolve answers who waits for an update of a run, or with 0 for its end.
func (r *results) resolve(run journal.RunID, update journal.InboxSeq, a answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	list, ok := r.waits[run]
	if !ok {
		return
	}
	r.waits[run] = slices.DeleteFunc(list, func(w *wait) bool {
		if w.update != update {
			return false
		}
		w.answer <- a
		return true
	})
	if len(r.waits[run]) == 0 {
		r.drop(run)
	}
}

// closed takes a hint that a run was closed, or has answered an update.
func (r *results) closed(h journal.Hint) {
	if h.Terminal != nil {
		r.remember(h.Run, h.Terminal)
		r.resolve(h.Run, 0, answer{terminal: h.Terminal})
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waits[h.Run] != nil {
		r.ask[h.Run] = true
		r.poke()
	}
}

// remember keeps a closure that happened in this process for whoever asks a little late.
func (r *results) remember(run journal.RunID, terminal *journal.Event) {
	if !r.fed {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.order) >= recentMax {
		delete(r.recent, r.order[0])
		r.order = r.order[1:]
	}
	if len(terminal.Payload.Data) > recentBytesMax {
		terminal = nil
	}
	r.recent[run] = terminal
	r.order = append(r.order, run)
}

// scan makes the loop read every waiting run: hints were lost, or might have been.
func (r *results) scan() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for run, list := range r.waits {
		r.ask[run] = true
		if slices.ContainsFunc(list, func(w *wait) bool { return !w.local }) {
			r.announce()
		}
	}
	if len(r.waits) > 0 {
		r.poke()
	}
}

// loop reads what is asked at once, and everything at every poll, until nobody waits.
func (r *results) loop(ctx context.Context) {
	if !r.fed {
		var watching sync.WaitGroup
		defer watching.Wait()
		watching.Add(1)
		go func() {
			defer watching.Done()
			_ = r.j.Watch(ctx, r.hint) // without hints the poll goes on
		}()
	}
	poll := time.NewTicker(r.every)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.nudge:
		case <-poll.C:
			r.scan()
		}
		r.read(ctx)
	}
}

func (r *results) hint(h journal.Hint) {
	switch h.Kind {
	case journal.HintClosed:
		r.closed(h)
	case journal.HintScan:
		r.scan()
	}
}

// read asks the store about the runs in question, many at once.
func (r *results) read(ctx context.Context) {
	for {
		ids, updates := r.asked()
		if len(ids)+len(updates) == 0 {
			return
		}
		if err := errors.Join(r.readEnds(ctx, ids), r.readReplies(ctx, updates)); err != nil {
			for i := range updates {
				ids = append(ids, updates[i].Run)
			}
			r.again(ids, ctx.Err() != nil)
			return
		}
	}
}

func (r *results) readEnds(ctx context.Context, ids []journal.RunID) error {
	if len(ids) == 0 {
		return nil
	}
	page, err := r.j.List(ctx, journal.ListFilter{IDs: ids, Limit: journal.ListMax})
	if err != nil {
		return err
	}
	found := map[journal.RunID]bool{}
	for i := range page.Runs {
		run := &page.Runs[i]
		found[run.ID] = true
		if run.Status.Closed() && run.Terminal != nil {
			r.resolve(run.ID, 0, answer{terminal: run.Terminal})
		}
	}
	for _, id := range ids {
		if !found[id] {
			r.resolve(id, 0, answer{err: fmt.Errorf("run %s: %w", id, journal.ErrNotFound)})
		}
	}
	return nil
}

// readReplies resolves every update that has its answer, or will not get one.
func (r *results) readReplies(ctx context.Context, updates []journal.LoadRequest) error {
	if len(updates) == 0 {
		return nil
	}
	histories, err := r.j.Load(ctx, updates)
	if err != nil {
		return err
	}
	for i := range histories {
		h, q := &histories[i], &updates[i]
		switch {
		case h.Err != nil:
			r.resolve(q.Run, q.Answer, answer{err: fmt.Errorf("run %s: %w", q.Run, h.Err)})
		case h.Answer != nil:
			r.resolve(q.Run, q.Answer, answer{reply: h.Answer})
		case h.Run.Status.Closed():
			r.resolve(q.Run, q.Answer, answer{err: unanswered(&h.Run)})
		case h.Run.Task != nil && h.Run.Task.State != journal.Ready:
			t := h.Run.Task
			r.resolve(q.Run, q.Answer, answer{err: fmt.Errorf("run %s is %s: %w: %s", q.Run, t.State, ErrBlocked, t.Problem)})
		}
	}
	return nil
}

// again leaves what could not be read to the next poll, or to the next loop if this one has ended.
func (r *results) again(ids []journal.RunID, ended bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		if r.waits[id] != nil {
			r.ask[id] = true
		}
	}
	if ended {
		r.poke()
	}
}

// asked returns the runs in question: those that somebody waits for the end of, and the updates, each once.
func (r *results) asked() (ids []journal.RunID, updates []journal.LoadRequest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.ask {
		if len(ids) == journal.ListMax || len(updates) >= journal.ListMax {
			break
		}
		delete(r.ask, id)
		end, seen := false, map[journal.InboxSeq]bool{}
		for _, w := range r.waits[id] {
			if w.update == 0 {
				end = true
			} else if !seen[w.update] {
				seen[w.update] = true
				updates = append(updates, journal.LoadRequest{Run: id, Answer: w.update})
			}
		}
		if end {
			ids = append(ids, id)
		}
	}
	return ids, updates
}
