package pgtest

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Violations is violations, for the test of the rules.
func Violations(ctx context.Context, conn *pgx.Conn, schema string) ([]string, error) {
	return violations(ctx, conn, schema)
}
