//go:build !race

package sim

import (
	"context"
	"errors"
	"time"

	"github.com/reprise-run/reprise/journal/driver"
)

// Planted faults of who deals with a store that does not do what it is asked for. They are above
// everything that fails, where the engine is.

// undivided has a batch that takes too long repeated like one whose answer was lost.
func undivided(w *world, s store) store {
	w.undivided = true
	return s
}

// crowded lets everybody's calls of several members take too long from early on, for much longer
// than runs last.
func crowded(p *plan) {
	p.Faults = nil
	for place := range len(p.Nodes) + 1 {
		p.Faults = append(p.Faults, fault{At: 500 * time.Millisecond, Kind: narrow, Node: place, For: 10 * time.Minute})
	}
}

// troubled makes every fault one of a kind that everybody meets.
func troubled(kind faultKind) func(*plan) {
	return func(p *plan) {
		for i := range p.Faults {
			p.Faults[i] = fault{At: p.Faults[i].At, Kind: kind, For: time.Second}
		}
	}
}

// believes has processes take some commits for written that are not.
func believes(some func(w *world, out []driver.Outcome, err error, n int) ([]driver.Outcome, error)) mutation {
	return func(w *world, s store) store {
		w.trust = func(d *drawn) driver.Store { return &credulous{d, some} }
		return s
	}
}

// credulous is a connection whose process believes what it wants.
type credulous struct {
	*drawn
	some func(w *world, out []driver.Outcome, err error, n int) ([]driver.Outcome, error)
}

// Commit implements driver.Store.
func (s *credulous) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	out, err := s.drawn.Commit(ctx, commits)
	return s.some(s.p.w, out, err, len(commits))
}

func heldCommits(_ *world, out []driver.Outcome, err error, _ int) ([]driver.Outcome, error) {
	for i := range out {
		if errors.Is(out[i].Err, driver.ErrHeld) {
			out[i].Err = nil
		}
	}
	return out, err
}

func refusedCommits(w *world, out []driver.Outcome, err error, n int) ([]driver.Outcome, error) {
	if err != nil && w.active(readOnly, 0) {
		return make([]driver.Outcome, n), nil
	}
	return out, err
}
