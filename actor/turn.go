package actor

import (
	"context"
	"fmt"
	"slices"
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
	drop   []*step // once durable
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
		r.blockFor(err)
		return
	}
	gathered = true
	d := r.machine.Take()
	r.absorb(t, &d)
	events := t.commit.Events
	news := len(events) > len(r.uncommitted) || r.dirty || t.commit.HasEffects() || d.Terminal != nil
	if d.Terminal != nil {
		events = append(events, r.conclude(t, &d))
	}
	t.commit.Events = events
	if first && r.info.Continued == nil && len(events) == 1 && d.OnlySteps && !t.commit.HasEffects() && !r.sys.draining.Load() {
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

// conclude returns the last event of the run, or of its generation.
func (r *run) conclude(t *turn, d *replay.Decision) journal.Event {
	ev := *d.Terminal
	ev.Seq, ev.Time = r.machine.LastSeq()+1, r.machine.Now()
	c := &t.commit
	if d.Continue != nil {
		c.Continue = d.Continue
		c.Continue.Seen = r.inboxSeen()
		c.Continue.Carried = slices.Concat(c.Continue.Carried, r.carriedOn())
		slices.Sort(c.Continue.Carried)
		if r.sys.draining.Load() || r.sys.o.Lookup(r.info.Workflow, c.Continue.Version) == nil {
			c.Next.Kind = journal.NextRelease
		}
		return ev
	}
	c.Next.Kind, c.Children = journal.NextClose, d.Children
	if m, ok := r.info.ParentMessage(&ev); ok {
		c.Messages = append(c.Messages, m)
	}
	return ev
}

// inboxSeen is the number up to which no message waits, but for those that were carried over to this generation. Updates that
// were refused are in no event.
func (r *run) inboxSeen() journal.InboxSeq {
	for i := range r.queue {
		if m := r.queue[i].message; m != nil && m.Number > r.ident.InboxSeen {
			return m.Number - 1
		}
	}
	return max(r.inboxGot, r.machine.InboxSeen())
}

// carriedOn lists the messages that were carried over to this generation and still wait.
func (r *run) carriedOn() (list []journal.InboxSeq) {
	for i := range r.queue {
		if m := r.queue[i].message; m != nil && m.Number <= r.ident.InboxSeen {
			list = append(list, m.Number)
		}
	}
	if next := r.info.Continued; next != nil {
		for _, n := range next.Carried {
			if n > r.inboxGot { // not read yet
				list = append(list, n)
			}
		}
	}
	return list
}

// fresh returns the run's turn, emptied. There is one at a time: the next one is taken when this one's outcome is known.
func (r *run) fresh() *turn {
	t := &r.scratch
	clear(t.taken)
	clear(t.start)
	clear(t.cancel)
	clear(t.drop)
	*t = turn{taken: t.taken[:0], start: t.start[:0], cancel: t.cancel[:0], drop: t.drop[:0]}
	return t
}

// gather steps the machine once for every due timer and every occurrence, earliest first. At most one
// transaction takes part, because it carries the commit.
func (r *run) gather(t *turn, first bool) error {
	now := r.now()
	t.commit.Events = append(make([]journal.Event, 0, len(r.uncommitted)+min(max(len(r.queue), 1), turnEventsMax)), r.uncommitted...)
	if first {
		if err := r.apply(t, r.machine.First(r.info, now)); err != nil {
			return err
		}
	}
	if n := int(r.machine.LastSeq()); n >= r.sys.o.HistoryMax {
		return fmt.Errorf("the history has %d events, the limit is %d: the workflow should continue as new in time", n, r.sys.o.HistoryMax)
	}
	for len(t.commit.Events) < turnEventsMax && len(t.commit.Replies)+r.machine.Effects() < turnEffectsMax && !r.machine.Finished() {
		timer, armed := r.machine.NextTimer()
		due := armed && !timer.Due.After(now)
		if due && (len(r.queue) == 0 || !r.queue[0].at.Before(timer.Due)) {
			fired := journal.Event{Kind: journal.TimerFired, Cmd: timer.Cmd, Name: timer.Name}
			if err := r.apply(t, r.machine.Stamp(fired, now)); err != nil {
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
		ev, ok := r.event(t, &o, now)
		if !ok {
			continue
		}
		if err := r.apply(t, ev); err != nil {
			return err
		}
	}
	return nil
}

// event returns the event that an occurrence becomes. It is false for one that becomes none: the outcome of a step that
// nobody waits for any more, or an update that the code refuses, whose reply joins the commit.
func (r *run) event(t *turn, o *occurrence, now time.Time) (journal.Event, bool) {
	if o.message != nil {
		ev, refusal := r.machine.Offer(o.message, now)
		if refusal != nil {
			t.commit.Replies = append(t.commit.Replies, *refusal)
		}
		return ev, refusal == nil
	}
	if !r.machine.Waits(o.step.Cmd) {
		delete(r.steps, o.step.Cmd)
		o.rollback(r.sys)
		return journal.Event{}, false
	}
	return r.machine.Stamp(o.outcome(t), max2(o.at, now)), true
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

// outcome returns the event of a step's end, and gives the turn the step's transaction if it has one.
func (o *occurrence) outcome(t *turn) journal.Event {
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

func (r *run) apply(t *turn, ev journal.Event) error {
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
	c.InboxSeen = r.inboxSeen()
	if c.Next.Kind == journal.NextClose || c.Continue != nil {
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
		c.Next.Kind, c.Next.At, c.Waiting = journal.NextPark, at, r.waiting()
	}
}

// waiting is what people see of a run that is parked. Strands that wait for each other are reported: nothing will wake them.
func (r *run) waiting() []string {
	stuck := r.machine.Stuck()
	if len(stuck) == 0 {
		return r.machine.Waiting()
	}
	if r.sys.o.Hooks.Deadlocked != nil {
		r.sys.o.Hooks.Deadlocked(r.info, stuck)
	}
	for i := range stuck {
		stuck[i] = "stuck: " + stuck[i]
	}
	return stuck
}

func (r *run) submit(t *turn) {
	r.flight, r.dirty = t, false
	r.stopTimer()
	epoch := r.epoch
	r.sys.o.Store.Submit(t.commit, func(o journal.Outcome) { r.send(&committed{epoch: epoch, err: o.Err, inboxLast: o.InboxLast}) })
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
		r.sys.o.Hooks.Blocked(r.info, r.problem, r.stack, delay)
	}
	r.stack = "" // a commit that fails is tried again
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
