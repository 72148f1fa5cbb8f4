package memory

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// roomsFor are the rooms of what a run needs; nil for those that no backlog bounds.
func (l *limits) roomsFor(needs []journal.LimitNeed, now time.Time) (rooms []*driver.LimitRoom) {
	for _, n := range needs {
		rooms = append(rooms, l.room(driver.LimitKey{Name: n.Name, Key: n.Key}, now))
	}
	return rooms
}

func (l *limits) room(k driver.LimitKey, now time.Time) *driver.LimitRoom {
	r := &driver.LimitRoom{LimitKey: k, Limit: l.bounds(k), Total: l.rows[driver.LimitKey{Name: k.Name}].Total, Now: now.UnixMicro()}
	if r.Limit == nil || r.Limit.MaxBacklog == 0 {
		return nil
	}
	if line := l.lines[k]; line != nil {
		r.Ready = line.Ready
	}
	for g, c := range l.claims {
		for _, n := range c.Needs {
			switch {
			case n.Name != k.Name || c.ended:
			case !c.granted.IsZero():
				if r.HeldAll++; n.Key == k.Key {
					r.Held++
				}
			case n.Key == k.Key && g.Node == 0:
				r.Waiting++
			}
		}
	}
	return r
}

// cancelOldest makes room for a run that comes, and returns what it has closed.
func (db *database) cancelOldest(a *driver.Arrival, rooms []*driver.LimitRoom, now time.Time) (closed []journal.RunID) {
	for _, r := range rooms {
		for _, k := range a.Oldest {
			if r == nil || r.LimitKey != k {
				continue
			}
			end := driver.LimitEnd{LimitKey: k, MaxBacklog: r.Limit.MaxBacklog}
			if run, waits := db.limits.oldest(k); waits {
				closed = db.cancelWaiting(db.runs[run], &end, closed, now)
			}
		}
	}
	return closed
}

// oldest is the run that has come first of those that wait for a key.
func (l *limits) oldest(k driver.LimitKey) (run journal.RunID, waits bool) {
	first := int64(0)
	for g, c := range l.claims {
		if g.Node != 0 || c.ended || !c.granted.IsZero() || waits && g.ID > first {
			continue
		}
		for _, n := range c.Needs {
			if n.Name == k.Name && n.Key == k.Key {
				run, waits, first = c.Run, true, g.ID
			}
		}
	}
	return run, waits
}

// cancelWaiting closes a run that waits for a limit which is full, and notes it in the audit (J12).
// It appends what it has closed to a list.
func (db *database) cancelWaiting(r *record, why *driver.LimitEnd, closed []journal.RunID, now time.Time) []journal.RunID {
	a := why.Action(r.run.ID)
	db.note(&a, r.run.Workflow, "", now)
	return db.end(r, journal.Event{Kind: journal.RunCancelled, Payload: why.Payload()}, append(closed, r.run.ID), now)
}
