package sim

import (
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// checkEffects: nothing is executed before the journal asks for it, but the steps of a first turn,
// which its start decides; and what a step does in the store's transaction happens exactly as often
// as it is recorded, once. That of later turns is checked when an execution begins.
func checkEffects(f *finder) {
	for _, e := range f.executions {
		r := f.left(e.run)
		if r == nil || !e.early || !r.began() {
			continue
		}
		if !asksFor(r.firstEvents(), e.step) && !f.tape.asked(e.run, e.step) {
			f.breaks("%s: step %s was executed before anything was durable, but the first event does not ask for it", r, e.step)
		}
	}
	for _, r := range f.runs {
		walkOwn(r.plan.Program, func(in *instr) {
			if !in.transacts() {
				return
			}
			for _, name := range []string{in.step(), in.undo()} {
				want, drawn := 0, map[string]bool{}
				for ev := range r.own() { // a branch has happened too, and a copy has not
					if ev.Kind != journal.StepCompleted || ev.Name != name {
						continue
					}
					out := decodeSignal(ev.Payload)
					if isGiven := slices.Contains(r.given(name), out); isGiven && (!r.keepsOwn(out) || drawn[out]) {
						continue
					}
					drawn[out] = true
					want++
				}
				if got := f.effects[r.id.String()+name]; got != want {
					f.breaks("%s: the effect of transaction %s happened %d times, it is recorded %d times", r, name, got, want)
				}
			}
		})
	}
}

// keepsOwn tells of a result that was given to a step whether the run's own execution may have drawn
// it before: a retry gives the others of a fan-out what they have returned.
func (s *settled) keepsOwn(out string) bool {
	return s.fork == 0 && !strings.HasPrefix(out, byOperator)
}

func (f *finder) left(id journal.RunID) *settled {
	for _, r := range f.runs {
		if r.id == id {
			return r
		}
	}
	return nil
}

// began tells whether anything of the run's program is recorded: it may have been terminated before
// that.
func (s *settled) began() bool {
	first := s.generations()[s.first()]
	return len(first) > 0 && first[0].Kind == journal.RunStarted
}

// firstEvents are those with which a generation begins that begins anew.
func (s *settled) firstEvents() (list []journal.Event) {
	for g, events := range s.generations() {
		if len(events) > 0 && s.begins[g].kept == 0 {
			list = append(list, events[0])
		}
	}
	return list
}
