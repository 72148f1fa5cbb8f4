package postgres_test

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/migrations"
)

var update = flag.Bool("update", false, "write the files that tests compare with")

func migrateSchema(t *testing.T, conn *pgx.Conn, schema string) {
	t.Helper()
	if err := postgres.Migrate(t.Context(), conn, schema); err != nil {
		t.Fatal(err)
	}
}

func TestMigrateFromManyNodesAtOnce(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Empty(t)
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			s, err := postgres.Open(t.Context(), dsn, nil)
			if err == nil {
				s.Close()
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	list, err := migrations.Files(migrations.DefaultSchema)
	if err != nil {
		t.Fatal(err)
	}
	conn := connect(t, dsn)
	if n := query[int](t, conn, `SELECT count(*) FROM reprise.schema_migrations`); n != len(list) {
		t.Errorf("%d migrations are recorded, want %d", n, len(list))
	}
}

func TestMigrateRefusesAChangedFile(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	mustExec(t, connect(t, dsn), `UPDATE reprise.schema_migrations SET checksum = repeat('0', 64) WHERE version = 1`)
	_, err := postgres.Open(t.Context(), dsn, nil)
	if e, ok := errors.AsType[*migrations.ChecksumError](err); !ok || e.Name != "0001_initial.sql" {
		t.Errorf("got %v, want a ChecksumError about 0001_initial.sql", err)
	}
}

func TestMigrateBesideANewerRelease(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	conn := connect(t, dsn)
	mustExec(t, conn, `INSERT INTO reprise.schema_migrations (version, name, checksum, additive) VALUES (9001, '9001_more.sql', 'x', true)`)
	open(t, dsn, nil)
	mustExec(t, conn, `INSERT INTO reprise.schema_migrations (version, name, checksum, additive) VALUES (9002, '9002_other.sql', 'x', false)`)
	_, err := postgres.Open(t.Context(), dsn, nil)
	if e, ok := errors.AsType[*migrations.NewerError](err); !ok || e.Name != "9002_other.sql" {
		t.Errorf("got %v, want a NewerError about 9002_other.sql", err)
	}
}

// TestMigrateTakesAsLongAsItTakes: a role whose statements are limited waits for whoever migrates at
// that moment, and may itself take longer than its limit.
func TestMigrateTakesAsLongAsItTakes(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Empty(t)
	watch, holder, conn := connect(t, dsn), connect(t, dsn), connect(t, dsn+"&statement_timeout=200")
	mustExec(t, holder, `CREATE SCHEMA reprise; CREATE TABLE reprise.schema_migrations (version integer PRIMARY KEY, name text NOT NULL, checksum text NOT NULL,
		additive boolean NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())`)
	mustExec(t, holder, `BEGIN; LOCK reprise.schema_migrations`)
	migrated := make(chan error, 1)
	go func() { migrated <- postgres.Migrate(t.Context(), conn, migrations.DefaultSchema) }()
	eventually(t, "it waits for five times its limit", func() bool {
		return query[bool](t, watch, `SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock' AND clock_timestamp() - query_start > interval '1 second')`) || len(migrated) > 0
	})
	mustExec(t, holder, `COMMIT`)
	if err := <-migrated; err != nil {
		t.Errorf("a migration that waited: %v", err)
	}
}

// TestMigrateLeavesNothingBehindWhenItFails: all files are one transaction.
func TestMigrateLeavesNothingBehindWhenItFails(t *testing.T) {
	t.Parallel()
	conn := connect(t, pgtest.Empty(t))
	mustExec(t, conn, `CREATE SCHEMA reprise`)
	mustExec(t, conn, `CREATE TABLE reprise.inbox ()`) // in the way of the first file, behind other tables
	if err := postgres.Migrate(t.Context(), conn, migrations.DefaultSchema); err == nil {
		t.Fatal("migrating over somebody else's table worked")
	}
	if n := query[int](t, conn, `SELECT count(*) FROM pg_tables WHERE schemaname = 'reprise'`); n != 1 {
		t.Errorf("%d tables are left, want the one that was in the way", n)
	}
}

// TestSchemaOption keeps two journals in one database, one in a schema whose name is a word of SQL.
func TestSchemaOption(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Empty(t)
	one, two := open(t, dsn, nil), open(t, dsn, &postgres.Options{Schema: "order"})
	start := journal.Start{ID: journal.NewRunID(), Workflow: "w", Version: 1, Queue: "q", Priority: 3}
	if _, err := two.Start(t.Context(), nil, []journal.Start{start}); err != nil {
		t.Fatal(err)
	}
	for s, want := range map[*postgres.Store]int{one: 0, two: 1} {
		page, err := s.List(t.Context(), journal.ListFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Runs) != want {
			t.Errorf("a schema has %d runs, want %d", len(page.Runs), want)
		}
	}
	for _, bad := range []string{"Reprise", "a-b", `a"b`, "pg_x", "1a", strings.Repeat("a", 64), "information_schema"} {
		if _, err := postgres.Open(t.Context(), dsn, &postgres.Options{Schema: bad}); err == nil {
			t.Errorf("schema %q was accepted", bad)
		}
	}
}

// TestSchemaFile compares migrations/postgres/schema.sql with what the migrations make. -update
// writes it.
func TestSchemaFile(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	file := filepath.Join("..", "..", "migrations", "postgres", "schema.sql")
	got := dump(t, dsn)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("schema.sql differs from what the migrations make; run with -update (-file +database):\n%s", d)
	}
}

// dump returns the schema as SQL, without what differs from one version of pg_dump to the next.
func dump(t *testing.T, dsn string) string {
	t.Helper()
	program := "pg_dump"
	if dir, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		program = filepath.Join(strings.TrimSpace(string(dir)), program)
	}
	cmd := exec.CommandContext(t.Context(), program, "--schema-only", "--no-owner", "--no-privileges", "--schema="+pgtest.Schema, dsn)
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", cmd, err, problems.String())
	}
	var b strings.Builder
	b.WriteString("-- What the migrations make of an empty database, for readers. A test writes and compares this file.\n")
	empty := false
	for line := range strings.Lines(string(out)) {
		switch {
		case strings.HasPrefix(line, "--"), strings.HasPrefix(line, "SET "), strings.HasPrefix(line, "SELECT pg_catalog.set_config"),
			strings.HasPrefix(line, `\`):
			continue
		case strings.TrimSpace(line) == "":
			empty = true
			continue
		}
		if empty {
			b.WriteString("\n")
			empty = false
		}
		b.WriteString(line)
	}
	return b.String()
}

// TestApplied: what is read is what was applied, in the schema that was asked for, and reading it
// makes nothing.
func TestApplied(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	for schema, want := range map[string]bool{migrations.DefaultSchema: true, "other": false} {
		s := open(t, dsn, &postgres.Options{Schema: schema, SkipMigrations: true})
		applied, err := postgres.Applied(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		list, err := migrations.Files(schema)
		if err != nil {
			t.Fatal(err)
		}
		pending, err := migrations.Pending(list, applied)
		if err != nil || (len(pending) == 0) != want || len(applied)+len(pending) != len(list) {
			t.Errorf("schema %s: %d of %d are applied, %d are pending, %v", schema, len(applied), len(list), len(pending), err)
		}
	}
	if query[bool](t, connect(t, dsn), `SELECT to_regnamespace('other') IS NOT NULL`) {
		t.Error("the schema was made")
	}
}
