package sim

import (
	"slices"

	"github.com/reprise-run/reprise/journal"
)

// checkSignals: a signal that was accepted is in the run's inbox once; those that one client sent one after the other are there in
// this order; and the inbox is consumed in order and without gaps (J5).
func checkSignals(f *finder) {
	for _, r := range f.runs {
		seen := r.consumed(f)
		list := r.payloads("")
		for _, m := range r.Inbox {
			if seen++; m.Number != seen {
				f.breaks("%s: message %d waits where %d must", r, m.Number, seen)
			}
			if m.Name != "" {
				list = append(list, decodeSignal(m.Payload))
			}
		}
		at := -1
		for _, payload := range r.acknowledged {
			switch i := slices.Index(list, payload); {
			case i < 0:
				f.breaks("%s: signal %q was accepted and is lost; there are %q", r, payload, list)
			case slices.Contains(list[i+1:], payload):
				f.breaks("%s: signal %q came twice: %q", r, payload, list)
			case i < at:
				f.breaks("%s: signal %q came before one that was accepted before it was sent: %q", r, payload, list)
			default:
				at = i
			}
		}
		for _, payload := range r.refused {
			if slices.Contains(list, payload) {
				f.breaks("%s: signal %q was refused, yet it came", r, payload)
			}
		}
	}
}

// consumed checks the consumption and returns the number of the newest message that was.
func (s *settled) consumed(f *finder) (seen journal.InboxSeq) {
	for i := range s.Events {
		if n := s.Events[i].Inbox; n != 0 {
			if n != seen+1 {
				f.breaks("%s: event %d consumes message %d after %d", s, i+1, n, seen)
			}
			seen = n
		}
	}
	return seen
}
