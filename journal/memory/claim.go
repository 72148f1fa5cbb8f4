package memory

import (
	"context"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Claim implements driver.Store. What is reconciled is collected before anything is acquired, so
// the answer holds no task twice. A node that has left or was declared dead acquires nothing: its
// claim may have been on its way when it left, and would make an owner that nobody expects.
func (s *Store) Claim(ctx context.Context, r driver.ClaimRequest) (driver.Claim, error) {
	now, err := s.enter(ctx)
	if err != nil {
		return driver.Claim{}, err
	}
	defer s.db.mu.Unlock()
	// What the node owns comes first: a task that this claim acquires is in Tasks once, and is
	// never among those that need attention.
	c := driver.Claim{Now: now}
	if h := s.db.held[r.Node]; h != nil {
		if r.Reconcile {
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
	// Asking for routes also moves what has fallen due, so what is left tells when to ask again.
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

// acquire makes node the owner of a free task. The fence grows here and nowhere else, so whoever
// owned the task before is refused from now on (J3). The task stays unconfirmed until the owner's
// first commit, which proves that the answer to the claim has arrived.
func (db *database) acquire(r *record, node journal.NodeID, now time.Time) {
	db.dequeue(r)
	r.task.Owner, r.unconfirmed = node, true
	r.task.Fence++
	r.task.VisibleAt, r.task.State, r.task.Problem = time.Time{}, journal.Ready, ""
	db.enqueue(r, now)
}

// claimed returns copies of the task and of its run.
func (r *record) claimed() driver.Claimed { return driver.Claimed{Task: *r.queued(), Run: r.row()} }

// makeVisible makes a task due now.
func (db *database) makeVisible(r *record, now time.Time) {
	db.dequeue(r)
	r.task.VisibleAt = now
	db.enqueue(r, now)
}
