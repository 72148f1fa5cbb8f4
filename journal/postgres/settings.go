package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// settingsOfSQL reads what sessions begin with, for this role and database: not what the store has
// set for its own.
const settingsOfSQL = `SELECT s.name, s.reset_val FROM pg_settings s WHERE s.name = ANY ($1::text[])`

// Settings returns settings of the server as they are for the store's role and database, before the
// store sets its own for its sessions; in the server's units. One that the server does not have is
// left out.
func Settings(ctx context.Context, s *Store, names ...string) (values map[string]string, err error) {
	err = s.call(inShare(ctx, slowShare), func(ctx context.Context, c *pgx.Conn) error {
		values = map[string]string{}
		rows, err := c.Query(ctx, settingsOfSQL, names)
		if err != nil {
			return err
		}
		return each(func(row pgx.CollectableRow) error {
			var name, value string
			err := row.Scan(&name, &value)
			values[name] = value
			return err
		})(rows)
	})
	return values, err
}
