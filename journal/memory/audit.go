package memory

import (
	"context"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// note adds an action to the audit (J12).
func (db *database) note(a *driver.AdminAction, workflow, detail string, now time.Time) {
	db.audit = append(db.audit, journal.AuditEntry{
		Number: int64(len(db.audit)) + 1, Time: now, Actor: a.Actor, Verb: a.Kind.String(), Run: a.Run, Workflow: workflow,
		Reason: a.AuditReason(), Detail: detail,
	})
}

// findUnacted finds the run of an action, and answers driver.ErrActed if another caller has carried
// it out, whatever has become of the run.
func findUnacted(db *database, a *driver.AdminAction) (*record, error) {
	r := db.runs[a.Run]
	switch {
	case a.Once != nil && slices.ContainsFunc(db.audit, func(e journal.AuditEntry) bool { return a.Acted(&e) }):
		return nil, driver.ErrActed
	case r == nil:
		return nil, journal.ErrNotFound
	}
	return r, nil
}

// Audit implements driver.Store.
func (s *Store) Audit(ctx context.Context, f journal.AuditFilter) (list []journal.AuditEntry, err error) {
	if _, err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	for i := len(s.db.audit) - 1; i >= 0 && len(list) < f.Limit; i-- {
		e := s.db.audit[i]
		switch {
		case f.Before != 0 && e.Number >= f.Before,
			!f.Run.IsZero() && e.Run != f.Run,
			f.Actor != "" && e.Actor != f.Actor,
			f.Verb != "" && e.Verb != f.Verb:
		default:
			list = append(list, e)
		}
	}
	return list, nil
}
