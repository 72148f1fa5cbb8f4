package pgserver_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/postgres/pgserver"
)

// binEnv tells where the binaries are, as the package's documentation says.
const binEnv = "REPRISE_PG_BIN"

// childEnv makes the test binary start a server, print its folder and DSN, and wait to be killed.
const childEnv = "REPRISE_PGSERVER_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) != "" {
		child()
	}
	os.Exit(m.Run())
}

func child() {
	s, err := pgserver.Start(context.Background(), &pgserver.Options{NoFsync: true, Dir: os.Getenv(childEnv)})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	fmt.Println(s.DSN("postgres"))
	select {}
}

func TestServerKeepsDataThroughKillAndRestart(t *testing.T) {
	dir := folder(t)
	s := start(t, &pgserver.Options{Dir: dir, Settings: map[string]string{"work_mem": "5MB"}})
	conn := connect(t, s.DSN("postgres"))
	mustExec(t, conn, "create table kept (n int)", "insert into kept values (7)")
	for name, want := range map[string]string{
		"work_mem": "5MB", "fsync": "on", "listen_addresses": "127.0.0.1", "server_encoding": "UTF8",
	} {
		if got := one[string](t, conn, "select current_setting($1)", name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := one[string](t, conn, "select datcollate from pg_database where datname = current_database()"); got != "C" {
		t.Errorf("the database sorts by %q, want C", got)
	}

	before := s.DSN("postgres")
	if err := s.Kill(); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "select 1"); err == nil {
		t.Fatal("the connection survived the kill")
	}
	if _, err := pgx.Connect(t.Context(), before); err == nil {
		t.Fatal("the killed server takes connections")
	}
	if err := s.Kill(); err != nil {
		t.Errorf("a second kill: %v", err)
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := s.DSN("postgres"); got != before {
		t.Errorf("the address changed from %s to %s", before, got)
	}
	if got := one[int](t, connect(t, before), "select n from kept"); got != 7 {
		t.Errorf("kept %d, want 7", got)
	}
	if err := s.Restart(t.Context()); err != nil {
		t.Fatalf("restart of a running server: %v", err)
	}
	if got := one[int](t, connect(t, before), "select n from kept"); got != 7 {
		t.Errorf("kept %d, want 7", got)
	}
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := s.Stop(); err != nil {
		t.Errorf("a second stop: %v", err)
	}
	if err := s.Restart(t.Context()); err == nil {
		t.Error("a stopped server restarted without its folder")
	}
	waitEmpty(t, dir)
}

func TestStopAfterKillRemovesTheFolder(t *testing.T) {
	dir := folder(t)
	s := start(t, &pgserver.Options{Dir: dir, NoFsync: true})
	if err := errors.Join(s.Kill(), s.Stop()); err != nil {
		t.Fatal(err)
	}
	waitEmpty(t, dir)
}

func TestServerVanishesWithItsParent(t *testing.T) {
	dir := folder(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	dsn := strings.TrimSpace(line)
	if _, err := url.Parse(dsn); err != nil || !strings.HasPrefix(dsn, "postgres://") {
		t.Fatalf("the child said %q", line)
	}
	conn := connect(t, dsn) // an open connection must not keep the server alive
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	waitEmpty(t, dir)
	if _, err := conn.Exec(t.Context(), "select 1"); err == nil {
		t.Error("the server still answers")
	}
	if _, err := pgx.Connect(t.Context(), dsn); err == nil {
		t.Error("the server still takes connections")
	}
}

func TestStartNamesWhatIsMissing(t *testing.T) {
	t.Setenv(binEnv, t.TempDir())
	if _, err := pgserver.Start(t.Context(), nil); err == nil || !strings.Contains(err.Error(), binEnv) {
		t.Errorf("got %v, want an error that names %s", err, binEnv)
	}
	t.Setenv(binEnv, "")
	t.Setenv("PATH", t.TempDir())
	dir := folder(t)
	if s, err := pgserver.Start(t.Context(), &pgserver.Options{NoFsync: true, Dir: dir}); err == nil {
		if err := s.Stop(); err != nil { // found without PATH, where Debian keeps it
			t.Error(err)
		}
		waitEmpty(t, dir)
	} else if !strings.Contains(err.Error(), "apt-get install postgresql") {
		t.Errorf("got %v, want an error that says what to install", err)
	}
}

func TestStartShowsTheServersLog(t *testing.T) {
	dir := folder(t)
	o := &pgserver.Options{Dir: dir, Settings: map[string]string{"no_such_setting": "1"}}
	if _, err := pgserver.Start(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no_such_setting") {
		t.Errorf("got %v, want an error that names the setting", err)
	}
	waitEmpty(t, dir)
}

// folder is a temporary folder that the server's user can enter.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func start(t *testing.T, o *pgserver.Options) *pgserver.Server {
	t.Helper()
	s, err := pgserver.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	return s
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func mustExec(t *testing.T, conn *pgx.Conn, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
}

func one[T any](t *testing.T, conn *pgx.Conn, sql string, args ...any) (v T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// waitEmpty waits until dir has no entries: the supervising shell runs on after its parent died.
func waitEmpty(t *testing.T, dir string) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(20 * time.Second)
	for {
		entries, err := os.ReadDir(dir)
		if err == nil && len(entries) == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s still holds %v (%v)", dir, entries, err)
		}
	}
}
