package driver

import (
	"strconv"

	"github.com/reprise-run/reprise/journal"
)

// NewRewind returns what makes the next generation of a run out of the first seq events of its
// present one. events are at least these. again says that steps which run again are others than
// before, see journal.Rewound. The caller says more: what comes again, and an input if seq is 0.
func NewRewind(run *journal.Run, events []journal.Event, seq journal.Seq, again bool) *Rewind {
	w := &Rewind{Generation: run.Generation, Before: run.Rewound}
	cmds := journal.Cmd(0)
	replied := map[string]bool{}
	for i := range events[:seq] {
		ev := &events[i]
		if ev.Inbox != 0 {
			w.Consumed = append(w.Consumed, ev.Inbox)
		}
		if ev.Kind == journal.UpdateReceived {
			w.Unanswered = append(w.Unanswered, ev.Inbox)
		}
		for k := range ev.Issued {
			if cmds++; ev.Issued[k].Kind == journal.CommandReply {
				replied[ev.Issued[k].Detail] = true
			}
		}
		w.Head = journal.Head{Seq: ev.Seq, Link: ev.Link}
	}
	open := w.Unanswered[:0]
	for _, n := range w.Unanswered {
		if !replied[strconv.FormatInt(int64(n), 10)] {
			open = append(open, n)
		}
	}
	w.Unanswered = open
	var seen journal.InboxSeq
	if run.Continued != nil {
		seen = run.Continued.Seen
	}
	w.Next = run.Rewound.After(run.Generation, seq, cmds, seen, again)
	return w
}
