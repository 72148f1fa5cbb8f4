package sim

import (
	"slices"

	"github.com/reprise-run/reprise/journal"
)

// checkSends: what one run sends to another one arrives once, in the order in which it was sent, if
// the sender's turn is in the history; nothing else arrives.
func checkSends(f *finder) {
	for _, r := range f.runs {
		at := map[journal.RunID]journal.InboxSeq{}
		for _, t := range f.tape.tells[r.id] {
			if t.number <= at[t.from] {
				f.breaks("%s: signal %q is message %d, and one that was sent before is %d", r, t.payload, t.number, at[t.from])
			}
			at[t.from] = t.number
		}
		list := r.payloads("")
		for i, payload := range list {
			if slices.Contains(list[i+1:], payload) {
				f.breaks("%s: signal %q came twice: %q", r, payload, list)
			}
			if second := slices.Index(list, payload+again); second >= 0 && second < i {
				f.breaks("%s: signal %q came before %q: %q", r, payload+again, payload, list)
			}
		}
	}
}

// sent tells whether a signal is in some inbox.
func (f *finder) sent(payload string) bool {
	return slices.ContainsFunc(f.runs, func(r *settled) bool { return slices.Contains(r.payloads(""), payload) })
}
