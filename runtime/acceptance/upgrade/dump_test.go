package upgrade_test

import (
	"database/sql"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// dumpPostgres writes the schema and its rows with the pg_dump that is installed beside the server.
func dumpPostgres(t *testing.T, dsn string) string {
	t.Helper()
	program := "pg_dump"
	if dir, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		program = filepath.Join(strings.TrimSpace(string(dir)), program)
	}
	cmd := exec.CommandContext(t.Context(), program, "--inserts", "--no-owner", "--no-privileges", "--schema="+pgtest.Schema, dsn)
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", cmd, err, problems.String())
	}
	var b strings.Builder
	for line := range strings.Lines(string(out)) {
		comment := strings.HasPrefix(line, "--") && !strings.HasPrefix(line, "---")
		if !comment && !strings.HasPrefix(line, `\`) && strings.TrimSpace(line) != "" { // \ is for psql
			b.WriteString(line)
		}
	}
	return b.String()
}

func restorePostgres(t *testing.T, dsn, text string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.PgConn().Exec(t.Context(), text).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// dumpSQLite writes what makes the file again: tables, rows, then what stands on tables.
func dumpSQLite(t *testing.T, path string) string {
	t.Helper()
	db := openFile(t, path)
	var b strings.Builder
	for _, pragma := range []string{"application_id", "user_version"} {
		for _, number := range column(t, db, "PRAGMA "+pragma) {
			fmt.Fprintf(&b, "PRAGMA %s = %s;\n", pragma, number)
		}
	}
	const own = " AND sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
	tables := column(t, db, "SELECT name FROM sqlite_schema WHERE type = 'table'"+own)
	for _, statement := range column(t, db, "SELECT sql FROM sqlite_schema WHERE type = 'table'"+own) {
		b.WriteString(statement + ";\n")
	}
	for _, table := range tables {
		names := column(t, db, fmt.Sprintf("SELECT name FROM pragma_table_info('%s') ORDER BY cid", table))
		values := "quote(" + strings.Join(names, ") || ', ' || quote(") + ")"
		for _, row := range column(t, db, fmt.Sprintf("SELECT %s FROM %s ORDER BY 1", values, table)) {
			fmt.Fprintf(&b, "INSERT INTO %s (%s) VALUES (%s);\n", table, strings.Join(names, ", "), row)
		}
	}
	for _, statement := range column(t, db, "SELECT sql FROM sqlite_schema WHERE type <> 'table'"+own) {
		b.WriteString(statement + ";\n")
	}
	return b.String()
}

func restoreSQLite(t *testing.T, path, text string) {
	t.Helper()
	db := openFile(t, path)
	if _, err := db.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func openFile(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// column returns the first column of a query's rows.
func column(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var values []string
	for rows.Next() {
		var v string
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return values
}
