package sim

import (
	"fmt"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
)

// checkLinear: a history is gapless and append-only, its time never goes back, it ends with a
// terminal event exactly if the run is closed, or was when somebody went back, and with RunContinued
// exactly if it has handed on to the next; and it is what the accepted commits wrote, one after the
// other, behind what a rewind has copied (J1, J2, J7, J10, J13).
func checkLinear(f *finder) {
	for _, r := range f.runs {
		generations := r.generations()
		if int(r.Run.Generation) != len(generations) {
			f.breaks("%s is in generation %d, of %d", r, r.Run.Generation, len(generations))
		}
		for g, events := range generations {
			if g >= r.first() {
				f.history(r, g, events)
			}
		}
		f.compare(r)
	}
}

// history checks one generation.
func (f *finder) history(r *settled, g int, events []journal.Event) {
	generation, newest, next := g+1, g == len(r.begins)-1, &begin{}
	if !newest {
		next = &r.begins[g+1]
	}
	closed := newest && r.Run.Status.Closed() || next.back != nil && next.back.closed != nil
	for i := range events {
		ev, last := &events[i], i == len(events)-1
		if int(ev.Seq) != i+1 {
			f.breaks("%s: event %d of generation %d has seq %d", r, i+1, generation, ev.Seq)
		}
		if i > 0 && ev.Time.Before(events[i-1].Time) {
			f.breaks("%s: time goes back at event %d of generation %d", r, ev.Seq, generation)
		}
		if ev.Kind.Terminal() != (last && closed) || (ev.Kind == journal.RunContinued) != (last && !newest && next.back == nil) {
			f.breaks("%s is %s, with %s at event %d of %d of generation %d", r, r.Run.Status, ev.Kind, ev.Seq, len(events), generation)
		}
	}
}

// compare compares what is stored with what was acknowledged.
func (f *finder) compare(r *settled) {
	var acknowledged, stored []string
	backs := f.tape.backsOf(r.id)
	copied := func(before int) {
		for ; len(backs) > 0 && backs[0].commits <= before; backs = backs[1:] {
			g := backs[0].generation()
			for i := range backs[0].a.Rewind.Head.Seq {
				acknowledged = append(acknowledged, fmt.Sprintf("%d/%d is a copy", g+1, i+1)) // of the right one: see rewinding
			}
		}
	}
	for _, c := range f.tape.commitsOf(r.id) {
		copied(c.place)
		for i := range c.Events {
			acknowledged = append(acknowledged, told(c.Generation, &c.Events[i]))
		}
	}
	copied(f.tape.end())
	for g, events := range r.generations() {
		for i := range events {
			switch ev := &events[i]; {
			case i < r.begins[g].kept:
				stored = append(stored, fmt.Sprintf("%d/%d is a copy", g+1, ev.Seq))
			case ev.Kind != journal.RunTerminated && !isPushed(ev): // which no owner writes
				stored = append(stored, told(journal.Generation(g+1), ev))
			}
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
