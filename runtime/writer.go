package runtime

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"

	"github.com/reprise-run/reprise/actor"
	"github.com/reprise-run/reprise/internal/batch"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime/internal/retry"
)

// writer is what the actors of one incarnation see of the journal: gathered commits and loads. A run always uses the same lane,
// so its commits keep their order.
type writer struct {
	*journal.Journal
	ctx    context.Context // ends when nothing may be written any more
	lanes  []*batch.Batcher[journal.Commit, journal.Outcome]
	loader *batch.Batcher[journal.LoadRequest, loadAnswer]
	single sync.WaitGroup // commits with a transaction of their own
	home   *incarnation   // owns the children that it can execute from birth; nil for none
}

type loadAnswer struct {
	history journal.History
	err     error
}

func newWriter(ctx context.Context, j *journal.Journal, lanes int) *writer {
	w := &writer{Journal: j, ctx: ctx}
	for range lanes {
		w.lanes = append(w.lanes, batch.New(batch.SizeMax, w.commit))
	}
	w.loader = batch.New(batch.SizeMax, w.load)
	return w
}

// Submit implements actor.Store.
func (w *writer) Submit(c journal.Commit, done func(journal.Outcome)) {
	if c.Tx != nil {
		w.alone([]journal.Commit{c}, done)
		return
	}
	w.lanes[laneOf(c.Run, len(w.lanes))].Submit(c, done)
}

// alone writes a commit with a transaction. It has a connection already, and must not hold up the others.
func (w *writer) alone(batch []journal.Commit, done func(journal.Outcome)) {
	w.single.Add(1)
	go func() {
		defer w.single.Done()
		out := w.commit(batch)[0]
		if out.Err != nil {
			_ = batch[0].Tx.Rollback(context.WithoutCancel(w.ctx)) // does nothing if the store has ended it
		}
		done(out)
	}()
}

// laneOf spreads runs over lanes by the end of their ids, which is chance.
func laneOf(run journal.RunID, lanes int) int {
	return int(binary.BigEndian.Uint32(run[12:]) % uint32(lanes))
}

// commit writes a batch. Children that this node can execute become its own from birth.
func (w *writer) commit(batch []journal.Commit) []journal.Outcome {
	var n nursery
	if w.home != nil && n.enter(w.home, batch) {
		defer n.leave() // behind adopt
	}
	out := w.write(batch)
	n.adopt(batch, out)
	return out
}

// write writes a batch. A batch that cannot be written as a whole for another reason than the connection is
// written member by member, so that one cannot hinder the others (J2).
func (w *writer) write(batch []journal.Commit) []journal.Outcome {
	var out []journal.Outcome
	err := retry.UntilAvailable(w.ctx, func() (err error) {
		out, err = w.Journal.Commit(w.ctx, batch)
		return err
	})
	if err == nil {
		return out
	}
	if w.ctx.Err() != nil || errors.Is(err, journal.ErrUnavailable) {
		err = journal.ErrNodeLost
	} else if len(batch) > 1 {
		out = out[:0]
		for i := range batch {
			out = append(out, w.write(batch[i:i+1])...)
		}
		return out
	}
	out = make([]journal.Outcome, len(batch))
	for i := range out {
		out[i].Err = err
	}
	return out
}

// Load implements actor.Store.
func (w *writer) Load(r journal.LoadRequest, done func(journal.History, error)) {
	w.loader.Submit(r, func(a loadAnswer) { done(a.history, a.err) })
}

// load reads a batch. One history that cannot be read does not hinder the others.
func (w *writer) load(batch []journal.LoadRequest) []loadAnswer {
	var histories []journal.History
	err := retry.UntilAvailable(w.ctx, func() (err error) {
		histories, err = w.Journal.Load(w.ctx, batch)
		return err
	})
	out := make([]loadAnswer, len(batch))
	switch {
	case err == nil:
	case w.ctx.Err() != nil || errors.Is(err, journal.ErrUnavailable):
		err = journal.ErrNodeLost
	case len(batch) > 1:
		for i := range batch {
			out[i] = w.load(batch[i : i+1])[0]
		}
		return out
	}
	for i := range out {
		if err != nil {
			out[i].err = err
			continue
		}
		out[i].history = histories[i]
	}
	return out
}

// use has batches written by the goroutines of a system. It comes before anything is submitted.
func (w *writer) use(sys *actor.System) {
	for _, l := range w.lanes {
		l.RunOn(sys.Do)
	}
	w.loader.RunOn(sys.Do)
}

// wait returns when everything submitted has its outcome.
func (w *writer) wait() {
	for _, l := range w.lanes {
		l.Wait()
	}
	w.loader.Wait()
	w.single.Wait()
}
