package sim

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// checkLinks: each event is chained to the one before it, and the first of a generation to what the
// generation began with. The one exception is the end that a store writes by itself.
func checkLinks(f *finder) {
	for _, r := range f.runs {
		for _, h := range r.histories() {
			link := replay.OriginOf(&h.Run)
			for i := range h.Events {
				ev := &h.Events[i]
				var want journal.Link
				if !ev.ByStore() {
					want = ev.LinkAfter(link)
				}
				if ev.Link != want {
					f.breaks("%s: event %d of generation %d has the link %x, and what is before it gives %x", r, ev.Seq, h.Run.Generation, ev.Link, want)
				}
				link = ev.Link
			}
		}
	}
}
