package sqlite

import (
	"context"

	"github.com/reprise-run/reprise/journal"
)

// List implements driver.Store.
func (s *Store) List(ctx context.Context, f journal.ListFilter) (journal.RunPage, error) {
	if f.Where != "" {
		return findPage(ctx, s, f)
	}
	l, err := newListing(&f)
	if err != nil {
		return journal.RunPage{}, err
	}
	page := journal.RunPage{Now: now()}
	err = readList(ctx, s, func(c *conn) error {
		found, err := l.find(ctx, c)
		if err != nil {
			return err
		}
		if len(found) > l.limit {
			found = found[:l.limit]
			page.Next = found[l.limit-1].String()
		}
		for _, run := range found {
			if err := l.read(c, s, run, &page); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return journal.RunPage{}, err
	}
	return page, nil
}

// findPage is List for a filter that has a condition.
func findPage(ctx context.Context, s *Store, f journal.ListFilter) (journal.RunPage, error) {
	page := journal.RunPage{Now: now()}
	w, err := newFinding(&f, page.Now)
	if err != nil {
		return journal.RunPage{}, err
	}
	f.Cursor = "" // it is one of the condition's order
	l, err := newListing(w.narrow(f))
	if err != nil {
		return journal.RunPage{}, err
	}
	l.where = w
	err = readList(ctx, s, func(c *conn) error {
		found, err := l.findPlaced(ctx, c)
		if err != nil {
			return err
		}
		for _, run := range found[:min(len(found), l.limit)] {
			if err := l.read(c, s, run, &page); err != nil {
				return err
			}
		}
		if len(found) > l.limit {
			page.Next = w.q.Cursor(&page.Runs[l.limit-1])
		}
		return nil
	})
	if err != nil {
		return journal.RunPage{}, err
	}
	return page, nil
}
