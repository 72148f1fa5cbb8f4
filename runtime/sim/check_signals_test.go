package sim

import (
	"slices"

	"github.com/reprise-run/reprise/journal"
)

// checkSignals: a signal that was accepted is in the run's inbox once; those that one client sent
// one after the other are there in this order; and the inbox is consumed in order and without gaps
// (J5).
func checkSignals(f *finder) {
	for _, r := range f.runs {
		r.consumed(f)
		list := r.payloads("")
		at := -1
		for _, payload := range r.acknowledged() {
			switch i := slices.Index(list, payload); {
			case i < 0:
				f.breaks("%s: signal %q was accepted and is lost; there are %q", r, payload, list)
			case slices.Contains(list[i+1:], payload):
				f.breaks("%s: signal %q came twice: %q", r, payload, list)
			case f.resent[payload]: // beside what its client sent next
			case i < at:
				f.breaks("%s: signal %q came before one that was accepted before it was sent: %q", r, payload, list)
			default:
				at = i
			}
		}
		for _, payload := range r.refused() {
			if slices.Contains(list, payload) && !r.wentBack() { // an earlier try may arrive when the run is open again
				f.breaks("%s: signal %q was refused, yet it came", r, payload)
			}
		}
	}
}

// acknowledged lists the payloads of signals that were accepted.
func (r *running) acknowledged() (list []string) {
	for _, d := range r.done {
		if d.signal && !d.refused {
			list = append(list, d.payload)
		}
	}
	return list
}

// refused lists those of signals that came too late: the run was closed.
func (r *running) refused() (list []string) {
	for _, d := range r.done {
		if d.signal && d.refused {
			list = append(list, d.payload)
		}
	}
	return list
}

// consumed checks that each generation takes first what was carried over to it and then all that is
// newer, without gaps, but for updates that were rejected. Copied events have taken what they took in
// the original, and what a rewind brings again comes behind that: both are carried over to it.
func (s *settled) consumed(f *finder) {
	for g, events := range s.generations() {
		next := inboxFront{rejected: s.Answers}
		if g < s.first() {
			continue
		}
		if from := s.begins[g].from; from != nil {
			next.carried, next.seen = from.Carried, from.Seen
		} else if g > 0 && s.begins[g].back == nil {
			f.breaks("%s: nobody has begun generation %d", s, g+1)
			return
		}
		for i := range events {
			if n := events[i].Inbox; n != 0 {
				if want := next.take(); n != want {
					f.breaks("%s: event %d of generation %d consumes message %d, and %d is next", s, i+1, g+1, n, want)
					return
				}
			}
		}
		if g < len(s.Past) || s.Run.Status.Closed() {
			continue
		}
		for _, m := range s.Inbox {
			if want := next.take(); m.Number != want {
				f.breaks("%s: message %d waits where %d must", s, m.Number, want)
				return
			}
		}
	}
}

// inboxFront is what comes next out of an inbox.
type inboxFront struct {
	carried  []journal.InboxSeq
	seen     journal.InboxSeq
	rejected map[journal.InboxSeq]journal.Answer
}

func (x *inboxFront) take() (n journal.InboxSeq) {
	for n == 0 || x.rejected[n].Rejected {
		if len(x.carried) > 0 {
			n, x.carried = x.carried[0], x.carried[1:]
		} else {
			x.seen++
			n = x.seen
		}
	}
	return n
}
