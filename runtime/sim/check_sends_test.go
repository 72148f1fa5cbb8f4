package sim

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// checkSends: what one run sends to another one arrives once, in the order in which it was sent, if
// the sender's turn is in the history; nothing else arrives. A turn behind a point to which somebody
// has gone back is in a branch, and what the code sends after that is sent again. So does a job that
// the database has lost and that is started again, as another run: see checkJobs.
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
			if slices.Contains(list[i+1:], payload) && !f.repeats(payload) {
				f.breaks("%s: signal %q came twice: %q", r, payload, list)
			}
			if second := slices.Index(list, payload+again); second >= 0 && second < i && !f.repeats(payload) {
				f.breaks("%s: signal %q came before %q: %q", r, payload+again, payload, list)
			}
		}
	}
}

// repeats tells whether who sends a signal may have done so several times: a program in several
// generations, or in a fork too, each of which sends its own, or a lost job.
func (f *finder) repeats(payload string) bool {
	root, _, program := strings.Cut(payload, "!")
	return strings.HasPrefix(payload, jobPrefix) && f.epoch > 0 || program && slices.ContainsFunc(f.runs, func(r *settled) bool { return fmt.Sprint(r.number) == root && r.wentBack() })
}

// sent tells whether a signal is in some inbox.
func (f *finder) sent(payload string) bool {
	return slices.ContainsFunc(f.runs, func(r *settled) bool { return slices.Contains(r.payloads(""), payload) })
}
