package sim

import (
	"github.com/reprise-run/reprise/journal"
)

// checkOutcomes: each outcome is recorded once, for a command of its name, and that of a completed
// step is what one of its executions returned.
func checkOutcomes(f *finder) {
	for _, r := range f.runs {
		var issued []journal.Issued
		known := map[journal.Cmd]bool{}
		for ev := range r.events() {
			if ev.Seq == 1 {
				issued, known = nil, map[journal.Cmd]bool{}
			}
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
}

// returned tells whether some execution returned what an event says, if it is of a step with an
// output.
func (f *finder) returned(r *settled, ev *journal.Event) bool {
	for _, e := range f.executions {
		if e.run == r.id && e.step == ev.Name && e.done && (ev.Name[0] != 's' || e.out == decodeSignal(ev.Payload)) {
			return true
		}
	}
	return false
}
