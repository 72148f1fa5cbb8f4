package memory

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Reap implements driver.Membership. A node is declared dead if its lease ran out, or if it is a
// suspect and its process is still gone at this second look: a process that was only slow to
// connect is not punished for one glance. Then the tasks of every node that does not exist are
// freed, also of those that an earlier Reap declared dead and did not come to.
func (m *member) Reap(ctx context.Context, suspects []journal.NodeID) (driver.Reaped, error) {
	now, err := m.s.enter(ctx)
	if err != nil {
		return driver.Reaped{}, err
	}
	db := m.s.db
	defer db.mu.Unlock()
	var r driver.Reaped
	for _, id := range slices.Sorted(maps.Keys(db.nodes)) {
		other := db.nodes[id]
		if !other.lost && (other.ExpiresAt.Before(now) || other.gone() && slices.Contains(suspects, id)) {
			other.lost = true
			if err := driver.FreeLimits(&db.limits, id, now); err != nil {
				return r, err
			}
			r.Nodes = append(r.Nodes, id)
		}
	}
	// Owners are walked in order, and so are their runs: what is freed first is claimed first.
	for _, owner := range slices.Sorted(maps.Keys(db.held)) {
		if other := db.nodes[owner]; other != nil && !other.lost {
			continue // whoever has this number now, also if this process had it before the database went back
		}
		owned := inOrder(db.held[owner].all)
		suspects := 0
		for _, rec := range owned {
			if rec.task.Strikes >= driver.SuspectStrikes {
				suspects++
			}
		}
		for _, rec := range owned {
			if db.strike(rec, suspects, now) {
				r.Quarantined++
			} else {
				r.Tasks++
			}
		}
	}
	// What is freed has no owner left that could be one of these, so they can be forgotten.
	maps.DeleteFunc(db.nodes, func(_ journal.NodeID, other *node) bool { return other.lost })
	return r, nil
}

// strike frees a task whose owner died with so many suspects, and tells whether it is quarantined
// for that. Its fence stays: the next claim adds to it, so the dead owner is refused if it was not
// dead after all (J3).
func (db *database) strike(r *record, suspects int, now time.Time) bool {
	db.dequeue(r)
	defer db.enqueue(r, now)
	// Attempts and what the run waits for stay: the next owner goes on from the last commit.
	t := &r.task
	dead := t.Owner
	t.Strikes = driver.StrikesAfter(t.Strikes, suspects)
	t.Owner, t.State, t.Problem, t.VisibleAt, r.unconfirmed = 0, driver.StruckState(t.State, t.Strikes), "", now, false
	switch {
	case t.Strikes >= driver.QuarantineStrikes:
		// No time and no message makes it visible again: it waits for AdminResume.
		t.VisibleAt = time.Time{}
		t.Problem = driver.QuarantineProblem(t.Strikes, dead)
		return t.State == journal.Quarantined
	default:
		t.VisibleAt = now.Add(driver.StrikeWait(t.Run, t.Strikes))
	}
	return false
}
