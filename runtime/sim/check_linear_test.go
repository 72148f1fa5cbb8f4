package sim

import (
	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
)

// checkLinear: a history is gapless and append-only, its time never goes back, it ends with a terminal event exactly if the run is
// closed, and it is what the accepted commits wrote, one after the other (J1, J2, J7, J10).
func checkLinear(f *finder) {
	for _, r := range f.runs {
		for i := range r.Events {
			ev, last := &r.Events[i], i == len(r.Events)-1
			if int(ev.Seq) != i+1 {
				f.breaks("%s: event %d has seq %d", r, i+1, ev.Seq)
			}
			if i > 0 && ev.Time.Before(r.Events[i-1].Time) {
				f.breaks("%s: time goes back at event %d", r, ev.Seq)
			}
			if ev.Kind.Terminal() != (last && r.Run.Status.Closed()) {
				f.breaks("%s is %s, with %s at event %d of %d", r, r.Run.Status, ev.Kind, ev.Seq, len(r.Events))
			}
		}
		f.compare(r)
	}
}

// compare compares what is stored with what was acknowledged.
func (f *finder) compare(r *settled) {
	var acknowledged []string
	for _, c := range f.tape.commitsOf(r.id) {
		for i := range c.Events {
			ev := &c.Events[i]
			if int(ev.Seq) == len(acknowledged)+1 {
				acknowledged = append(acknowledged, ev.Kind.String()+" "+ev.Name)
			}
		}
	}
	if r.Run.Status == journal.Terminated {
		acknowledged = append(acknowledged, journal.RunTerminated.String()+" ") // an operator wrote it
	}
	var stored []string
	for i := range r.Events {
		stored = append(stored, r.Events[i].Kind.String()+" "+r.Events[i].Name)
	}
	if d := cmp.Diff(acknowledged, stored); d != "" {
		f.breaks("%s: the history is not what was acknowledged (-acknowledged +stored)\n%s", r, d)
	}
}
