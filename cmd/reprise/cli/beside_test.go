package cli_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

var silent = slog.New(slog.DiscardHandler)

// program opens a store and runs a node with the code of the demonstration on it, as a user's
// program would, and returns when the node is a member. stop ends both.
func program(t *testing.T, name string) (c *runtime.Client, stop func()) {
	t.Helper()
	var store cli.Store
	var err error
	if strings.HasPrefix(name, "postgres") {
		store, err = postgres.Open(t.Context(), name, &postgres.Options{Logger: silent})
	} else {
		store, err = sqlite.Open(t.Context(), name, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	node := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Name: "program", Logger: silent})
	cli.RegisterDemo(node)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- node.Run(ctx) }()
	for node.ID() == 0 { // it joins
		select {
		case err := <-ended:
			t.Fatal(err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		store.Close()
	}
	t.Cleanup(stop)
	return node.Client(), stop
}

// follower is a run watch that goes on.
type follower struct {
	t     *testing.T
	lines *bufio.Scanner
	end   func() int
}

func follow(t *testing.T, store string, args ...string) *follower {
	t.Helper()
	cmd := command(t, store, append([]string{"run", "watch", "--poll", "20ms"}, args...)...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return &follower{t, bufio.NewScanner(out), func() int {
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
		return cmd.ProcessState.ExitCode()
	}}
}

// until reads lines until one has the text.
func (f *follower) until(text string) {
	f.t.Helper()
	for f.lines.Scan() {
		if strings.Contains(f.lines.Text(), text) {
			return
		}
	}
	f.t.Fatalf("watch ended before %q", text)
}

// TestWatchFollows: events are printed as they come, and the end of the run ends the verb with the
// exit code that it has.
func TestWatchFollows(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, store string) {
		c, _ := program(t, store)
		start := func(fate string) journal.RunID {
			run, err := runtime.Start(t.Context(), c, workflow.Name[map[string]string, string]("demo.parcel"), map[string]string{"to": "x", "fate": fate}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return run.ID()
		}
		run := start("signal")
		people, programs := follow(t, store, run.String()), follow(t, store, run.String(), "-o", "jsonl")
		people.until("StepCompleted")
		programs.until(`"kind":"StepCompleted"`)
		if err := runtime.Signal(t.Context(), c, run, workflow.Signal[string]("scanned"), "in Bonn", nil); err != nil {
			t.Fatal(err)
		}
		people.until("SignalReceived  scanned")
		people.until("RunCompleted")
		programs.until(`"payload":{"value":"in Bonn"}`)
		programs.until(`"kind":"RunCompleted"`)
		if a, b := people.end(), programs.end(); a != cli.ExitDone || b != cli.ExitDone {
			t.Errorf("exit codes %d and %d, want 0", a, b)
		}
		run = start("signal")
		f := follow(t, store, run.String())
		f.until("RunStarted")
		if err := c.Cancel(t.Context(), run, "no more"); err != nil {
			t.Fatal(err)
		}
		f.until("RunCancelled")
		if code := f.end(); code != cli.ExitFailed {
			t.Errorf("the watch of a cancelled run ends with %d", code)
		}
		run = start("signal")
		got := reprise(t, store, cli.ExitTimeout, "run", "watch", run.String(), "--timeout", "300ms")
		wantText(t, "a watch that gave up", got.err, "deadline exceeded")
	})
}

// TestBesideAProgram: everything can be read of a file that a program has open, and what would
// write is refused and says who has it.
func TestBesideAProgram(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	store := filepath.Join(t.TempDir(), "runs.db")
	plant(t, store)
	_, stop := program(t, store)
	for args, has := range map[string]string{
		"run list": "demo:signal", "run why key=demo:signal": "send signal scanned", "node list": "program", "workflow list": "demo.customs",
		"migrate status": "applied",
	} {
		wantText(t, args, reprise(t, store, cli.ExitDone, strings.Fields(args)...).out, has)
		checkJSON(t, s, store, cli.ExitDone, strings.Fields(args)...)
	}
	if out := reprise(t, store, cli.ExitDone, "run", "why", "key=demo:signal").out; strings.Contains(out, "unserved") {
		t.Errorf("the node that serves the run was not seen:\n%s", out)
	}
	for _, args := range []string{"run signal key=demo:signal scanned", "run start x", "run terminate --yes key=demo:signal", "migrate up"} {
		got := reprise(t, store, cli.ExitFailed, strings.Fields(args)...)
		wantText(t, args, got.err, fmt.Sprint("process ", os.Getpid()), "one writer")
	}
	stop()
	reprise(t, store, cli.ExitDone, "run", "signal", "key=demo:signal", "scanned")
}

// TestUpdateIsAnswered: the handler's answer, and the validator's text.
func TestUpdateIsAnswered(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	store := pgtest.New(t)
	program(t, store)
	reprise(t, store, cli.ExitDone, "run", "start", "demo.parcel", `{"to": "x", "fate": "signal"}`, "--key", "p")
	if out := reprise(t, store, cli.ExitDone, "run", "update", "key=p", "redirect", `"y"`).out; out != "true\n" {
		t.Errorf("the answer is %q", out)
	}
	checkJSON(t, s, store, cli.ExitDone, "run", "update", "key=p", "redirect", `"z"`)
	wantText(t, "a refused update", reprise(t, store, cli.ExitRefused, "run", "update", "key=p", "redirect", `""`).err, "needs an address")
	got := reprise(t, store, cli.ExitDone, "run", "start", "demo.parcel", `{"to": "x", "fate": "completed"}`)
	if got.err != "" {
		t.Errorf("a start that is served says %q", got.err)
	}
}

// execSQL executes SQL on a store, beside the command, also while a test cleans up.
func execSQL(t *testing.T, store, statement string) {
	t.Helper()
	if strings.HasPrefix(store, "postgres") {
		conn, err := pgx.Connect(context.Background(), store)
		if err == nil {
			_, err = conn.Exec(context.Background(), statement)
			err = errors.Join(err, conn.Close(context.Background()))
		}
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	db, err := sql.Open("sqlite", store)
	if err == nil {
		_, err = db.ExecContext(context.Background(), strings.ReplaceAll(statement, "reprise.", "reprise_"))
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestTablesOfAnotherRelease: neither older nor newer tables are worked on, and the error says what
// to do. migrate status shows them.
func TestTablesOfAnotherRelease(t *testing.T) {
	t.Parallel()
	verbs := []string{"run list", "run start x", "node list", "run terminate --yes key=x"}
	onBoth(t, func(t *testing.T, store string) {
		insert := `INSERT INTO reprise.schema_migrations (version, name, checksum, additive%s) VALUES (9001, '9001_other.sql', 'x', false%s)`
		undo := `DELETE FROM reprise.schema_migrations WHERE version = 9001`
		if !strings.HasPrefix(store, "postgres") {
			insert = strings.ReplaceAll(insert, "false%s", "0%s")
			insert = fmt.Sprintf(insert, ", applied_at", ", 0")
		} else {
			insert = fmt.Sprintf(insert, "", "")
		}
		execSQL(t, store, insert)
		for _, v := range append(verbs, "migrate up") {
			wantText(t, v, reprise(t, store, cli.ExitFailed, strings.Fields(v)...).err, "9001_other.sql", "install the release")
		}
		got := reprise(t, store, cli.ExitFailed, "migrate", "status")
		wantText(t, "migrate status", got.out, "9001_other.sql", "applied by a newer release")
		execSQL(t, store, undo)
		execSQL(t, store, `CREATE TABLE kept AS SELECT * FROM reprise.schema_migrations WHERE version > 1`)
		execSQL(t, store, `DELETE FROM reprise.schema_migrations WHERE version > 1`)
		for _, v := range verbs {
			wantText(t, v, reprise(t, store, cli.ExitFailed, strings.Fields(v)...).err, "older than this release", "0002_views.sql", "migrate up")
		}
		wantText(t, "migrate status", reprise(t, store, cli.ExitDone, "migrate", "status").out, "pending")
		execSQL(t, store, `INSERT INTO reprise.schema_migrations SELECT * FROM kept`)
		execSQL(t, store, `DROP TABLE kept`)
		reprise(t, store, cli.ExitDone, "run", "list")
	})
}

// TestNothingIsMade: verbs that are no migrate up make neither a file, a schema nor a table.
func TestNothingIsMade(t *testing.T) {
	t.Parallel()
	dsn := pgtest.Empty(t)
	path := filepath.Join(t.TempDir(), "none.db")
	for _, v := range []string{"run list", "run start x", "node list", "run delete --yes key=x"} {
		wantText(t, v, reprise(t, dsn, cli.ExitFailed, strings.Fields(v)...).err, `"reprise" has no tables of Reprise`, "migrate up")
		wantText(t, v, reprise(t, path, cli.ExitFailed, strings.Fields(v)...).err, "no such file", "migrate up")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is there: %v", err)
	}
	execSQL(t, dsn, `CREATE SCHEMA reprise`) // fails if somebody has made it
	reprise(t, dsn, cli.ExitDone, "migrate", "up", "--schema", "other")
	reprise(t, dsn, cli.ExitDone, "run", "list", "--schema", "other")
	reprise(t, dsn, cli.ExitFailed, "run", "list")
}

// TestReadingNeedsNoRightToWrite: a role that may read the tables can use every verb that reads.
func TestReadingNeedsNoRightToWrite(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	plant(t, dsn)
	role := "reader_" + strings.ReplaceAll(journal.NewRunID().String(), "-", "")
	execSQL(t, dsn, `CREATE ROLE `+role+` LOGIN; GRANT USAGE ON SCHEMA reprise TO `+role+`; GRANT SELECT ON reprise.runs, reprise.tasks, reprise.events,
		reprise.inbox, reprise.nodes, reprise.members, reprise.pauses, reprise.views, reprise.limits, reprise.limit_lines, reprise.limit_claims,
		reprise.schema_migrations TO `+role)
	t.Cleanup(func() { execSQL(t, dsn, `DROP OWNED BY `+role+`; DROP ROLE `+role) })
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User(role)
	for _, v := range []string{"run list", "run list --key demo:signal", "run list --state blocked", "run show key=demo:child", "run why key=demo:child", "run history key=demo:failed",
		"run published key=demo:signal", "run watch key=demo:completed", "node list", "workflow list", "limit list", "migrate status"} {
		reprise(t, u.String(), cli.ExitDone, strings.Fields(v)...)
	}
	got := reprise(t, u.String(), cli.ExitFailed, "run", "cancel", "key=demo:signal")
	wantText(t, "a write", got.err, "permission denied")
}
