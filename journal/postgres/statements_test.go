package postgres_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal/internal/sqltest"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/migrations"
)

// TestStatements prepares every statement in a database with the default schema and in one with
// another.
func TestStatements(t *testing.T) {
	t.Parallel()
	found := sqltest.Statements(t, ".")
	if len(found) < 30 {
		t.Fatalf("found only %d statements", len(found))
	}
	for _, schema := range []string{migrations.DefaultSchema, "order"} {
		conn := connect(t, pgtest.Empty(t))
		migrateSchema(t, conn, schema)
		mustExec(t, conn, postgres.DatabaseTable())
		for name, sql := range found {
			for i, part := range strings.Split(sql, ";") {
				if _, err := conn.Prepare(t.Context(), fmt.Sprint(name, i), migrations.Render(part, schema)); err != nil {
					t.Errorf("schema %s: %s: %v", schema, name, err)
				}
			}
		}
	}
}
