package actor

import (
	"context"
	"errors"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// occurrence is something that becomes an event in the next turn: a message, or the end of a step.
type occurrence struct {
	at      time.Time // when it happened, by the store's clock
	message *journal.Message
	step    *step // with the outcome in result
	result  result
}

// rollback abandons the occurrence's transaction, off the mailbox goroutine.
func (o *occurrence) rollback(s *System) {
	if o.result.tx == nil {
		return
	}
	tx := o.result.tx
	s.bodies.Add(1)
	go func() {
		defer s.bodies.Done()
		_ = tx.Rollback(context.WithoutCancel(s.base)) // it is abandoned either way
	}()
}

// turn is one decision on its way into the journal.
type turn struct {
	taken  []occurrence
	commit journal.Commit
	start  []*step // once durable
	cancel []*step // once durable
	tx     *step   // whose transaction carries the commit
}

// turn steps the machine with everything that has happened, and submits the commit.
func (r *run) turn() {
	t := r.fresh()
	gathered := false
	defer func() {
		for i := 0; !gathered && i < len(t.taken); i++ { // also if the engine panics
			t.taken[i].rollback(r.sys)
		}
	}()
	first := r.machine.LastSeq() == 0
	if err := r.watched(func() error { return r.gather(t, first) }); err != nil {
		r.block(err.Error())
		return
	}
	gathered = true
	d := r.machine.Take()
	r.absorb(t, d.Steps, d.CancelSteps)
	events := t.commit.Events
	news := len(events) > len(r.uncommitted) || r.dirty
	if d.Terminal != nil {
		ev := *d.Terminal
		ev.Seq, ev.Time = r.machine.LastSeq()+1, r.machine.Now()
		events = append(events, ev)
		t.commit.Next.Kind = journal.NextClose
	}
	t.commit.Events = events
	if first && len(events) == 1 && d.OnlySteps && len(d.Steps) > 0 && !r.sys.draining.Load() {
		// Nothing here depends on what is not durable: the start row decides this turn. Its event rides with the next commit.
		r.uncommitted = events
		r.release(t)
		r.pump()
		return
	}
	r.plan(t)
	if !news && t.commit.Next.Kind == journal.NextKeep {
		r.release(t)
		return
	}
	r.submit(t)
}

// fresh returns the run's turn, emptied. There is one at a time: the next one is taken when this one's outcome is known.
func (r *run) fresh() *turn {
	t := &r.scratch
	clear(t.taken)
	clear(t.start)
	clear(t.cancel)
	*t = turn{taken: t.taken[:0], start: t.start[:0], cancel: t.cancel[:0]}
	return t
}

// gather steps the machine once for every due timer and every occurrence, earliest first. At most one
// transaction takes part, because it carries the commit.
func (r *run) gather(t *turn, first bool) error {
	now := r.now()
	t.commit.Events = append(make([]journal.Event, 0, len(r.uncommitted)+min(max(len(r.queue), 1), turnEventsMax)), r.uncommitted...)
	if first {
		if err := r.apply(t, journal.Event{Kind: journal.RunStarted}, r.info.StartAt); err != nil {
			return err
		}
	}
	for len(t.commit.Events) < turnEventsMax && !r.machine.Finished() {
		timer, armed := r.machine.NextTimer()
		due := armed && !timer.Due.After(now)
		if due && (len(r.queue) == 0 || !r.queue[0].at.Before(timer.Due)) {
			if err := r.apply(t, journal.Event{Kind: journal.TimerFired, Cmd: timer.Cmd, Name: timer.Name}, now); err != nil {
				return err
			}
			continue
		}
		if len(r.queue) == 0 {
			return nil
		}
		o := r.queue[0]
		if o.result.tx != nil && t.tx != nil {
			return nil
		}
		r.shift()
		t.taken = append(t.taken, o)
		if err := r.apply(t, o.event(t), max2(o.at, now)); err != nil {
			return err
		}
	}
	return nil
}

// shift takes the first occurrence out of the queue, and keeps the memory of the last one.
func (r *run) shift() {
	if len(r.queue) == 1 {
		r.queue[0] = occurrence{}
		r.queue = r.queue[:0]
		return
	}
	r.queue = r.queue[1:]
}

// event returns the event of an occurrence and notes what it brings to the turn.
func (o *occurrence) event(t *turn) journal.Event {
	if o.message != nil {
		return o.message.Event()
	}
	ev := journal.Event{Kind: journal.StepCompleted, Cmd: o.step.Cmd, Name: o.step.Name, Attempt: o.step.made + 1, Payload: o.result.output}
	if o.result.failure != nil {
		ev.Kind, ev.Payload = journal.StepFailed, journal.EncodeFailure(o.result.failure)
		ev.Attempt = o.step.made
	}
	if o.result.tx != nil {
		t.tx, t.commit.Tx = o.step, o.result.tx
	}
	return ev
}

func (r *run) apply(t *turn, ev journal.Event, at time.Time) error {
	ev.Seq, ev.Time = r.machine.LastSeq()+1, max2(at, r.machine.Now())
	if err := r.machine.Step(&ev); err != nil {
		return err
	}
	if ev.Kind == journal.StepCompleted || ev.Kind == journal.StepFailed {
		delete(r.steps, ev.Cmd)
	}
	t.commit.Events = append(t.commit.Events, ev)
	return nil
}

func max2(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// plan decides what becomes of the task: it stays owned exactly while a step body runs or is about to, or something waits
// to be taken.
func (r *run) plan(t *turn) {
	c := &t.commit
	c.Run, c.Node, c.Fence, c.Turn, c.Generation = r.info.ID, r.sys.o.Node, r.task.Fence, r.task.Turn, r.task.Generation
	c.InboxSeen = r.machine.InboxSeen()
	if c.Next.Kind == journal.NextClose {
		return
	}
	c.Attempts = r.attempts()
	running, idle := r.count()
	idle += len(t.cancel) // those that do not run end at once
	draining := r.sys.draining.Load()
	switch {
	case running > 0 && !r.abandon:
	case draining && (idle > 0 || running > 0 || len(r.queue) > 0 || r.inboxNews):
		c.Next.Kind = journal.NextRelease
	case idle > 0 || len(r.queue) > 0 || r.inboxNews:
	default:
		at, ok := r.nextWake()
		if ok && !at.After(r.now()) && !draining {
			return // it would be claimed at once
		}
		c.Next.Kind, c.Next.At, c.Waiting = journal.NextPark, at, r.machine.Waiting()
	}
}

func (r *run) submit(t *turn) {
	r.flight, r.dirty = t, false
	r.stopTimer()
	epoch := r.epoch
	r.sys.o.Store.Submit(t.commit, func(o journal.Outcome) { r.send(&committed{epoch: epoch, outcome: o}) })
}

// submitBlock frees the task of a run that cannot go on.
func (r *run) submitBlock() {
	delay := r.blockDelay()
	r.blocks++
	r.recall = r.now().Add(delay + r.sys.o.WarmIdle)
	t := &turn{commit: journal.Commit{
		Run: r.info.ID, Node: r.sys.o.Node, Fence: r.task.Fence, Turn: r.task.Turn, Generation: r.task.Generation,
		Attempts: r.task.Attempts,
		Next:     journal.Next{Kind: journal.NextBlock, At: r.now().Add(delay), Problem: r.problem},
	}}
	if r.sys.o.Hooks.Blocked != nil {
		r.sys.o.Hooks.Blocked(r.info, r.problem, delay)
	}
	r.submit(t)
}

func (r *run) blockDelay() time.Duration { return min(blockedFirst<<min(r.blocks, 20), blockedMax) }

// blockLater tries again to free the task, after a while: if the node forgot a run that it owns, nobody would ever look
// at it again while the node lives.
func (r *run) blockLater() {
	r.stopTimer()
	epoch := r.epoch
	r.timer = time.AfterFunc(r.blockDelay(), func() { r.send(wake{epoch: epoch}) })
}

// onCommitted lets the outside see the turn, or throws it away.
func (r *run) onCommitted(o journal.Outcome) {
	t := r.flight
	r.flight = nil
	switch {
	case o.Err == nil:
	case errors.Is(o.Err, journal.ErrFenced), errors.Is(o.Err, journal.ErrNodeLost):
		r.drop(o.Err)
		return
	case r.problem != "":
		r.blockLater()
		return
	case errors.Is(o.Err, journal.ErrTxLost):
		r.retake(t, o.Err)
		return
	default:
		r.block("the turn cannot be written: " + o.Err.Error())
		return
	}
	r.task.Turn++
	r.task.Attempts, r.uncommitted = t.commit.Attempts, nil
	if t.commit.Next.Kind != journal.NextBlock {
		r.blocks, r.recall = 0, time.Time{}
	}
	switch t.commit.Next.Kind {
	case journal.NextClose:
		if r.sys.o.Hooks.Closed != nil {
			r.sys.o.Hooks.Closed(r.info, t.commit.Terminal())
		}
		r.discard(ErrCancelRequested)
		r.finish()
		r.sys.released()
	case journal.NextKeep:
		if r.problem != "" { // the engine failed while this was in flight
			r.pump()
			return
		}
		r.release(t)
		r.inboxNews = r.inboxNews || o.InboxLast > r.inboxGot
		if r.sys.o.PassivateAlways {
			r.machine.Close()
			r.machine = nil
		}
		r.pump()
	default:
		r.rest(t)
	}
}

// rest leaves the run free. Parked runs stay warm.
func (r *run) rest(t *turn) {
	switch {
	case t.commit.Next.Kind == journal.NextPark && !r.sys.o.PassivateAlways:
		r.owned = false
		r.idle()
	case t.commit.Next.Kind == journal.NextBlock:
		r.discard(ErrRunLost)
		r.idle() // remembers how often it was blocked
	default:
		r.discard(ErrShutdown)
		r.finish()
	}
	r.sys.released()
}

// release lets the outside see a turn: steps start, contexts are cancelled.
func (r *run) release(t *turn) {
	for _, s := range t.start {
		s.durable = true
	}
	for _, s := range t.cancel {
		s.Cancelled = true
		s.stop(ErrCancelRequested)
		if !s.running && !s.ended {
			r.end(s, result{failure: cancelledFailure(s.failure)})
		}
	}
	r.startDue()
}

// retake repeats a turn whose transaction was lost: nothing of it happened. What it took waits again, except the
// outcome of the step whose effects are gone: that attempt has failed. If it were repeated at once, a transaction that can never
// commit (think of a deferred constraint) would be tried without end and without a pause.
func (r *run) retake(t *turn, cause error) {
	r.machine.Close()
	r.machine = nil
	for cmd, s := range r.steps {
		if !s.durable {
			delete(r.steps, cmd)
		}
	}
	again := make([]occurrence, 0, len(t.taken)+len(r.queue))
	for _, o := range t.taken {
		if o.step != nil {
			r.steps[o.step.Cmd] = o.step
		}
		if o.step == t.tx && o.step != nil {
			o.step.ended = false
			continue
		}
		again = append(again, o)
	}
	r.queue = append(again, r.queue...)
	if t.tx != nil {
		r.retryOrEnd(t.tx, replay.FailureOf(cause))
	}
	r.dirty = true // attempts of others may have been in the lost commit
	r.pump()
}
