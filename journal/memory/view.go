package memory

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// view saves or deletes a view. What has changed is in the audit (J12).
func (db *database) view(a *driver.AdminAction, now time.Time) error {
	has, exists := db.views[a.View.Name]
	changed, err := a.ViewChange(has.Address, exists, len(db.views))
	if err != nil || !changed {
		return err
	}
	if a.Kind == driver.AdminDeleteView {
		delete(db.views, a.View.Name)
	} else {
		if db.views == nil {
			db.views = map[string]journal.View{}
		}
		db.views[a.View.Name] = journal.View{Name: a.View.Name, Address: a.View.Address, Time: now, Actor: a.Actor}
	}
	db.note(a, "", a.ViewDetail(), now)
	return nil
}

// Views implements driver.Store.
func (s *Store) Views(ctx context.Context) ([]journal.View, error) {
	if _, err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	return slices.SortedFunc(maps.Values(s.db.views), func(a, b journal.View) int { return strings.Compare(a.Name, b.Name) }), nil
}
