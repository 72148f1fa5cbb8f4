//go:build !race

package sim

import (
	"context"
	"slices"
	"sync"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/journaltest/faulty"
)

// pretending has the store take some commits for those of the run's present owner.
type pretending struct {
	store
	w    *world
	some func(ctx context.Context, c *driver.Commit) bool
}

// Commit implements driver.Store.
func (s pretending) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	met, err := s.w.tasks(commits)
	if err != nil {
		return nil, err
	}
	commits = slices.Clone(commits)
	pretends := false
	for i, t := range met {
		c := &commits[i]
		if t != nil && t.Owner != 0 && t.Fence != c.Fence && s.some(ctx, c) {
			c.Node, c.Fence, c.Turn, pretends = t.Owner, t.Fence, t.Turn, true
		}
	}
	if pretends && commits[0].Tx == nil {
		return s.w.db.Commit(ctx, commits) // no process's connection: nobody is an impostor here
	}
	return s.store.Commit(ctx, commits)
}

// unlocked declares a node dead without the lock that its commits share: one that has passed the
// look at the membership adds its events, and the run has another owner by then.
func unlocked(w *world, s store) store {
	return pretending{s, w, func(_ context.Context, c *driver.Commit) bool { return c.AppendOnly }}
}

// revenant takes a late request for that of the owner.
func revenant(w *world, s store) store {
	return pretending{s, w, func(ctx context.Context, _ *driver.Commit) bool { return faulty.Straggles(ctx) }}
}

// unrecalled accepts events of a run that was terminated, which only the recall number of its owner's
// node says, and does not tell the node.
type unrecalled struct {
	store
	w *world
}

// Commit implements driver.Store.
func (s unrecalled) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	out, err := s.store.Commit(ctx, commits)
	for i := range out {
		if c := &commits[i]; c.AppendOnly && out[i].Err != nil && s.w.kept(c.Run).Run.Status == journal.Terminated {
			out[i].Err = nil
		}
	}
	return out, err
}

// Join implements driver.Store.
func (s unrecalled) Join(ctx context.Context, n journal.Node) (driver.Membership, error) {
	m, err := s.store.Join(ctx, n)
	if err != nil {
		return nil, err
	}
	return untold{m}, nil
}

type untold struct{ driver.Membership }

// Renew implements driver.Membership.
func (u untold) Renew(ctx context.Context) (driver.Renewal, error) {
	r, err := u.Membership.Renew(ctx)
	r.Compare = false
	return r, err
}

// swapped consumes whatever message has the number.
func swapped(w *world, s store) store {
	return changed{s, func(c *driver.Commit) {
		kept := w.kept(c.Run)
		c.Consumed = slices.Clone(c.Consumed)
		for i := range c.Consumed {
			if n := int(c.Consumed[i].Number); n <= len(kept.Messages) {
				c.Consumed[i].Digest = kept.Messages[n-1].Digest()
			}
		}
	}}
}

// numbered has a process take its memory of a run for current if it is of the same turn, and the
// store accept what follows an event of the same number.
type numbered struct {
	store
	w    *world
	mu   sync.Mutex
	left map[journal.RunID]driver.Commit // by which the process freed runs
}

func byNumber(w *world, s store) store {
	return &numbered{store: s, w: w, left: map[journal.RunID]driver.Commit{}}
}

// Commit implements driver.Store.
func (s *numbered) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	commits = slices.Clone(commits)
	for i := range commits {
		c := &commits[i]
		kept := s.w.kept(c.Run)
		if head := headOf(kept.Events); head.Seq > 0 && head.Seq == c.Head.Seq && kept.Run.Generation == c.Generation {
			c.Head = head
		}
	}
	out, err := s.store.Commit(ctx, commits)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range out {
		if out[i].Err == nil && commits[i].Next.Kind == driver.NextPark {
			s.left[commits[i].Run] = commits[i]
		}
	}
	return out, err
}

// Claim implements driver.Store.
func (s *numbered) Claim(ctx context.Context, r driver.ClaimRequest) (driver.Claim, error) {
	c, err := s.store.Claim(ctx, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range c.Tasks {
		t := &c.Tasks[i].Task
		if last, known := s.left[t.Run]; known && last.Generation == t.Generation && last.Turn+1 == t.Turn {
			t.Link = last.NewHead().Link
		}
	}
	return c, err
}

// proud has a process ignore a claim whose fence is not larger than all that it has seen of the run.
type proud struct {
	store
	mu      sync.Mutex
	largest map[journal.RunID]journal.Fence
}

func byFence(_ *world, s store) store {
	return &proud{store: s, largest: map[journal.RunID]journal.Fence{}}
}

// Claim implements driver.Store.
func (s *proud) Claim(ctx context.Context, r driver.ClaimRequest) (driver.Claim, error) {
	c, err := s.store.Claim(ctx, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Tasks = slices.DeleteFunc(c.Tasks, func(c driver.Claimed) bool {
		old := c.Task.Fence < s.largest[c.Task.Run]
		s.largest[c.Task.Run] = max(s.largest[c.Task.Run], c.Task.Fence)
		return old
	})
	return c, err
}

// blind never compares what a node owns with what it runs.
type blind struct{ store }

// Join implements driver.Store.
func (s blind) Join(ctx context.Context, n journal.Node) (driver.Membership, error) {
	m, err := s.store.Join(ctx, n)
	if err != nil {
		return nil, err
	}
	return uncompared{m}, nil
}

type uncompared struct{ driver.Membership }

// Owned implements driver.Membership.
func (uncompared) Owned(context.Context) ([]driver.Holding, error) {
	return nil, journal.ErrUnavailable
}
