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

// oldest is the run that has come first of those that wait for a key and are not spared: one that
// somebody has rewound may have done what its code would undo.
func (l *limits) oldest(k driver.LimitKey, spared func(journal.RunID) bool) (run journal.RunID, waits bool) {
	first := int64(0)
	for g, c := range l.claims {
		if g.Node != 0 || c.ended || !c.granted.IsZero() || waits && g.ID > first || spared(c.Run) {
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
