package memory

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/filter"
)

// Aggregate implements driver.Store. It looks at runs, oldest first, until it has counted enough.
func (s *Store) Aggregate(ctx context.Context, a journal.Aggregate) (journal.Aggregated, error) {
	by, err := filter.ParseBy(a.By)
	if err != nil {
		return journal.Aggregated{}, err
	}
	now, err := s.enter(ctx)
	if err != nil {
		return journal.Aggregated{}, err
	}
	defer s.db.mu.Unlock()
	q, err := filter.NewQuery(a.Filter.Where, "", func() (time.Time, error) { return now, nil })
	if err != nil {
		return journal.Aggregated{}, err
	}
	tally, most := filter.NewTally(by), filter.CapOf(&a)
	for _, r := range s.db.candidates(&a.Filter, journal.RunID{}) {
		if tally.Runs() == most {
			break
		}
		if run := r.subject(); r.matches(&a.Filter) && filter.Match(q.Where, &run) {
			tally.Add(&run, r.told(&a))
		}
	}
	return filter.Answer(tally.Groups(), by, tally.Runs(), most, now), nil
}

// told is what the run's history tells, if an aggregate asks for that.
func (r *record) told(a *journal.Aggregate) *filter.Told {
	if !a.Histories {
		return nil
	}
	return new(filter.TellFrom(r.events))
}
