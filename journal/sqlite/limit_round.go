package sqlite

import (
	"context"

	"github.com/reprise-run/reprise/journal/driver"
)

// Limits implements driver.Membership. Whoever declares the node lost frees what it has in a later
// transaction of the writer's, so a round of a node that is still live comes before that.
func (m *member) Limits(ctx context.Context, r driver.LimitRound) (a driver.LimitAnswer, err error) {
	err = m.s.write(ctx, 0, func(b *batch) (err error) {
		return b.member(func() error {
			if !m.s.nodes.alive(m.id) {
				return m.errLost()
			}
			at := now()
			a, err = driver.DoLimitRound(&limitRows{b, at, m.s.nodes}, m.id, &r, at)
			return err
		})
	})
	if err != nil {
		return driver.LimitAnswer{}, err
	}
	return a, nil
}
