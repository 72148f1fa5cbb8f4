package worker

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/reprise-run/reprise/internal/batch"
	"github.com/reprise-run/reprise/internal/pool"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime/internal/held"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
	"github.com/reprise-run/reprise/runtime/internal/retry"
)

// writer is what the actors of one worker see of the journal: it implements actor.Store with
// commits and loads that are batched.
//
// A run always uses the same batcher, chosen by its id. More than one batcher keeps the store busy
// while the answers of another batch are handed out. Commits with a transaction of their own go
// past the batchers: they hold a connection already, each on another one. The order of a run's
// commits is its actor's matter, which submits nothing more before the outcome of its last one.
//
// Outcomes are definite for an actor. While the store is unavailable the batch is repeated, or
// divided if it took too long, and (fence, turn) tells the store which members an earlier try wrote
// (J4). Once the worker has ended, every member that is not known to be written gets ErrNodeLost,
// and the actor throws its state away.
type writer struct {
	j       *driver.Journal
	ctx     context.Context // ends when nothing may be written any more
	commits []*batch.Batcher[driver.Commit, driver.Outcome]
	loads   *batch.Batcher[driver.LoadRequest, loaded] // lean ones
	pages   *batch.Batcher[driver.LoadRequest, loaded]
	apart   *batch.Batcher[driver.LoadRequest, loaded] // of runs that were too large for their claims
	single  sync.WaitGroup                             // commits with a transaction of their own
	starts  *localStarts                               // owns children that this node can execute; nil for none
	unowned func(journal.Route)                        // see Config
	held    held.Log[journal.RunID]
	late    held.Log[journal.RunID] // alone, they took too long
	slow    held.Slow
}

// loaded is the answer to one load.
type loaded struct {
	history driver.History
	err     error
}

func newWriter(ctx context.Context, j *driver.Journal, batchers int) *writer {
	w := &writer{j: j, ctx: ctx}
	w.slow.Away = j.Away
	for range batchers {
		b := batch.New(batch.SizeMax, w.commitBatch)
		b.SetAside(func(o driver.Outcome) bool { return errors.Is(o.Err, driver.ErrHeld) })
		b.SetSize(func(c driver.Commit) int { return driver.CommitBytes(&c) })
		b.SetDivide(func(o driver.Outcome) bool { return errors.Is(o.Err, driver.ErrTookLong) })
		b.SetPatient(func(c driver.Commit) bool { return onlyRetries(&c) })
		w.commits = append(w.commits, b)
	}
	w.loads, w.pages, w.apart = batch.New(batch.SizeMax, w.loadBatch), batch.New(pagesMax, w.loadBatch), batch.New(batch.SizeMax, w.loadBatch)
	w.apart.SetSize(func(r driver.LoadRequest) int { return r.Apart })
	for _, b := range []*batch.Batcher[driver.LoadRequest, loaded]{w.loads, w.pages, w.apart} {
		b.SetDivide(func(l loaded) bool { return errors.Is(l.err, driver.ErrTookLong) })
	}
	return w
}

// runOn has batches written by the workers of a pool. It must be called before anything is
// submitted.
func (w *writer) runOn(do func(pool.Job)) {
	for _, b := range w.commits {
		b.RunOn(do)
	}
	w.loads.RunOn(do)
	w.pages.RunOn(do)
	w.apart.RunOn(do)
}

// wait returns when everything submitted has its outcome.
func (w *writer) wait() {
	for _, b := range w.commits {
		b.Wait()
	}
	w.loads.Wait()
	w.pages.Wait()
	w.apart.Wait()
	w.single.Wait()
}

// Encode implements actor.Store.
func (w *writer) Encode(what string, v any) (journal.Payload, error) { return w.j.Encode(what, v) }

// Codec implements actor.Store.
func (w *writer) Codec() journal.Codec { return w.j.Codec() }

// Now implements actor.Store.
func (w *writer) Now() time.Time { return w.j.Now() }

// Begin implements actor.Store.
func (w *writer) Begin(ctx context.Context) (journal.Tx, error) { return w.j.Begin(ctx) }

// Submit implements actor.Store.
func (w *writer) Submit(c driver.Commit, done func(driver.Outcome)) {
	if c.Tx != nil {
		w.submitAlone([]driver.Commit{c}, done)
		return
	}
	w.commits[batcherOf(c.Run, len(w.commits))].Submit(c, done)
}

// Load implements actor.Store. Lean loads go together, and none waits behind megabytes of another:
// each gets a small share of the answer. What does not fit is asked for again, a page at a time,
// and such pages go beside them. So do runs of which a claim had no room for all: a large one goes
// alone.
func (w *writer) Load(r driver.LoadRequest, done func(driver.History, error)) {
	b := w.pages
	switch {
	case r.Apart > 0:
		b = w.apart
	case r.Lean:
		b = w.loads
	}
	b.Submit(r, func(l loaded) { done(l.history, l.err) })
}

// shareLean gives each of the lean loads of a batch its share of the bytes.
func shareLean(requests []driver.LoadRequest) {
	share := min(max(leanBytes/len(requests), leanShareMin), leanShareMax)
	for i := range requests {
		if requests[i].Lean {
			requests[i].Bytes = share
		}
	}
}

// submitAlone writes a commit in its own transaction, which must not hold up the batches. c is a
// batch of one.
func (w *writer) submitAlone(c []driver.Commit, done func(driver.Outcome)) {
	w.single.Add(1)
	go func() {
		defer w.single.Done()
		out := w.commitBatch(c)[0]
		if out.Err != nil {
			_ = c[0].Tx.Rollback(context.WithoutCancel(w.ctx)) // does nothing if the store has ended it
		}
		done(out)
	}()
}

// onlyRetries tells whether a commit notes no more than failed attempts that are to be repeated.
// Thousands of runs may fail at once, and nothing of theirs goes on by it: the commits of runs that
// get something done go before. The first event of a run is no progress, see journal.RunStarted.
func onlyRetries(c *driver.Commit) bool {
	started := len(c.Events) == 0 || len(c.Events) == 1 && c.Events[0].Kind == journal.RunStarted
	return len(c.Attempts) > 0 && started && !c.HasEffects() && (c.Next.Kind == driver.NextPark || c.Next.Kind == driver.NextKeep)
}

// batcherOf spreads runs over n batchers by the last bytes of their ids, which are random.
func batcherOf(run journal.RunID, n int) int {
	return int(binary.BigEndian.Uint32(run[12:]) % uint32(n))
}

// commitBatch writes a batch. This node becomes the owner of the children that it can execute at
// once.
func (w *writer) commitBatch(commits []driver.Commit) []driver.Outcome {
	defer w.watch(commits[0].Run, "commits", len(commits))()
	own := StartBatch{local: w.starts}
	defer own.End()
	ownChildren(&own, commits)
	out := w.write(commits)
	settleChildren(&own, commits, out)
	w.noteUnowned(commits, out)
	return out
}

// noteUnowned tells of children that wait for a claim: perhaps nobody serves them.
func (w *writer) noteUnowned(commits []driver.Commit, out []driver.Outcome) {
	for i := range out {
		for k := range out[i].Started {
			if st, o := &commits[i].Starts[k], &out[i].Started[k]; w.unowned != nil && o.Created && !o.Owned {
				w.unowned(journal.Route{Queue: st.Queue, Workflow: st.Workflow, Version: st.Version})
			}
		}
	}
}

// ownChildren offers the children that the turns start. A child that is cancelled in the turn that
// starts it is left to a claim: owned since its start it would begin to work before it reads its
// inbox, and a claim reads that first.
func ownChildren(own *StartBatch, commits []driver.Commit) {
	for i := range commits {
		c := &commits[i]
		for k := range c.Starts {
			if !cancels(c, c.Starts[k].ID) {
				own.Own(&c.Starts[k])
			}
		}
	}
}

func cancels(c *driver.Commit, child journal.RunID) bool {
	for i := range c.Messages {
		if m := &c.Messages[i]; m.Kind == journal.MessageCancel && m.Run == child {
			return true
		}
	}
	return false
}

// watch reports a call that takes long, by its first run. The batch itself is the caller's again
// when the call has ended, so nothing of it is looked at later.
func (w *writer) watch(first journal.RunID, what string, n int) (stop func() bool) {
	return w.slow.Watch(func() []any { return []any{logkey.Run, first, what, n} })
}

// noteLate reports a run whose call alone takes too long. It is tried again, apart from others.
func (w *writer) noteLate(run journal.RunID, members int, err error) {
	if late := errors.Is(err, driver.ErrTookLong); members == 1 || !late {
		w.late.Note(run, late)
	}
}

// noteHeld reports runs whose rows somebody else has locked. Their commits are tried again, apart
// from others.
func (w *writer) noteHeld(commits []driver.Commit, out []driver.Outcome) {
	for i := range commits {
		w.held.Note(commits[i].Run, errors.Is(out[i].Err, driver.ErrHeld))
	}
}

// settleChildren takes the answers to the children's starts. Outcome.Started is empty when the
// commit was refused, when an earlier try of it took effect, and when nobody knows.
func settleChildren(own *StartBatch, commits []driver.Commit, out []driver.Outcome) {
	for i := range commits {
		for k := range commits[i].Starts {
			var answer *journal.Started
			if errors.Is(out[i].Err, driver.ErrHeld) {
				answer = &journal.Started{} // nothing was started
			}
			if k < len(out[i].Started) {
				answer = &out[i].Started[k]
			}
			own.Settle(&commits[i].Starts[k], answer)
		}
	}
}

// write writes a batch until the outcome of every member is known, or it took too long, which the
// Batcher makes up for. A batch that fails for another reason than the connection is written again
// member by member, so that one member cannot fail the others (J2).
func (w *writer) write(commits []driver.Commit) []driver.Outcome {
	var out []driver.Outcome
	repeat := retry.UntilDivided
	if commits[0].Tx != nil { // nobody could write it another time
		repeat = retry.UntilAvailable
	}
	err := repeat(w.ctx, func() (err error) {
		out, err = w.j.Commit(driver.Impatient(w.ctx), commits)
		return err
	})
	w.noteLate(commits[0].Run, len(commits), err)
	if err == nil {
		w.noteHeld(commits, out)
		return out
	}
	if err = w.definite(err); !errors.Is(err, journal.ErrNodeLost) && !errors.Is(err, driver.ErrTookLong) && len(commits) > 1 {
		out = out[:0]
		for i := range commits {
			out = append(out, w.write(commits[i:i+1])...)
		}
		return out
	}
	out = make([]driver.Outcome, len(commits))
	for i := range out {
		out[i].Err = err
	}
	return out
}

// definite returns the error that the callers of a batch get. One that leaves the outcome open is
// none of theirs: it says that nothing can be written any more.
func (w *writer) definite(err error) error {
	switch {
	case err == nil:
	case w.ctx.Err() != nil, errors.Is(err, journal.ErrStoreClosed), errors.Is(err, journal.ErrUnavailable) && !errors.Is(err, driver.ErrTookLong):
		return journal.ErrNodeLost
	}
	return err
}

// loadBatch reads a batch. A history that cannot be read does not fail the others.
func (w *writer) loadBatch(requests []driver.LoadRequest) []loaded {
	defer w.watch(requests[0].Run, "loads", len(requests))()
	shareLean(requests)
	var histories []driver.History
	err := retry.UntilDivided(w.ctx, func() (err error) {
		histories, err = w.j.Load(driver.ForNode(w.ctx), requests)
		return err
	})
	w.noteLate(requests[0].Run, len(requests), err)
	out := make([]loaded, len(requests))
	switch err = w.definite(err); {
	case err == nil, errors.Is(err, journal.ErrNodeLost), errors.Is(err, driver.ErrTookLong):
	case len(requests) > 1:
		for i := range requests {
			out[i] = w.loadBatch(requests[i : i+1])[0]
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
