package sim

import (
	"fmt"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
)

// checkLinear: a history is gapless and append-only, its time never goes back, it ends with a
// terminal event exactly if the run is closed, and it is what the accepted commits wrote, one after
// the other (J1, J2, J7, J10).
func checkLinear(f *finder) {
	for _, r := range f.runs {
		generations := r.generations()
		if int(r.Run.Generation) != len(generations) {
			f.breaks("%s is in generation %d, of %d", r, r.Run.Generation, len(generations))
		}
		for g, events := range generations {
			f.history(r, g+1, events, g == len(generations)-1)
		}
		f.compare(r)
	}
}

// history checks one generation.
func (f *finder) history(r *settled, generation int, events []journal.Event, newest bool) {
	for i := range events {
		ev, last := &events[i], i == len(events)-1
		if int(ev.Seq) != i+1 {
			f.breaks("%s: event %d of generation %d has seq %d", r, i+1, generation, ev.Seq)
		}
		if i > 0 && ev.Time.Before(events[i-1].Time) {
			f.breaks("%s: time goes back at event %d of generation %d", r, ev.Seq, generation)
		}
		if ev.Kind.Terminal() != (last && newest && r.Run.Status.Closed()) || (ev.Kind == journal.RunContinued) != (last && !newest) {
			f.breaks("%s is %s, with %s at event %d of %d of generation %d", r, r.Run.Status, ev.Kind, ev.Seq, len(events), generation)
		}
	}
}

// compare compares what is stored with what was acknowledged.
func (f *finder) compare(r *settled) {
	var acknowledged []string
	for _, c := range f.tape.commitsOf(r.id) {
		for i := range c.Events {
			acknowledged = append(acknowledged, told(c.Generation, &c.Events[i]))
		}
	}
	if r.Run.Status == journal.Terminated && len(r.Events) > 0 {
		acknowledged = append(acknowledged, told(r.Run.Generation, &r.Events[len(r.Events)-1])) // no owner wrote it
	}
	var stored []string
	for g, events := range r.generations() {
		for i := range events {
			stored = append(stored, told(journal.Generation(g+1), &events[i]))
		}
	}
	if d := cmp.Diff(acknowledged, stored); d != "" {
		f.breaks("%s: the history is not what was acknowledged (-acknowledged +stored)\n%s", r, d)
	}
}

// told is what is compared of an event.
func told(g journal.Generation, ev *journal.Event) string {
	return fmt.Sprintf("%d/%d %s %s", g, ev.Seq, ev.Kind, ev.Name)
}
