package driver

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// EndsBytesMax bounds the outcomes of one answer to [Store.Ends], but for the last of them.
const EndsBytesMax = 8 << 20

// End is what has become of a run for whose end somebody waits.
//
// Nearly all runs that are asked about are still open, and they are asked about again and again. So
// an answer names only runs of which there is something to say, and of these only what the waiting
// caller gets: neither inputs nor labels, which do not change and may be large.
type End struct {
	Run      journal.RunID
	Terminal *journal.Event // of a run that is closed
	// Later says that the run is closed and that its outcome did not fit into this answer, see
	// [EndsBytesMax]: ask again.
	Later bool
	Err   error // ErrNotFound, or an UnreadableError: it is not known how the run ended
}

// check notes an outcome of a kind that this release does not know, and one that is missing.
func (e *End) check() {
	switch ev := e.Terminal; {
	case e.Err != nil || e.Later:
	case ev == nil:
		e.Err = missingEnd(e.Run)
	case !ev.Kind.Known():
		e.Err = UnreadableEvent(e.Run, ev.Seq, unknownKind(ev))
	}
}

// FitEnd tells whether an outcome fits into an answer that holds so many bytes already. The first
// one always fits, however large it is, so whoever asks again gets on.
func FitEnd(used int) bool { return used < EndsBytesMax }

// Ends returns what has become of those runs that are closed or do not exist. The others are not
// named.
func (j *Journal) Ends(ctx context.Context, runs []journal.RunID) ([]End, error) {
	began := time.Now()
	var out []End
	ask := func(from, to int) error {
		got, err := j.store.Ends(ctx, runs[from:to])
		if err != nil {
			return err
		}
		for i := range got {
			got[i].check()
		}
		out = append(out, got...)
		return nil
	}
	err := inBatches(len(runs), func(from, to int) error {
		return ApartFromDamage(from, to, ask, func(i int, why error) error {
			out = append(out, End{Run: runs[i], Err: &journal.UnreadableError{Run: runs[i], Part: "end", Err: why}})
			return nil
		})
	})
	j.outage.note("ends", err)
	j.observe("ends", len(runs), 0, began, err)
	if err != nil {
		return nil, fmt.Errorf("ends of runs: %w", err)
	}
	return out, nil
}
