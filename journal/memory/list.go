package memory

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/filter"
)

// List implements driver.Store. Ids sort by the time of the start, so newest first is the reverse
// of their order, and the id of a page's last run is the cursor.
func (s *Store) List(ctx context.Context, f journal.ListFilter) (journal.RunPage, error) {
	limit := f.Limit
	if limit <= 0 || limit > journal.ListMax {
		limit = journal.ListDefault
	}
	if f.Where != "" {
		return s.find(ctx, &f, limit)
	}
	// A cursor that is no id came from nobody's page. To list from the beginning would hide the
	// mistake.
	var cursor journal.RunID
	if f.Cursor != "" {
		var err error
		if cursor, err = journal.ParseRunID(f.Cursor); err != nil {
			return journal.RunPage{}, fmt.Errorf("cursor: %w", err)
		}
	}
	now, err := s.enter(ctx)
	if err != nil {
		return journal.RunPage{}, err
	}
	defer s.db.mu.Unlock()
	// The page ends where one run more would not fit, so a last page that is full has no Next.
	page := journal.RunPage{Now: now}
	var room driver.Listed
	for _, r := range slices.Backward(s.db.candidates(&f, cursor)) {
		if !r.matches(&f) {
			continue
		}
		run := r.listed()
		if n := len(page.Runs); n == limit || !room.Fits(&run) {
			page.Next = page.Runs[n-1].ID.String()
			break
		}
		page.Runs = append(page.Runs, run)
	}
	return page, nil
}

// find is List for a filter that has a condition, which may say another order. It looks at every
// run, and sorts those that match.
func (s *Store) find(ctx context.Context, f *journal.ListFilter, limit int) (journal.RunPage, error) {
	now, err := s.enter(ctx)
	if err != nil {
		return journal.RunPage{}, err
	}
	defer s.db.mu.Unlock()
	q, err := filter.NewQuery(f.Where, f.Cursor, func() (time.Time, error) { return now, nil })
	if err != nil {
		return journal.RunPage{}, err
	}
	type placed struct {
		at filter.Place
		r  *record
	}
	var found []placed
	for _, r := range s.db.candidates(f, journal.RunID{}) {
		if run := r.subject(); r.matches(f) && q.Selects(&run) {
			at, _ := q.Order.Place(&run)
			found = append(found, placed{at, r})
		}
	}
	slices.SortFunc(found, func(a, b placed) int { return q.Order.Compare(a.at, b.at) })
	page := journal.RunPage{Now: now}
	var room driver.Listed
	for i, p := range found {
		run := p.r.listed()
		if i == limit || !room.Fits(&run) {
			page.Next = q.Cursor(&page.Runs[i-1])
			break
		}
		page.Runs = append(page.Runs, run)
	}
	return page, nil
}

// subject returns what a condition is about, without copies: it is read under the lock only.
func (r *record) subject() journal.Run {
	run := r.run
	if !r.open {
		run.Terminal = &r.events[len(r.events)-1]
		return run
	}
	t := r.task
	if r.waiting != "" && t.State != journal.Blocked {
		t.Waiting = strings.Split(r.waiting, "\n")
	}
	run.Task = &t
	return run
}

// candidates returns the runs behind a cursor among which a filter selects, oldest first.
// Ids are looked up; every other condition is asked of every run, which a store in memory can
// afford and a database answers by an index.
func (db *database) candidates(f *journal.ListFilter, cursor journal.RunID) []*record {
	list := db.sorted
	if len(f.IDs) > 0 {
		list = nil
		for _, id := range f.IDs {
			if r := db.runs[id]; r != nil {
				list = append(list, r)
			}
		}
		slices.SortFunc(list, func(a, b *record) int { return bytes.Compare(a.run.ID[:], b.run.ID[:]) })
		list = slices.Compact(list)
	}
	if !cursor.IsZero() {
		to, _ := slices.BinarySearchFunc(list, cursor, byID)
		list = list[:to]
	}
	return list
}

// matches tells whether a run meets every condition of a filter that is set.
func (r *record) matches(f *journal.ListFilter) bool {
	switch {
	case f.Key != "" && f.Key != r.run.Key,
		!strings.HasPrefix(r.run.Key, f.KeyPrefix),
		f.Workflow != "" && f.Workflow != r.run.Workflow,
		f.Version != 0 && f.Version != r.run.Version,
		f.Status != nil && *f.Status != r.run.Status,
		!f.Parent.IsZero() && (r.run.Parent == nil || r.run.Parent.Run != f.Parent),
		f.Unchanged != "" && (!r.open || r.changed(f.Unchanged)),
		f.State != nil && (!r.open || *f.State != r.task.State),
		!f.Since.IsZero() && r.run.CreatedAt.Before(f.Since),
		!f.Until.IsZero() && !r.run.CreatedAt.Before(f.Until):
		return false
	}
	for k, v := range f.Labels {
		if have, ok := r.run.Labels[k]; !ok || have != v {
			return false
		}
	}
	return true
}

// changed tells whether the current generation has taken the new branch of a change. Another driver
// asks an index; here the events themselves are looked through.
func (r *record) changed(id string) bool {
	return slices.ContainsFunc(r.events, func(ev journal.Event) bool {
		return slices.ContainsFunc(ev.Issued, func(i journal.Issued) bool { return i.Kind == journal.CommandChange && i.Name == id })
	})
}

// listed returns the run with its task or its terminal event. It has one of them, since a run is
// open exactly while it has a task (J7).
func (r *record) listed() journal.Run {
	run := r.withTask()
	run.Terminal = r.terminal()
	return run
}
