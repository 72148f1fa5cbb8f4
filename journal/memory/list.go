package memory

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// List implements driver.Store.
func (s *Store) List(ctx context.Context, f journal.ListFilter) (journal.RunPage, error) {
	limit := f.Limit
	if limit <= 0 || limit > journal.ListMax {
		limit = journal.ListDefault
	}
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
	page := journal.RunPage{Now: now}
	for _, r := range slices.Backward(s.db.candidates(&f, cursor)) {
		if !r.matches(&f) {
			continue
		}
		if len(page.Runs) == limit {
			page.Next = page.Runs[limit-1].ID.String()
			break
		}
		page.Runs = append(page.Runs, r.listed())
	}
	return page, nil
}

// candidates returns the runs behind a cursor among which a filter selects, oldest first.
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

// changed tells whether the current generation has taken the new branch of a change.
func (r *record) changed(id string) bool {
	return slices.ContainsFunc(r.events, func(ev journal.Event) bool {
		return slices.ContainsFunc(ev.Issued, func(i journal.Issued) bool { return i.Kind == journal.CommandChange && i.Name == id })
	})
}

// listed returns the run with its task or its terminal event.
func (r *record) listed() journal.Run {
	run := r.row()
	run.Task, run.Terminal = r.queued(), r.terminal()
	return run
}
