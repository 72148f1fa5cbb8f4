package actor

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay"
)

// onCommitted lets the turn take effect, or throws it away.
func (r *run) onCommitted(m *committed) {
	t := &r.turn
	blocked := r.phase == blocking
	if r.phase == committing {
		r.enter(ready)
	} else {
		r.enter(failed)
	}
	switch {
	case m.err == nil:
		r.written(t, m)
	case errors.Is(m.err, journal.ErrFenced), errors.Is(m.err, journal.ErrNodeLost):
		r.giveUp(m.err)
	case blocked:
		r.wakeIn(r.trouble.refused(m.err))
	case r.phase == failed:
		r.wakeIn(r.trouble.rest())
	case errors.Is(m.err, journal.ErrTxLost):
		r.undoTurn(t, m.err)
		r.advance()
	default:
		r.fail(fmt.Errorf("the turn cannot be written: %w", m.err))
		r.advance()
	}
}

// written lets a durable turn take effect. If the commit has met a pause, nothing of it starts.
func (r *run) written(t *turn, m *committed) {
	next := t.commit.Next.Kind
	r.head, r.changed = t.commit.NewHead(), time.Now()
	r.proved = r.proved || provesOwner(t.commit.Events)
	if !t.commit.AppendOnly {
		r.task.Turn++
		acquit(r)
		if next != driver.NextBlock {
			r.task.Attempts = t.commit.Attempts
		}
	}
	r.uncommitted = nil
	if t.commit.Published != nil || t.commit.Labels != nil { // attempts and hooks may hold the one before
		info := *r.info
		if t.commit.Published != nil {
			info.Published = t.commit.Published
		}
		if t.commit.Labels != nil {
			info.Relabel(t.commit.Labels)
		}
		r.info = &info
	}
	if next != driver.NextBlock {
		r.trouble.over()
	}
	r.worked = r.worked || len(t.commit.Events) > 0
	r.steps.drop(t.drop, r.host.exec)
	for _, s := range t.pauses {
		s.told = true
	}
	if next != driver.NextKeep {
		t.settle()
		if next == driver.NextClose && r.host.o.Hooks.Closed != nil {
			r.host.o.Hooks.Closed(r.info, t.commit.Terminal())
		}
		r.becomeIdle(next)
		return
	}
	if t.commit.Continue != nil {
		r.nextGeneration(t.commit.Continue)
	}
	if t.commit.TellsState() {
		hear(r, m.state)
	}
	if r.phase == ready { // else the engine failed while the commit was in flight
		r.carryOut(t)
		r.inputs.news = r.inputs.news || m.inboxLast > r.inputs.got && !onHold(r)
		if r.host.o.PassivateAlways && r.machine != nil {
			r.machine.Close()
			r.machine = nil
		}
	}
	r.advance()
}

// provesOwner tells whether the events of an accepted commit are in no history but one in which
// this owner wrote them. Whoever finds the last of them stored knows then that the claim has
// happened, also in a store that went back in time. The first event of a run is no such proof: it
// follows from the start alone, and every owner writes the same one.
func provesOwner(events []journal.Event) bool {
	return slices.ContainsFunc(events, func(ev journal.Event) bool { return ev.Kind != journal.RunStarted })
}

// staysWarm tells whether a parked run may be kept in memory. It is known again by the link of its
// last event, so whatever is kept must follow from its events. A message that the run has refused
// leaves no event: a store that went back to before it may have another one under its number, which
// a run that was kept would take for read.
func staysWarm(r *run) bool {
	return !r.host.o.PassivateAlways && r.machine != nil && r.inputs.got <= r.machine.InboxSeen()
}

// becomeIdle ends the activation after a commit that has freed the task. A parked run stays warm,
// and a blocked one remembers how often it was blocked.
func (r *run) becomeIdle(next driver.NextKind) {
	switch {
	case next == driver.NextPark && staysWarm(r):
		r.enter(idle)
		r.reportIdle()
	case next == driver.NextBlock:
		r.discard(ErrRunLost)
		r.enter(idle)
		r.reportIdle()
	case next == driver.NextClose:
		r.discard(ErrCancelRequested)
		r.enter(idle)
		r.reportVacant()
	default:
		r.discard(ErrShutdown)
		r.enter(idle)
		r.reportVacant()
	}
	r.host.released()
}

// nextGeneration makes this activation the owner of the next generation. Nothing of the last one
// remains but the messages in the inbox: they are read again. Raising the epoch makes answers of
// bodies that are still executed stale.
func (r *run) nextGeneration(next *journal.Continue) {
	r.steps.abandon(r.host.exec, ErrCancelRequested)
	r.inputs.abandon(r.host.exec)
	r.epoch++
	if r.machine != nil {
		r.machine.Close()
	}
	r.machine, r.proved = nil, false
	r.steps.clear()
	r.inputs = inputs{news: true}
	info := *r.info
	info.Generation, info.Input, info.Version, info.Continued, info.Rewound = info.Generation+1, next.Input, next.Version, next, nil
	r.info = &info
	lookForPause(r) // it may be of another version
	r.task.Generation, r.task.Version, r.task.Attempts = info.Generation, next.Version, nil
	ident := replay.InfoOf(&info)
	r.head = journal.Head{Link: replay.OriginOf(&ident)}
}

// undoTurn takes back a turn whose transaction was lost: nothing of it has happened. Its inputs
// wait again, except the outcome of the step whose effects are gone: that attempt has failed, and
// follows the retry policy. If the turn were repeated as it was, a transaction that can never
// commit (think of a deferred constraint) would be tried without end and without a pause.
func (r *run) undoTurn(t *turn, cause error) {
	r.machine.Close()
	r.machine = nil
	r.steps.undo()
	for _, s := range t.drop {
		s.dropped = false
	}
	again := make([]input, 0, len(t.taken)+len(r.inputs.queue))
	for _, in := range t.taken {
		if in.step != nil {
			r.steps.put(in.step)
		}
		if in.step == t.tx && in.step != nil {
			in.step.ended = false
			continue
		}
		again = append(again, in)
	}
	r.inputs.again(again)
	if t.tx != nil {
		r.retryOrEnd(t.tx, replay.FailureOf(cause))
	}
	r.steps.dirty = true // attempts of others may have been in the lost commit
}
