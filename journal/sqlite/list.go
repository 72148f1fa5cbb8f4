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
		more, err := l.read(c, s, found, &page)
		if more {
			page.Next = page.Runs[len(page.Runs)-1].ID.String()
		}
		return err
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
		more, err := l.read(c, s, found, &page)
		if more {
			page.Next = w.q.Cursor(&page.Runs[len(page.Runs)-1])
		}
		return err
	})
	if err != nil {
		return journal.RunPage{}, err
	}
	return page, nil
}
