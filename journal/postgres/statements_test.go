package postgres_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/migrations"
)

// statements parses the package and returns every constant whose name ends with SQL.
func statements(t *testing.T) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), e.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok {
				return true
			}
			for i, name := range spec.Names {
				if !strings.HasSuffix(name.Name, "SQL") {
					continue
				}
				lit, ok := spec.Values[i].(*ast.BasicLit)
				if !ok {
					t.Fatalf("%s: %s is not one literal: statements are static text", e.Name(), name.Name)
				}
				text, err := strconv.Unquote(lit.Value)
				if err != nil {
					t.Fatal(err)
				}
				found[name.Name] = text
			}
			return true
		})
	}
	return found
}

// TestStatements prepares every statement in a database with the default schema and in one with another.
func TestStatements(t *testing.T) {
	t.Parallel()
	found := statements(t)
	if len(found) < 30 {
		t.Fatalf("found only %d statements", len(found))
	}
	for _, schema := range []string{migrations.DefaultSchema, "order"} {
		conn := connect(t, pgtest.Empty(t))
		migrateSchema(t, conn, schema)
		for name, sql := range found {
			for i, part := range strings.Split(sql, ";") {
				if _, err := conn.Prepare(t.Context(), fmt.Sprint(name, i), migrations.Render(part, schema)); err != nil {
					t.Errorf("schema %s: %s: %v", schema, name, err)
				}
			}
		}
	}
}
