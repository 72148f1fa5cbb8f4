package journaltest

import (
	"context"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// memoryAnswerMax is how many runs or messages one answer tells of. The caller comes back for more.
const memoryAnswerMax = 1_000

// Claim implements journal.Store.
func (m *Memory) Claim(ctx context.Context, r journal.ClaimRequest) (journal.Claim, error) {
	now, err := m.enter(ctx)
	if err != nil {
		return journal.Claim{}, err
	}
	defer m.db.mu.Unlock()
	c := journal.Claim{Now: now}
	if h := m.db.held[r.Node]; h != nil {
		if r.Reconcile { // ahead of the claim, so that no task is told twice
			for _, rec := range inOrder(h.all) {
				if rec.unproven {
					c.Tasks = append(c.Tasks, rec.claimed())
				}
			}
		}
		loud := inOrder(h.loud)
		slices.SortStableFunc(loud, byVisibility)
		for _, rec := range loud[:min(len(loud), memoryAnswerMax)] {
			c.Attention = append(c.Attention, rec.run.ID)
		}
	}
	list := m.db.lanesOf(r.Routes, now)
	if !m.db.alive(r.Node) {
		r.Max = 0
	}
	for _, rec := range pick(list, r.Max) {
		m.db.take(rec, r.Node, now)
		c.Tasks = append(c.Tasks, rec.claimed())
	}
	c.NextDue = nextVisible(list)
	return c, nil
}

// take makes node the owner of a free task that is out of its lane.
func (db *database) take(r *record, node journal.NodeID, now time.Time) {
	db.lift(r)
	r.task.Owner, r.unproven = node, true
	r.task.Fence++
	r.task.VisibleAt, r.task.State, r.task.Problem = time.Time{}, journal.Ready, ""
	db.place(r, now)
}

func (r *record) claimed() journal.Claimed { return journal.Claimed{Task: *r.queued(), Run: r.row()} }

// Rush implements Rusher.
func (m *Memory) Rush(ctx context.Context, run journal.RunID) error {
	now, err := m.enter(ctx)
	if err != nil {
		return err
	}
	defer m.db.mu.Unlock()
	if r := m.db.runs[run]; r != nil && r.open && r.task.Owner == 0 && !r.task.VisibleAt.IsZero() {
		m.db.show(r, now)
	}
	return nil
}

// show makes a task visible.
func (db *database) show(r *record, now time.Time) {
	db.lift(r)
	r.task.VisibleAt = now
	db.place(r, now)
}
