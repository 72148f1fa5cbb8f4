package driver

import (
	"cmp"
	"slices"
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

// NewFork returns what makes a fork of a run, with its first seq events. results, ascending,
// replace outcomes of them, or are those of steps that they have asked for and that had an outcome
// behind them. The events that the fork then has are the answer; those of the run stay as they are.
// The caller says more: key, queue and version of the fork, and what NewRewind leaves open.
func NewFork(run *journal.Run, events []journal.Event, seq journal.Seq, fork journal.RunID, results []Result) (*Rewind, *Fork, []journal.Event) {
	w := NewRewind(run, events, seq, true)
	w.Next.ForkOf(run)
	f := &Fork{Run: fork, Queue: run.Queue, Version: run.Version}
	kept := slices.Clone(events[:seq])
	for _, r := range results {
		if r.Seq <= seq {
			f.Results = append(f.Results, r)
			continue
		}
		ev := &events[r.Seq-1]
		w.Given = append(w.Given, Given{Cmd: ev.Cmd, Name: ev.Name, Output: r.Output})
	}
	slices.SortFunc(w.Given, func(a, b Given) int { return cmp.Compare(a.Cmd, b.Cmd) })
	if len(f.Results) == 0 {
		return w, f, kept
	}
	for _, r := range f.Results {
		ev := &kept[r.Seq-1]
		ev.Kind, ev.Payload = journal.StepCompleted, r.Output
		w.Next.Edited = append(w.Next.Edited, r.Seq)
	}
	slices.Sort(w.Next.Edited)
	w.Next.Edited = slices.Compact(w.Next.Edited)
	first := f.Results[0].Seq
	link := kept[first-2].Link // event 1 is the start
	for i := int(first) - 1; i < len(kept); i++ {
		kept[i].Link = kept[i].LinkAfter(link)
		link = kept[i].Link
		f.Links = append(f.Links, link)
	}
	return w, f, kept
}
