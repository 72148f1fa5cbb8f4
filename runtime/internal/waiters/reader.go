package waiters

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/retry"
)

// reader is the loop that reads the store for all waiters.
//
// It holds no lock while it reads, and resolves waiters one run at a time. So a slow store delays
// answers, but neither registrations nor the hints that resolve waiters without a read. An error of
// the store is no result: the runs stay in toRead, and their waiters wait on, until the store
// answers or their own contexts end. A store that was closed will not answer.
type reader struct {
	j          *driver.Journal
	poll       time.Duration // between two reads of everything
	unanswered func(run *journal.Run) error
	list       *waitlist
}

// scanEvery is the time between two reads of every waiting run because hints were lost. A busy
// store may report that a hundred times a second, and each such read names all runs that are waited
// for.
const scanEvery = 500 * time.Millisecond

// loop reads what is in toRead whenever it is woken, and every waiting run at every poll, until ctx
// ends because nobody waits any more. Lost hints bring the next poll forward. It watches the
// journal once nobody pushes hints, and does not stop when somebody does: a hint that comes twice
// does no harm.
func (r *reader) loop(ctx context.Context) {
	var watching sync.WaitGroup
	defer watching.Wait()
	watch := sync.OnceFunc(func() {
		watching.Go(func() {
			_ = r.j.Watch(ctx, r.list.hint) // if it fails there are no hints, and the poll still finds everything
		})
	})
	var read time.Time // when everything was last read
	poll := time.NewTimer(r.poll)
	defer poll.Stop()
	for {
		if !r.list.pushed() {
			watch()
		}
		select {
		case <-ctx.Done():
			return
		case <-r.list.wake:
			if r.list.takeScan() {
				poll.Reset(max(time.Until(read.Add(min(scanEvery, r.poll))), retry.Soon))
			}
		case <-poll.C:
			read = time.Now()
			poll.Reset(r.poll)
			r.list.readAll()
		}
		r.read(ctx)
	}
}

// read asks the store about the runs in toRead, many in one call, until there are none. What cannot
// be read goes back into toRead for the next poll.
func (r *reader) read(ctx context.Context) {
	var late []journal.RunID
	defer func() { r.list.putBack(late, ctx.Err() != nil) }()
	for most := journal.ListMax; ; {
		n, ids, updates := r.list.takeToRead()
		if len(ids)+len(updates) == 0 {
			return
		}
		lateIDs, err := inParts(ctx, ids, &most, func(ids []journal.RunID) error { return r.readEnds(ctx, n, ids) })
		lateUpdates, updatesErr := inParts(ctx, updates, &most, func(updates []driver.LoadRequest) error { return r.readReplies(ctx, n, updates) })
		for i := range lateUpdates {
			lateIDs = append(lateIDs, lateUpdates[i].Run)
		}
		if err = errors.Join(err, updatesErr); errors.Is(err, journal.ErrStoreClosed) {
			r.list.resolveAll(lateIDs, resolution{err: err})
			continue
		}
		if late = append(late, lateIDs...); err != nil {
			return
		}
	}
}

// inParts makes calls for a list, of at most so many members each, and returns those that were not
// answered for.
//
// A call that took too long would do so again. So the next one is for half as many, down to one
// member, which is left out; those behind it are for a quarter more each time. So whoever waits for
// a run that can be read hears of its end, whatever the others are.
func inParts[T any](ctx context.Context, list []T, most *int, call func([]T) error) (late []T, err error) {
	for len(list) > 0 {
		part := list[:min(*most, len(list))]
		switch err := call(part); {
		case err == nil:
			list, *most = list[len(part):], min(*most+(*most+3)/4, journal.ListMax)
		case !errors.Is(err, driver.ErrTookLong) || ctx.Err() != nil:
			return append(late, list...), err
		case len(part) > 1:
			*most = len(part) / 2
		default:
			late, list = append(late, part...), list[1:]
		}
	}
	return late, nil
}

// readEnds resolves those who wait for the end of a run that is closed, or that does not exist.
func (r *reader) readEnds(ctx context.Context, n int, ids []journal.RunID) error {
	if len(ids) == 0 {
		return nil
	}
	ends, err := r.j.Ends(ctx, ids)
	if err != nil {
		return err
	}
	for i := range ends {
		switch e := &ends[i]; {
		case e.Err != nil:
			r.list.found(n, e.Run, 0, resolution{err: fmt.Errorf("run %s: %w", e.Run, e.Err)})
		case e.Later:
			r.list.readAgain(e.Run)
		default:
			r.list.found(n, e.Run, 0, resolution{terminal: e.Terminal})
		}
	}
	return nil
}

// readReplies resolves those who wait for an update that has its answer or will not get one for
// now.
func (r *reader) readReplies(ctx context.Context, n int, updates []driver.LoadRequest) error {
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
		case q.Answer == driver.StateOnly: // the end of a run, if there is one, is of readEnds
			if h.Err == nil && !h.Run.Status.Closed() {
				r.list.noteState(q.Run, r.unanswered(&h.Run))
			}
		case h.Answer != nil:
			r.list.found(n, q.Run, q.Answer, resolution{reply: h.Answer})
		case h.Err != nil && !unreadable(h.Err): // of a run that cannot be read, the task says whether it is blocked
			r.list.found(n, q.Run, q.Answer, resolution{err: fmt.Errorf("run %s: %w", q.Run, h.Err)})
		default:
			if t := h.Run.Task; t != nil && t.State.OnHold() { // an update of a paused run waits
				continue
			}
			if err := r.unanswered(&h.Run); err != nil {
				r.list.found(n, q.Run, q.Answer, resolution{err: err})
			}
		}
	}
	return nil
}

func unreadable(err error) bool {
	_, ok := errors.AsType[*journal.UnreadableError](err)
	return ok
}
