package driver

import (
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// Fork makes of a [Rewind] one of a copy: the run stays as it is, and another one begins as its
// next generation would (J13). It has the run's row, but for what is said here, its whole inbox
// with the numbers that the kept events name, and no parent. The inbox is decided by
// [Rewind.Inbox], on the copy. Children are the run's own: nothing becomes of them.
type Fork struct {
	Run     journal.RunID // of the fork; a fork that exists is made by an earlier try, and stays as it is (J4)
	Key     string        // must be free; empty for none
	Queue   string
	Version int32
	Results []Result       // that replace those of kept events, ascending
	Links   []journal.Link // of the kept events from the first of Results on: they follow other events now
}

// Result is the output of a step that an operator gives it, whatever outcome it had.
type Result struct {
	Seq    journal.Seq
	Output journal.Payload
}

// check refuses what no fork has.
func (f *Fork) check(w *Rewind) error {
	switch {
	case f == nil || f.Run.IsZero():
		return fmt.Errorf("a fork without an id: %w", journal.ErrInvalid)
	case f.Version < 1:
		return fmt.Errorf("version %d of a fork: %w", f.Version, journal.ErrInvalid)
	case w.Next.Run.IsZero():
		return fmt.Errorf("a fork that does not say of which run: %w", journal.ErrInvalid)
	}
	if err := journal.CheckName("queue", f.Queue); err != nil {
		return err
	}
	if err := journal.CheckKey("key", f.Key); err != nil {
		return err
	}
	for i, r := range f.Results {
		if r.Seq < 1 || r.Seq > w.Head.Seq || i > 0 && r.Seq <= f.Results[i-1].Seq {
			return fmt.Errorf("result of event %d of %d that are kept: %w", r.Seq, w.Head.Seq, journal.ErrInvalid)
		}
	}
	if len(f.Results) > 0 && len(f.Links) != int(w.Head.Seq-f.Results[0].Seq)+1 || len(f.Results) == 0 && len(f.Links) > 0 {
		return fmt.Errorf("%d links of events with other results: %w", len(f.Links), journal.ErrInvalid)
	}
	return nil
}

// Details are what the audit says of a fork: with the run, and with the fork.
func (f *Fork) Details(a *AdminAction) (of, fork string) {
	w, what := a.Rewind, "begins anew"
	if w.Head.Seq > 0 {
		what = fmt.Sprintf("begins with events 1 to %d", w.Head.Seq)
	}
	var given []string
	for _, r := range f.Results {
		given = append(given, fmt.Sprintf("event %d", r.Seq))
	}
	what += givenText(append(given, w.givenSteps()...))
	return auditText(fmt.Sprintf("of generation %d: run %s %s", w.Generation, f.Run, what)),
		auditText(fmt.Sprintf("of run %s, generation %d: %s", a.Run, w.Generation, what))
}

// Noted is the action as the audit keeps it with the fork.
func (f *Fork) Noted(a *AdminAction) *AdminAction {
	noted := *a
	noted.Run = f.Run
	return &noted
}
