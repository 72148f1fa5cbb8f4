package journaltest

import "github.com/reprise-run/reprise/journal"

// originOf returns what the first event of a run's generation follows.
func originOf(run *journal.Run) journal.Link {
	if r := run.Rewound; r != nil && r.Origin != 0 {
		return journal.OriginOf(r.FirstRun(run.ID), r.Origin, r.Seen, run.Input)
	}
	var seen journal.InboxSeq
	if run.Continued != nil {
		seen = run.Continued.Seen
	}
	return journal.OriginOf(run.ID, run.Generation, seen, run.Input)
}
