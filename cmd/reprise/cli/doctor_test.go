package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/memory"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// findings are what doctor says, by check; the worst of each.
func findings(t *testing.T, store string, code int) map[string]string {
	t.Helper()
	var list []struct{ Severity, Check string }
	out := reprise(t, store, code, "doctor", "-o", "json").out
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	rank := func(s string) int { return slices.Index([]string{"ok", "note", "warning", "error"}, s) }
	worst := map[string]string{}
	for _, f := range list {
		if rank(f.Severity) > rank(worst[f.Check]) {
			worst[f.Check] = f.Severity
		}
	}
	return worst
}

func wantFound(t *testing.T, found, severities map[string]string) {
	t.Helper()
	for check, severity := range severities {
		if found[check] != severity {
			t.Errorf("%s is %q, want %q; found %v", check, found[check], severity, found)
		}
	}
}

// TestDoctor: a fresh file lacks a node alone, what is wrong with the demonstration is found, and a
// program that serves all there is leaves nothing to say.
func TestDoctor(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	fresh := filepath.Join(t.TempDir(), "fresh.db")
	reprise(t, fresh, cli.ExitDone, "migrate", "up")
	wantFound(t, findings(t, fresh, cli.ExitWarnings), map[string]string{"nodes": "warning", "tables": "ok", "store": "ok", "blocked": "ok",
		"quarantined": "ok", "unserved": "ok", "waiting": "ok", "clock": "ok"})
	_, stop := program(t, fresh)
	wantFound(t, findings(t, fresh, cli.ExitDone), map[string]string{"nodes": "ok", "unserved": "ok", "waiting": "ok"})
	stop()

	planted := filepath.Join(t.TempDir(), "planted.db")
	plant(t, planted)
	wantFound(t, findings(t, planted, cli.ExitFailed), map[string]string{"blocked": "error", "quarantined": "error", "unserved": "error"})
	checkJSON(t, s, planted, cli.ExitFailed, "doctor")
	wantText(t, "doctor", reprise(t, planted, cli.ExitFailed, "doctor").out, "workflow demo.parcel, version 2", "run list --state blocked", "start a node")
	execSQL(t, planted, `UPDATE reprise.tasks SET state = 0 WHERE state in (1, 2)`)
	wantFound(t, findings(t, planted, cli.ExitFailed), map[string]string{"blocked": "ok", "quarantined": "ok"})

	wantText(t, "no store", reprise(t, "postgres://127.0.0.1:1/none", cli.ExitFailed, "doctor").err, "connection refused", "is the server up")
}

// TestDoctorOfAnotherStore: of a store that a program brings, and that does not say what waits, it
// tells the rest.
func TestDoctorOfAnotherStore(t *testing.T) {
	t.Parallel()
	store := func(ctx context.Context, _ bool) (cli.Store, error) {
		s := memory.New(nil)
		_, err := runtime.Start(ctx, runtime.NewClient(journal.New(s, nil), nil), workflow.Name[int, int]("flow"), 1, nil)
		return s, err
	}
	root := cli.New(&cli.Options{Open: store})
	var out bytes.Buffer
	root.SetOut(&out)
	root.SetArgs([]string{"doctor"})
	if code := cli.ExitCode(root.ExecuteContext(t.Context())); code != cli.ExitWarnings {
		t.Errorf("exit code %d, want %d", code, cli.ExitWarnings)
	}
	wantText(t, "doctor", out.String(), "no node lives", "no run is blocked", "no run is quarantined", "the one here", "does not say what waits")
	root = cli.New(&cli.Options{Open: store})
	root.SetArgs([]string{"queue", "list"})
	if code := cli.ExitCode(root.ExecuteContext(t.Context())); code != cli.ExitFailed {
		t.Errorf("queue list: exit code %d, want %d", code, cli.ExitFailed)
	}
}

// TestDoctorOfPostgres: settings of the role, a wait that is too long, and tables of another
// release.
func TestDoctorOfPostgres(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	reprise(t, dsn, cli.ExitDone, "run", "start", "flow", "--key", "late")
	// A node that lives and claims nothing.
	execSQL(t, dsn, `INSERT INTO reprise.nodes (id, name, routes, lease, grace, started_at, expires_at, server) OVERRIDING SYSTEM VALUE VALUES
		(7, 'idle', '[{"queue":"default","workflow":"flow","version":1}]', '1 hour', '1 hour', now(), now() + interval '1 hour', pg_postmaster_start_time());
		INSERT INTO reprise.members (node, incarnation) VALUES (7, gen_random_uuid())`)
	for wait, severity := range map[string]string{"0": "ok", "2 minutes": "warning", "20 minutes": "error"} {
		execSQL(t, dsn, `UPDATE reprise.tasks SET visible_at = now() - interval '`+wait+`'`)
		found := findings(t, dsn, cli.ExitFailed) // the servers of tests run without fsync
		wantFound(t, found, map[string]string{"settings": "error", "nodes": "ok", "unserved": "ok", "waiting": severity, "clock": "ok"})
	}
	execSQL(t, dsn, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET statement_timeout = ''3s''', current_database()); END $$`)
	wantText(t, "doctor", reprise(t, dsn, cli.ExitFailed, "doctor").out, "statement_timeout is 3000 ms", "fsync is off", "full_page_writes is off",
		"no synchronous standby", "idle_in_transaction_session_timeout is not set")
	// The check of the tables at the end may take longer on a slow machine.
	execSQL(t, dsn, `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I RESET statement_timeout', current_database()); END $$`)
	execSQL(t, dsn, `CREATE TABLE public.kept AS SELECT * FROM reprise.schema_migrations WHERE version > 1;
		DELETE FROM reprise.schema_migrations WHERE version > 1`)
	wantFound(t, findings(t, dsn, cli.ExitFailed), map[string]string{"tables": "error", "store": ""})
	execSQL(t, dsn, `INSERT INTO reprise.schema_migrations SELECT * FROM public.kept;
		DELETE FROM reprise.nodes; DELETE FROM reprise.members`)
}
