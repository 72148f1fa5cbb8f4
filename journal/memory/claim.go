package memory

import (
	"context"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Claim implements driver.Store.
func (s *Store) Claim(ctx context.Context, r driver.ClaimRequest) (driver.Claim, error) {
	now, err := s.enter(ctx)
	if err != nil {
		return driver.Claim{}, err
	}
	defer s.db.mu.Unlock()
	c := driver.Claim{Now: now}
	if h := s.db.held[r.Node]; h != nil {
		if r.Reconcile { // before the claim, so that no task is reported twice
			for _, rec := range inOrder(h.all) {
				if rec.unconfirmed {
					c.Tasks = append(c.Tasks, rec.claimed())
				}
			}
		}
		loud := inOrder(h.unread)
		slices.SortStableFunc(loud, byVisibility)
		for _, rec := range loud[:min(len(loud), answerMax)] {
			c.Attention = append(c.Attention, rec.run.ID)
		}
	}
	list := s.db.queuesOf(r.Routes, now)
	if !s.db.alive(r.Node) {
		r.Max = 0
	}
	for _, rec := range pick(list, r.Max) {
		s.db.acquire(rec, r.Node, now)
		c.Tasks = append(c.Tasks, rec.claimed())
	}
	c.NextDue = nextVisible(list)
	return c, nil
}

// advance makes node the owner of a free task that is out of its lane.
func (db *database) acquire(r *record, node journal.NodeID, now time.Time) {
	db.dequeue(r)
	r.task.Owner, r.unconfirmed = node, true
	r.task.Fence++
	r.task.VisibleAt, r.task.State, r.task.Problem = time.Time{}, journal.Ready, ""
	db.enqueue(r, now)
}

func (r *record) claimed() driver.Claimed { return driver.Claimed{Task: *r.queued(), Run: r.row()} }

// makeVisible makes a task visible.
func (db *database) makeVisible(r *record, now time.Time) {
	db.dequeue(r)
	r.task.VisibleAt = now
	db.enqueue(r, now)
}
