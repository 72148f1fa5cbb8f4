package actor

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay"
)

// turn is one decision on its way into the journal: the commit, what the run took to make it, and
// what is to happen when it is written.
//
// A run has one, because it takes no turn before the outcome of the last one is known. Its memory
// is used again and again. What start, cancel and drop list must not happen earlier: a step that
// runs although the turn that asked for it is lost would run twice.
type turn struct {
	taken  []input
	commit driver.Commit
	start  []*step
	cancel []*step
	drop   []*step
	pauses []*step // exhausted, and not told yet: the commit pauses the run
	tx     *step   // whose transaction carries the commit, nil for none
	bytes  int     // of the events and of the replies that refuse updates
}

// reset empties the turn and keeps its memory.
func (t *turn) reset() *turn {
	clear(t.taken)
	clear(t.start)
	clear(t.cancel)
	clear(t.drop)
	clear(t.pauses)
	*t = turn{taken: t.taken[:0], start: t.start[:0], cancel: t.cancel[:0], drop: t.drop[:0], pauses: t.pauses[:0]}
	return t
}

// addDecision takes over what the code asked for. The steps join the table, not durable yet.
func (t *turn) addDecision(d *replay.Decision, table *steps) {
	t.commit.Starts, t.commit.Messages = d.Starts, d.Messages
	t.commit.Replies = append(t.commit.Replies, d.Replies...)
	t.commit.Published, t.commit.Labels = d.Published, d.Labels
	for _, asked := range d.Steps {
		if table.get(asked.Cmd) == nil {
			s := &step{Step: asked}
			table.put(s)
			t.start = append(t.start, s)
		}
	}
	for _, cmd := range d.CancelSteps {
		if s := table.get(cmd); s != nil && !s.ended { // else its outcome came before the request to cancel
			t.cancel = append(t.cancel, s)
		}
	}
	for _, cmd := range d.DropSteps {
		if s := table.get(cmd); s != nil {
			s.dropped = true
			t.drop = append(t.drop, s)
		}
	}
}

// settle makes the steps of a turn that is written what the turn says.
func (t *turn) settle() {
	for _, s := range t.start {
		s.durable = true
	}
	for _, s := range t.cancel {
		s.Cancelled = true
	}
}

// room tells whether the turn may take another event.
func (t *turn) room(m *replay.Machine) bool {
	return len(t.commit.Events) < turnEventsMax && len(t.commit.Replies)+m.Effects() < turnEffectsMax &&
		t.bytes+m.EffectBytes() < turnBytesMax
}

// outcome returns the event of a step's end, and lets the step's transaction, if it has one, carry
// the commit.
func (t *turn) outcome(in *input) journal.Event {
	s, res := in.step, &in.result
	ev := journal.Event{Kind: journal.StepCompleted, Cmd: s.Cmd, Name: s.Name, Attempt: s.made + 1, Payload: res.output}
	if res.failure != nil {
		ev.Kind, ev.Payload = journal.StepFailed, journal.EncodeFailure(res.failure)
		ev.Attempt = s.made
	}
	if s.given != nil {
		ev.Attempt = s.made // nobody has executed it
	}
	if res.tx != nil {
		t.tx, t.commit.Tx = s, res.tx
	}
	return ev
}

// apply adds an event to the commit and steps the machine with it. The event of a step's end
// removes the step from the table. After an error the whole turn is thrown away.
func (t *turn) apply(m *replay.Machine, table *steps, ev journal.Event) error {
	t.commit.Events = append(t.commit.Events, ev)
	added := &t.commit.Events[len(t.commit.Events)-1] // where the event stays, so that stepping needs no other copy
	err := m.Step(added)
	t.bytes += driver.EventBytes(added)
	if err != nil {
		return err
	}
	if added.Kind == journal.StepCompleted || added.Kind == journal.StepFailed {
		table.remove(added.Cmd)
	}
	return nil
}
