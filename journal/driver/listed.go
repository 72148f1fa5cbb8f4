package driver

import "github.com/reprise-run/reprise/journal"

// ListBytesMax bounds what a page of a listing has of values without a small limit: inputs,
// outcomes, what steps in retry have left, published values, headers. A page of a thousand runs
// with large inputs would be gigabytes: in the memory of the caller, and on a slow network for so
// long that a limit of the server ends the call, and every repetition of it.
const ListBytesMax = 4 << 20

// Listed counts the runs of a page. A page ends before the first run that has no room, except that
// one run always has: whoever asks for the next page gets on.
type Listed struct{ runs, bytes int }

// Fits tells whether a run has room, and counts it.
func (l *Listed) Fits(run *journal.Run) bool {
	bytes := listedBytes(run)
	if l.runs > 0 && l.bytes+bytes > ListBytesMax {
		return false
	}
	l.runs, l.bytes = l.runs+1, l.bytes+bytes
	return true
}

// listedBytes is what counts of a run for that.
func listedBytes(run *journal.Run) int {
	attempts := 0
	if run.Task != nil {
		for i := range run.Task.Attempts {
			attempts += attemptBytes(&run.Task.Attempts[i])
		}
	}
	bytes := ApartBytes(run, attempts)
	if run.Terminal != nil {
		bytes += EventBytes(run.Terminal)
	}
	return bytes
}
