package driver

import (
	"context"
	"errors"

	"github.com/reprise-run/reprise/journal"
)

// member is a membership made through a [Journal]: it takes the node out of the hub when it is
// gone, and publishes hints when tasks were freed. See hub for the order in Leave.
type member struct {
	Membership
	j *Journal
}

func (m *member) Renew(ctx context.Context) (Renewal, error) {
	r, err := m.Membership.Renew(ctx)
	if errors.Is(err, journal.ErrNodeLost) {
		m.j.local.leave(m.ID())
	}
	m.j.outage.note("renew", err)
	m.j.clock.Observe(r.Now)
	return r, err
}

func (m *member) Ask(ctx context.Context, need bool) (bool, error) {
	look, err := m.Membership.Ask(ctx, need)
	if errors.Is(err, journal.ErrNodeLost) {
		m.j.local.leave(m.ID())
	}
	return look, err
}

func (m *member) Reap(ctx context.Context, suspects []journal.NodeID) (Reaped, error) {
	r, err := m.Membership.Reap(ctx, suspects)
	if r.Tasks > 0 {
		m.j.publish([]Hint{{Kind: HintTasks}}, []Hint{{Kind: HintTasks}})
	}
	return r, err
}

func (m *member) Leave(ctx context.Context) error {
	m.j.local.leave(m.ID())
	err := m.Membership.Leave(ctx)
	m.j.publish(nil, []Hint{{Kind: HintTasks}})
	return err
}
