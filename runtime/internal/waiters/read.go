package waiters

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// The loop holds no lock while it reads, and resolves waiters one run at a time. So a slow store
// delays answers, but neither registrations nor the hints that resolve waiters without a read.
// An error of the store is nobody's result: the runs stay in toRead, and their waiters wait on,
// until the store answers or their own contexts end.

// loop reads what is in toRead whenever it is woken, and every waiting run at every poll, until ctx
// ends because nobody waits any more.
func (w *Waiters) loop(ctx context.Context) {
	if !w.o.HintsPushed {
		var watching sync.WaitGroup
		defer watching.Wait()
		watching.Add(1)
		go func() {
			defer watching.Done()
			_ = w.j.Watch(ctx, w.Hint) // if it fails there are no hints, and the poll still finds everything
		}()
	}
	poll := time.NewTicker(w.o.Poll)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.wake:
		case <-poll.C:
			w.readAll()
		}
		w.read(ctx)
	}
}

// read asks the store about the runs in toRead, many in one call, until there are none. What cannot
// be read goes back into toRead for the next poll.
func (w *Waiters) read(ctx context.Context) {
	for {
		ids, updates := w.takeToRead()
		if len(ids)+len(updates) == 0 {
			return
		}
		if err := errors.Join(w.readEnds(ctx, ids), w.readReplies(ctx, updates)); err != nil {
			for i := range updates {
				ids = append(ids, updates[i].Run)
			}
			w.putBack(ids, ctx.Err() != nil)
			return
		}
	}
}

// readEnds resolves those who wait for the end of a run that is closed, or that does not exist.
func (w *Waiters) readEnds(ctx context.Context, ids []journal.RunID) error {
	if len(ids) == 0 {
		return nil
	}
	page, err := w.j.List(ctx, journal.ListFilter{IDs: ids, Limit: journal.ListMax})
	if err != nil {
		return err
	}
	found := map[journal.RunID]bool{}
	for i := range page.Runs {
		run := &page.Runs[i]
		found[run.ID] = true
		if run.Status.Closed() && run.Terminal != nil {
			w.resolve(run.ID, 0, resolution{terminal: run.Terminal})
		}
	}
	for _, id := range ids {
		if !found[id] {
			w.resolve(id, 0, resolution{err: fmt.Errorf("run %s: %w", id, journal.ErrNotFound)})
		}
	}
	return nil
}

// readReplies resolves those who wait for an update that has its answer or will not get one for
// now.
func (w *Waiters) readReplies(ctx context.Context, updates []journal.LoadRequest) error {
	if len(updates) == 0 {
		return nil
	}
	histories, err := w.j.Load(ctx, updates)
	if err != nil {
		return err
	}
	for i := range histories {
		h, q := &histories[i], &updates[i]
		switch {
		case h.Err != nil:
			w.resolve(q.Run, q.Answer, resolution{err: fmt.Errorf("run %s: %w", q.Run, h.Err)})
		case h.Answer != nil:
			w.resolve(q.Run, q.Answer, resolution{reply: h.Answer})
		default:
			if err := w.o.Unanswered(&h.Run); err != nil {
				w.resolve(q.Run, q.Answer, resolution{err: err})
			}
		}
	}
	return nil
}

// putBack leaves what could not be read to the next poll. If this loop has ended there may be a
// newer one, whose wake signal this one took: it is woken again.
func (w *Waiters) putBack(ids []journal.RunID, ended bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		if w.waiting[id] != nil {
			w.toRead[id] = true
		}
	}
	if ended {
		w.wakeLoop()
	}
}

// takeToRead empties toRead, or as much of it as one call of the store may ask for: the runs whose
// end somebody waits for, and the updates that somebody waits for, each once.
func (w *Waiters) takeToRead() (ids []journal.RunID, updates []journal.LoadRequest) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.toRead {
		if len(ids) == journal.ListMax || len(updates) >= journal.ListMax {
			break
		}
		delete(w.toRead, id)
		end, seen := false, map[journal.InboxSeq]bool{}
		for _, wt := range w.waiting[id] {
			if wt.update == 0 {
				end = true
			} else if !seen[wt.update] {
				seen[wt.update] = true
				updates = append(updates, journal.LoadRequest{Run: id, Answer: wt.update})
			}
		}
		if end {
			ids = append(ids, id)
		}
	}
	return ids, updates
}
