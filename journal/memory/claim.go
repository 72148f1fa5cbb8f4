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
// claim may have been on its way when it left, and would make an owner that nobody expects. Nor is
// it told anything: what its number owns by now is another node's, if the database has gone back.
func (s *Store) Claim(ctx context.Context, r driver.ClaimRequest) (driver.Claim, error) {
	now, err := s.enter(ctx)
	if err != nil {
		return driver.Claim{}, err
	}
	defer s.db.mu.Unlock()
	// What the node owns comes first: a task that this claim acquires is in Tasks once, and is
	// never among those that need attention.
	c, room := driver.Claim{Now: now}, claimRoom(r.BytesMax())
	alive := s.db.alive(r.Node)
	if h := s.db.held[r.Node]; h != nil && alive {
		if r.Reconcile {
			for _, rec := range inOrder(h.all) {
				if rec.unconfirmed {
					c.Tasks = append(c.Tasks, rec.claimed())
					room.take(rec, &c.Tasks[len(c.Tasks)-1])
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
	if r.Max == 0 {
		c.Waiting = min(countDue(list), driver.WaitingMax)
	}
	if !alive {
		r.Max = 0
	}
	for _, rec := range pick(list, &r) {
		c.Tasks = append(c.Tasks, s.db.acquire(rec, r.Node, r.Chance, now))
		room.take(rec, &c.Tasks[len(c.Tasks)-1])
	}
	c.NextDue = nextVisible(list)
	return c, nil
}

// claimRoom is the room that a claim has left for what has no small limit. Nothing here is far
// away, so what does not fit is left out only to be like the other stores.
type claimRoom int

func (room *claimRoom) take(r *record, c *driver.Claimed) {
	size := driver.ApartBytes(&c.Run, len(r.attempts))
	if size <= int(*room) {
		*room -= claimRoom(size)
		return
	}
	c.Apart = size
	c.Task.Attempts, c.Run.Input.Data, c.Run.Published, c.Run.Headers = nil, nil, nil, nil
}

// acquire makes node the owner of a free task. The fence grows here and nowhere else, so whoever
// owned the task before is refused from now on (J3). The task stays unconfirmed until the owner's
// first commit, which proves that the answer to the claim has arrived. The link goes to the claimer
// and leaves the task: nobody keeps it current while the run is owned.
func (db *database) acquire(r *record, node journal.NodeID, chance uint32, now time.Time) driver.Claimed {
	link := r.task.Link
	db.dequeue(r)
	r.task.Owner, r.task.Link, r.unconfirmed = node, 0, true
	r.task.Fence = r.task.Fence.Next(chance)
	r.task.VisibleAt, r.task.State, r.task.Problem = time.Time{}, journal.Ready, ""
	db.enqueue(r, now)
	c := r.claimed()
	c.Task.Link = link
	return c
}

// claimed returns copies of the task and of its run.
func (r *record) claimed() driver.Claimed { return driver.ClaimedOf(r.withTask()) }

// makeVisible makes a task due now.
func (db *database) makeVisible(r *record, now time.Time) {
	db.dequeue(r)
	r.task.VisibleAt = now
	db.enqueue(r, now)
}
