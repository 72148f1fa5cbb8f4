//go:build !race

package sim

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// changed is a store whose commits are another's.
type changed struct {
	store
	change func(*driver.Commit)
}

// Commit implements driver.Store.
func (s changed) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	commits = slices.Clone(commits)
	for i := range commits {
		s.change(&commits[i])
	}
	return s.store.Commit(ctx, commits)
}

// mute drops what a child tells its parent.
func mute(_ *world, s store) store {
	return changed{s, func(c *driver.Commit) {
		c.Messages = slices.DeleteFunc(slices.Clone(c.Messages), func(m journal.Message) bool { return m.Kind.Answers() })
	}}
}

// unread forgets what is carried over.
func unread(_ *world, s store) store {
	return changed{s, func(c *driver.Commit) {
		if c.Continue != nil {
			next := *c.Continue
			next.Carried = nil
			c.Continue = &next
		}
	}}
}

// beyond begins a generation one message too far.
func beyond(w *world, s store) store {
	return changed{s, func(c *driver.Commit) {
		if c.Continue != nil && int(c.Continue.Seen) < len(w.kept(c.Run).Messages) {
			next := *c.Continue
			next.Seen++
			c.Continue = &next
		}
	}}
}

// skipping leaves the first event of every further page out.
type skipping struct{ store }

// Load implements driver.Store.
func (s skipping) Load(ctx context.Context, requests []driver.LoadRequest) ([]driver.History, error) {
	list, err := s.store.Load(ctx, requests)
	for i := range list {
		if len(list[i].Events) > 0 && list[i].Events[0].Seq > 1 {
			list[i].Events = list[i].Events[1:]
		}
	}
	return list, err
}

// curt says of every page that it is the last.
type curt struct{ store }

// Load implements driver.Store.
func (s curt) Load(ctx context.Context, requests []driver.LoadRequest) ([]driver.History, error) {
	list, err := s.store.Load(ctx, requests)
	for i := range list {
		list[i].More = false
	}
	return list, err
}

// orphans does nothing about children.
func orphans(_ *world, s store) store {
	return changed{s, func(c *driver.Commit) { c.Children = false }}
}

// numb forgets what attempts told before they failed.
func numb(_ *world, s store) store {
	return changed{s, func(c *driver.Commit) {
		c.Attempts = slices.Clone(c.Attempts)
		for i := range c.Attempts {
			c.Attempts[i].Heartbeat = nil
		}
	}}
}

// impatient forgets when a step may be tried again.
func impatient(_ *world, s store) store {
	return changed{s, func(c *driver.Commit) {
		c.Attempts = slices.Clone(c.Attempts)
		for i := range c.Attempts {
			c.Attempts[i].NextAt = time.Time{}
		}
	}}
}

// reversed sends signals in the wrong order.
func reversed(_ *world, s store) store {
	return changed{s, func(c *driver.Commit) {
		c.Messages = slices.Clone(c.Messages)
		slices.Reverse(c.Messages)
	}}
}

// repeating has an earlier try's effects again, and does not know the messages any more.
type repeating struct {
	store
	w *world
}

// Commit implements driver.Store.
func (s repeating) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	met, err := s.w.tasks(commits)
	if err != nil {
		return nil, err
	}
	out, err := s.store.Commit(ctx, commits)
	for i := range out {
		c := &commits[i]
		if t := met[i]; out[i].Err != nil || t != nil && t.Turn == c.Turn {
			continue
		}
		for _, m := range c.Messages {
			m.Key = fmt.Sprintf("%s again", m.Key)
			if _, err := s.store.Send(ctx, nil, []journal.Message{m}); err != nil {
				return nil, err
			}
		}
	}
	return out, err
}

// hasty keeps replies before it looks whether the commit is accepted.
type hasty struct {
	store
	w *world
}

// Commit implements driver.Store.
func (s hasty) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	s.w.mu.Lock()
	lost := false
	for i := range commits {
		for _, rep := range commits[i].Replies {
			at := message{commits[i].Run, rep.Number}
			if _, known := s.w.hasty[at]; !known {
				s.w.hasty[at] = journal.Answer{Payload: rep.Payload, Rejected: rep.Rejected}
				lost = lost || len(s.w.hasty)%4 == 0 // the connection is gone between the two
			}
		}
	}
	s.w.mu.Unlock()
	if lost && commits[0].Tx == nil {
		return nil, journal.ErrUnavailable
	}
	return s.store.Commit(ctx, commits)
}

// Load implements driver.Store.
func (s hasty) Load(ctx context.Context, requests []driver.LoadRequest) ([]driver.History, error) {
	list, err := s.store.Load(ctx, requests)
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	for i := range list {
		if a, known := s.w.hasty[message{requests[i].Run, requests[i].Answer}]; known && list[i].Answer == nil {
			list[i].Answer = &a
		}
	}
	return list, err
}
