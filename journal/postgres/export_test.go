package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/migrations"
)

// Adopt makes a store speak for a node that has joined through another one, as if both were one
// process.
func (s *Store) Adopt(ctx context.Context, node journal.NodeID) error {
	m := &member{s: s, id: node}
	err := s.call(ctx, func(ctx context.Context, c *pgx.Conn) error {
		return c.QueryRow(ctx, `SELECT incarnation, recalled FROM reprise.members WHERE node = $1`, int32(node)).
			Scan(&m.incarnation, &m.epoch.recalled)
	})
	s.roster.add(m)
	return err
}

// AppendClass is the first key of the locks of appends in the default schema.
var AppendClass = newExclusion(nil, migrations.DefaultSchema).class
