package sim

import (
	"slices"

	"github.com/reprise-run/reprise/journal"
)

// checkOutcomes: each outcome is recorded once in a generation, for a command of its name, and that of
// a completed step is what one of its executions returned, or what an operator has given it. Those
// that a fork has as copies were executed by the other run.
func checkOutcomes(f *finder) {
	for _, r := range f.runs {
		for _, events := range r.generations() {
			f.outcomes(r, events)
		}
	}
}

// outcomes checks those of one generation, copies among them.
func (f *finder) outcomes(r *settled, events []journal.Event) {
	var issued []journal.Issued
	known := map[journal.Cmd]bool{}
	for i := range events {
		ev := &events[i]
		if ev.Cmd != 0 {
			if known[ev.Cmd] {
				f.breaks("%s: event %d is a second outcome of command %d", r, ev.Seq, ev.Cmd)
			}
			known[ev.Cmd] = true
			if int(ev.Cmd) > len(issued) || issued[ev.Cmd-1].Name != ev.Name {
				f.breaks("%s: event %d answers command %d %q, which was not asked", r, ev.Seq, ev.Cmd, ev.Name)
			}
		}
		if ev.Kind == journal.StepCompleted && !f.returned(r, ev) {
			f.breaks("%s: event %d says that step %s returned %s, which no execution did", r, ev.Seq, ev.Name, ev.Payload.Data)
		}
		issued = append(issued, ev.Issued...)
	}
}

// returned tells whether some execution returned what an event says, if it is of a step with an
// output.
func (f *finder) returned(r *settled, ev *journal.Event) bool {
	if out := decodeSignal(ev.Payload); slices.Contains(r.given(ev.Name), out) {
		return true
	}
	of := r.ancestors()
	for _, e := range f.executions {
		mine := slices.ContainsFunc(of, func(s *settled) bool { return s.id == e.run })
		if mine && e.step == ev.Name && e.done && (ev.Name[0] != 's' || e.out == decodeSignal(ev.Payload)) {
			return true
		}
	}
	return false
}
