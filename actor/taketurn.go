package actor

import (
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay"
)

// takeTurn steps the machine with everything that has happened and submits what the code makes of
// it. It returns false if nothing has happened, so there is nothing to do until the next message.
func (r *run) takeTurn() (more bool) {
	t := r.turn.reset()
	comeToRest(r)
	tooLong := int(r.machine.LastSeq()) >= r.host.o.HistoryMax
	if !r.handBack && !tooLong && !unanswered(r) && unchanged(r.machine, &r.inputs, &r.steps, r.now()) {
		r.startDue()
		return false
	}
	complete := false
	defer func() {
		for i := 0; !complete && i < len(t.taken); i++ { // after an error, and also if the engine panics
			r.host.exec.rollback(t.taken[i].result.tx)
		}
	}()
	first := r.machine.LastSeq() == 0
	if err := r.watched(func() error { return r.takeInputs(t, first) }); err != nil {
		r.fail(err)
		return true
	}
	complete = true
	d := r.machine.Take()
	t.addDecision(&d, &r.steps)
	for i := range d.Starts {
		d.Starts[i].Trace = r.host.traceOf(r.info)
	}
	if r.host.o.Hooks.SetAside != nil {
		for i := range d.SetAside {
			r.host.o.Hooks.SetAside(r.info, &d.SetAside[i])
		}
	}
	events := t.commit.Events
	news := len(events) > len(r.uncommitted) || r.steps.dirty || t.commit.HasEffects() || d.Terminal != nil || unanswered(r)
	if d.Terminal != nil {
		events = append(events, r.terminalEvent(t, &d))
	}
	t.commit.Events = events
	onlySteps := first && r.info.Continued == nil && len(events) == 1 && d.OnlySteps && !t.commit.HasEffects()
	if onlySteps && !r.host.draining.Load() {
		// This turn is a function of the durable start row alone, so its steps may start before its
		// event is stored; the event joins the next commit.
		r.uncommitted = events
		r.carryOut(t)
		return true
	}
	r.planTask(t)
	if !news && t.commit.Next.Kind == driver.NextKeep {
		r.carryOut(t)
		return false
	}
	r.submit(t, committing)
	return true
}

// unchanged tells whether a turn would only find the run as the last one has left it: nothing has
// happened, no timer is due, and the task stays owned because a body is executed. That is so after
// nearly every commit, and a turn costs as much whether it finds something or not.
func unchanged(m *replay.Machine, in *inputs, open *steps, now time.Time) bool {
	if m.LastSeq() == 0 || m.Finished() || len(in.queue) > 0 || open.dirty || !open.running() {
		return false
	}
	timer, armed := m.NextTimer()
	return !armed || timer.Due.After(now)
}

// takeInputs steps the machine once for every due timer and every input, earliest first. At most
// one transaction takes part, because it carries the commit. The code may end before all inputs are
// taken; what it may ask for is limited, so that the commit stays within what the journal accepts.
func (r *run) takeInputs(t *turn, first bool) error {
	now := r.now()
	room := len(r.uncommitted) + min(max(len(r.inputs.queue), 1), turnEventsMax)
	t.commit.Events = append(make([]journal.Event, 0, room), r.uncommitted...)
	if first {
		if err := t.apply(r.machine, &r.steps, r.machine.First(r.info, now)); err != nil {
			return err
		}
	}
	if n := int(r.machine.LastSeq()); n >= r.host.o.HistoryMax {
		return fmt.Errorf("the history has %d events, the limit is %d: the workflow should continue as new in time",
			n, r.host.o.HistoryMax)
	}
	for !r.machine.Finished() && t.room(r.machine) {
		queue := r.inputs.queue
		timer, armed := r.machine.NextTimer()
		due := armed && !timer.Due.After(now) && !r.inputs.borrowed() && !onHold(r) && !r.unthawed
		if due && (len(queue) == 0 || !queue[0].at.Before(timer.Due)) {
			if err := t.apply(r.machine, &r.steps, r.machine.Stamp(timer.Event(), now)); err != nil {
				return err
			}
			continue
		}
		if len(queue) == 0 || queue[0].result.tx != nil && t.tx != nil {
			return nil
		}
		r.machine.CancelFollows(r.inputs.cancelFollows())
		in := r.inputs.first()
		t.taken = append(t.taken, in)
		ev, ok := r.event(t, &in, now)
		if !ok {
			continue
		}
		if err := t.apply(r.machine, &r.steps, ev); err != nil {
			return err
		}
	}
	return nil
}

// event returns the event that an input becomes. It is false for an input that becomes none: the
// outcome of a step that nobody waits for any more, or an update that the code refuses, whose reply
// joins the commit.
func (r *run) event(t *turn, in *input, now time.Time) (journal.Event, bool) {
	if in.message != nil {
		t.commit.Consumed = append(t.commit.Consumed, driver.Consumed{Number: in.message.Number, Digest: in.message.Digest()})
		ev, refusal := r.machine.Offer(in.message, now)
		if refusal != nil {
			t.commit.Replies = append(t.commit.Replies, *refusal)
			t.bytes += len(refusal.Payload.Data)
		}
		return ev, refusal == nil
	}
	if !r.machine.Waits(in.step.Cmd) {
		r.steps.remove(in.step.Cmd)
		r.host.exec.rollback(in.result.tx)
		return journal.Event{}, false
	}
	if in.at.After(now) {
		now = in.at
	}
	return r.machine.Stamp(t.outcome(in), now), true
}
