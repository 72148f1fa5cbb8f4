package driver

import (
	"context"
	"errors"
	"time"

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
	if len(r.Nodes) > 0 { // what they held is free
		m.j.publish([]Hint{{Kind: HintLimit}}, []Hint{{Kind: HintLimit}})
	}
	if r.Tasks > 0 {
		m.j.publish([]Hint{{Kind: HintTasks}}, []Hint{{Kind: HintTasks}})
	}
	return r, err
}

func (m *member) Leave(ctx context.Context) error {
	m.j.local.leave(m.ID())
	err := m.Membership.Leave(ctx)
	m.j.publish([]Hint{{Kind: HintLimit}}, []Hint{{Kind: HintTasks}, {Kind: HintLimit}})
	return err
}

// Limits tells those who were granted something.
func (m *member) Limits(ctx context.Context, r LimitRound) (LimitAnswer, error) {
	if err := r.check(); err != nil {
		return LimitAnswer{}, err
	}
	began, size := time.Now(), r.Size()
	if late := r.Late; late != nil {
		r.Late = func(x *LimitRound) {
			late(x)
			size = x.Size()
		}
	}
	a, err := m.Membership.Limits(ctx, r)
	if errors.Is(err, journal.ErrNodeLost) {
		m.j.local.leave(m.ID())
	}
	m.j.outage.note("limits", err)
	m.j.observe("limits", size, 0, began, err)
	m.j.clock.Observe(a.Now)
	var local, remote []Hint
	if a.Runs > 0 {
		local, remote = append(local, Hint{Kind: HintTasks}), append(remote, Hint{Kind: HintTasks})
	}
	for _, node := range a.Others {
		if h := (Hint{Kind: HintLimit, Node: node}); m.j.local.hosts(node) {
			local = append(local, h)
		} else {
			remote = append(remote, h)
		}
	}
	m.j.publish(local, remote)
	return a, err
}
