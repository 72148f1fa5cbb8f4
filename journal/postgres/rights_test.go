package postgres_test

import (
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/postgres"
)

// documentedRights are the statements of docs/operating-postgres.md that give a role named app what
// nodes and clients need in a schema named reprise.
func documentedRights(t testing.TB) string {
	t.Helper()
	doc, err := os.ReadFile("../../docs/operating-postgres.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(doc), "clients can do with less:\n\n```sql\n")
	block, _, found := strings.Cut(block, "```")
	if !found {
		t.Fatal("the document has no statements that give nodes and clients their rights")
	}
	return block
}

// makeApp makes the role, which is one for all databases of the server, once.
const makeApp = `
DO $$ BEGIN CREATE ROLE app LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;`

// grantApp gives the role app rights in a schema, which it makes if need be, like the role.
func grantApp(t testing.TB, dsn, schema, rights string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if err := postgres.Migrate(t.Context(), conn, schema); err != nil {
		t.Fatal(err)
	}
	r := strings.NewReplacer("SCHEMA reprise ", "SCHEMA "+schema+" ", "reprise.", schema+".")
	if _, err := conn.Exec(t.Context(), makeApp+r.Replace(rights)); err != nil {
		t.Fatal(err)
	}
}

// appDSN is how to connect as the role app.
func appDSN(t testing.TB, dsn string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User("app")
	return u.String()
}
