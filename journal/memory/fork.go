package memory

import (
	"maps"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// fork begins another run at a point of a run's history (J13): as a copy that goes back. All that
// can refuse it is looked at before the copy is in an index.
func (db *database) fork(of *record, a *driver.AdminAction, now time.Time) error {
	f := a.Fork
	if db.runs[f.Run] != nil { // J4: an earlier try made it
		return nil
	}
	r := &record{run: of.row(), events: of.events, inbox: slices.Clone(of.inbox), known: maps.Clone(of.known), answers: maps.Clone(of.answers)}
	r.run.ID, r.run.Key, r.run.Queue, r.run.Version, r.run.Parent = f.Run, f.Key, f.Queue, f.Version, nil
	r.run.CreatedAt, r.run.StartAt = now, instant(now)
	if of.open { // the timers of the fork go on if those of the run stand still
		r.run.Freezes = driver.EndFreeze(r.run.Freezes, instant(now))
	}
	for i := range r.inbox {
		r.inbox[i].Run = f.Run
	}
	if err := db.rewind(r, a.Rewind, now); err != nil {
		return err
	}
	r.past = make([][]journal.Event, a.Rewind.Generation) // of the other run's generations it has nothing
	for _, result := range f.Results {
		ev := &r.events[result.Seq-1]
		ev.Kind, ev.Payload = journal.StepCompleted, clonePayload(result.Output)
	}
	for i, link := range f.Links {
		r.events[int(f.Results[0].Seq)-1+i].Link = link
	}
	db.insert(r)
	detail, ofFork := f.Details(a)
	db.note(a, r.run.Workflow, detail, now)
	db.note(f.Noted(a), r.run.Workflow, ofFork, now)
	return nil
}
