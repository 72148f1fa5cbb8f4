//go:build !race

package sim

import (
	"context"
	"slices"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// rounding puts something between a node and its rounds of limits.
type rounding struct {
	store
	round func(ctx context.Context, m driver.Membership, r driver.LimitRound) (driver.LimitAnswer, error)
}

// Join implements driver.Store.
func (s rounding) Join(ctx context.Context, n journal.Node) (driver.Membership, error) {
	m, err := s.store.Join(ctx, n)
	if err != nil {
		return nil, err
	}
	return &roundedMember{m, s.round}, nil
}

type roundedMember struct {
	driver.Membership
	round func(ctx context.Context, m driver.Membership, r driver.LimitRound) (driver.LimitAnswer, error)
}

// Limits implements driver.Membership.
func (m *roundedMember) Limits(ctx context.Context, r driver.LimitRound) (driver.LimitAnswer, error) {
	return m.round(ctx, m.Membership, r)
}

// hoarding never returns a slot.
func hoarding(_ *world, s store) store {
	return rounding{s, func(ctx context.Context, m driver.Membership, r driver.LimitRound) (driver.LimitAnswer, error) {
		r.Releases = nil
		return m.Limits(ctx, r)
	}}
}

// generous grants one want that the store does not.
func generous(_ *world, s store) store {
	return rounding{s, func(ctx context.Context, m driver.Membership, r driver.LimitRound) (driver.LimitAnswer, error) {
		a, err := m.Limits(ctx, r)
		for i := range r.Wants {
			if id := r.Wants[i].ID; err == nil && !slices.Contains(a.Granted, id) {
				a.Granted = append(slices.Clone(a.Granted), id)
				break
			}
		}
		return a, err
	}}
}

// bounded has every step need a limit of one.
func bounded(p *plan) {
	p.Bounds = []boundPlan{{Name: "a", Concurrency: 1}}
	for i := range p.Nodes {
		p.Nodes[i].LiveMax = 0
	}
	for i := range p.Runs {
		walkAll(p.Runs[i].Program, func(in *instr) {
			if in.executes() {
				in.Sort.Needs = "a"
			}
		})
	}
}

// unlimited starts runs that hold nothing.
type unlimited struct{ store }

// Start implements driver.Store.
func (s unlimited) Start(ctx context.Context, tx journal.Tx, starts []journal.Start) ([]journal.Started, error) {
	starts = slices.Clone(starts)
	for i := range starts {
		starts[i].Limits = nil
	}
	return s.store.Start(ctx, tx, starts)
}

// unrun makes no round about runs.
func unrun(_ *world, s store) store {
	return rounding{s, func(ctx context.Context, m driver.Membership, r driver.LimitRound) (driver.LimitAnswer, error) {
		r.Runs = false
		return m.Limits(ctx, r)
	}}
}

// placed has every run hold a limit of one.
func placed(p *plan) {
	p.Bounds = []boundPlan{{Name: placesName, Concurrency: 1}}
	for i := range p.Runs {
		p.Runs[i].Holds = true
	}
}
