package main

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

const (
	ceilingLanes = 2   // as many as a node's committer lanes
	ceilingBatch = 500 // as much as a lane takes at once
)

// writer is a node without an engine: from ceilingLanes goroutines it writes batches that were made
// before.
type writer struct {
	*member
	self        driver.Membership
	size, steps int
}

func (b *bench) newWriter(ctx context.Context, d *database, steps int) (*writer, error) {
	m, err := d.member(ctx)
	if err != nil {
		return nil, err
	}
	route := journal.Route{Queue: journal.DefaultQueue, Workflow: string(chainFlow), Version: 1}
	self, err := m.journal.Join(ctx, journal.Node{Name: "ceiling", Routes: []journal.Route{route}, Lease: time.Hour})
	if err != nil {
		m.store.Close()
		return nil, err
	}
	return &writer{m, self, min(max(b.o.concurrency/ceilingLanes, 1), ceilingBatch), steps}, nil
}

// close may be called again.
func (w *writer) close(ctx context.Context) error {
	if w.self == nil {
		return nil
	}
	err := w.self.Leave(ctx)
	w.store.Close()
	w.self = nil
	return err
}

// write makes cohorts and then writes them. Only the writing is measured, and only if m is not nil.
func (w *writer) write(ctx context.Context, m *meter, runs int) error {
	cohorts := newCohorts(w.self.ID(), runs, w.size, w.steps)
	goruntime.GC() // of what was made before
	if m == nil {
		return writeCohorts(ctx, w.journal, cohorts)
	}
	if err := m.resume(ctx); err != nil {
		return err
	}
	if err := writeCohorts(ctx, w.journal, cohorts); err != nil {
		return err
	}
	return m.pause(ctx)
}

// cohort is a set of runs that advance together: one batch of starts, then one batch of commits for
// each step. Real nodes get smaller batches, because their runs do not advance together.
type cohort struct {
	starts  []journal.Start
	commits [][]driver.Commit // by turn
}

func newCohorts(node journal.NodeID, runs, size, steps int) []cohort {
	var all []cohort
	for ; runs > 0; runs -= size {
		c := cohort{commits: make([][]driver.Commit, steps)}
		for range min(size, runs) {
			st := journal.Start{
				ID: journal.NewRunID(), Workflow: string(chainFlow), Input: journal.Payload{Data: fmt.Append(nil, steps)}, Owner: node,
			}
			c.starts = append(c.starts, st)
			for turn, commit := range chainCommits(&st, steps) {
				c.commits[turn] = append(c.commits[turn], commit)
			}
		}
		all = append(all, c)
	}
	return all
}

// chainCommits are what a node commits after each step of a run that it owns from birth. Those
// between the first and the last only add events, as an actor's do.
func chainCommits(st *journal.Start, steps int) []driver.Commit {
	head := journal.Head{Link: journal.OriginOf(st.ID, 1, 0, st.Input)}
	commits := make([]driver.Commit, steps)
	for turn := range commits {
		c := &commits[turn]
		*c = driver.Commit{Run: st.ID, Node: st.Owner, Fence: journal.FenceAtBirth, Turn: journal.Turn(min(turn, 1)), Generation: 1,
			Head: head, Events: chainEvents(turn, steps)}
		if turn == steps-1 {
			c.Next.Kind = driver.NextClose
		}
		c.AppendOnly = turn > 0 && c.Next.Kind == driver.NextKeep
		link(c)
		head = c.NewHead()
	}
	return commits
}

// link numbers the events of a commit and chains them to its head.
func link(c *driver.Commit) {
	last := c.Head
	for i := range c.Events {
		ev := &c.Events[i]
		ev.Seq = last.Seq + 1
		ev.Link = ev.LinkAfter(last.Link)
		last = journal.Head{Seq: ev.Seq, Link: ev.Link}
	}
}

// chainEvents are the events of a turn. The run's first event rides with the first commit.
func chainEvents(turn, steps int) []journal.Event {
	now := time.Now().UTC().Truncate(time.Microsecond)
	issued := []journal.Issued{{Kind: journal.CommandStep, Name: "step"}}
	var events []journal.Event
	if turn == 0 {
		events = append(events, journal.Event{Kind: journal.RunStarted, Time: now, Issued: issued})
	}
	step := journal.Event{
		Kind: journal.StepCompleted, Cmd: journal.Cmd(turn + 1), Time: now, Name: "step", Attempt: 1,
		Payload: journal.Payload{Data: []byte("1")}, Issued: issued,
	}
	if turn < steps-1 {
		return append(events, step)
	}
	step.Issued = nil
	end := journal.Event{Kind: journal.RunCompleted, Time: now, Payload: journal.Payload{Data: fmt.Append(nil, steps)}}
	return append(events, step, end)
}

// writeCohorts writes them from as many goroutines as there are lanes.
func writeCohorts(ctx context.Context, j *driver.Journal, cohorts []cohort) error {
	errs := make([]error, ceilingLanes)
	var wg sync.WaitGroup
	for lane := range ceilingLanes {
		wg.Go(func() {
			for i := lane; i < len(cohorts) && errs[lane] == nil; i += ceilingLanes {
				errs[lane] = cohorts[i].write(ctx, j)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func (c *cohort) write(ctx context.Context, j *driver.Journal) error {
	started, err := j.Start(ctx, nil, c.starts)
	if err != nil {
		return err
	}
	for _, s := range started {
		if s.Err != nil || !s.Owned {
			return fmt.Errorf("run %s was not started as owned: %w", s.Run, s.Err)
		}
	}
	for _, commits := range c.commits {
		out, err := j.Commit(ctx, commits)
		if err != nil {
			return err
		}
		for _, o := range out {
			if o.Err != nil {
				return o.Err
			}
		}
	}
	return nil
}
