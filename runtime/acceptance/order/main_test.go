package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/reprise-run/reprise/journal/postgres/pgserver"
)

// mainEnv makes the test binary run main instead of tests: the program itself is put to the test.
const mainEnv = "REPRISE_ORDER_MAIN"

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(workerEnv) != "":
		log.SetOutput(io.Discard)
		os.Exit(worker())
	case os.Getenv(mainEnv) != "":
		main()
		os.Exit(0)
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func TestOrderBalances(t *testing.T) {
	t.Parallel()
	mustRun(t, 0, []string{"SQLite: .*reprise.db", `60 of 60 orders started`, "the audit balances"}, "-orders=60", "-over=2s")
}

// TestOrderSurvivesKillsOnSQLite: one process has the file at a time, and the next one goes on at
// once.
func TestOrderSurvivesKillsOnSQLite(t *testing.T) {
	t.Parallel()
	out := mustRun(t, 0, []string{"3 of 3 kills", "the audit balances", `had the file after: median [01]\.`}, "-orders=60", "-kill=3", "-over=5s")
	wantForward(t, out)
	if n := len(regexp.MustCompile(`was killed\n +\d+s +[1-9]\d* of 60`).FindAllString(out, -1)); n != 3 {
		t.Errorf("%d of 3 processes begin to count where another one was killed", n)
	}
	if strings.Contains(out, "were there already") {
		t.Error("orders of a process that was killed count as those of an earlier start of the program")
	}
}

// wantForward: the counts of the progress never go backwards, whoever counts.
func wantForward(t *testing.T, out string) {
	t.Helper()
	var last [3]int
	lines := regexp.MustCompile(`(?m)(\d+) of 60 orders started, +-?\d+ in flight, +(\d+) shipped, +(\d+) given up`).FindAllStringSubmatch(out, -1)
	if len(lines) < 3 {
		t.Errorf("only %d lines of progress", len(lines))
	}
	for _, line := range lines {
		for i, text := range line[1:] {
			n, err := strconv.Atoi(text)
			if err != nil || n < last[i] {
				t.Errorf("%q comes after %v, %v", line[0], last, err)
			}
			last[i] = n
		}
	}
}

// TestOrderInterruptedOnAPrivateServer: the server goes away with the program, so it promises
// nothing.
func TestOrderInterruptedOnAPrivateServer(t *testing.T) {
	t.Parallel()
	p := newProgram(t, "", "-orders=60", "-over=10s", "-nodes=2")
	p.Stdout = nil
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && !strings.Contains(lines.Text(), "orders started") {
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() { // to the end
	}
	_ = p.Wait()
	if said := p.out.String(); !strings.Contains(said, "the private Postgres is gone") || strings.Contains(said, "goes on where") {
		t.Errorf("it says %q", said)
	}
	p.checkNothingLeft(t)
}

// TestOrderResumesOnSQLite interrupts the program and starts it again on what it has left, then
// with kills.
func TestOrderResumesOnSQLite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := newProgram(t, "", "-orders=60", "-over=4s", "-dir="+dir)
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	awaitFile(t, filepath.Join(dir, journalFile), "select count(*) > 10 from shop_charges")
	if err := first.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	if got := first.ProcessState.ExitCode(); got != 1 || !strings.Contains(first.out.String(), "interrupted") {
		t.Errorf("exit status %d, want 1 and a word about the interruption", got)
	}
	if !strings.Contains(first.out.String(), "the next start on the same files") {
		t.Error("it does not say what the next start does")
	}
	first.checkNothingLeft(t)
	for _, args := range [][]string{{"-keep", "-kill=1"}, {"-kill=0"}} {
		next := newProgram(t, "", append(args, "-orders=60", "-over=1s", "-dir="+dir)...)
		if err := next.Run(); err != nil {
			t.Error(err)
		}
		if out := next.out.String(); !strings.Contains(out, "the audit balances") || !strings.Contains(out, "were there already") {
			t.Error("the day was not resumed, or the audit does not balance")
		}
		next.checkNothingLeft(t)
	}
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the folder of a day that balances is still there: %v", err)
	}
}

func TestOrderRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ dsn, want, args string }{
		{"postgres://nowhere", "-pgkill needs a private Postgres", "-pgkill"},
		{"postgres://nowhere", "-nodes 2 or more", "-kill=3"},
		{"", "-nodes 2 or more", "-pgkill -kill=3"},
		{"", "not negative", "-orders=-1"},
		{"", "-nodes 2 or more", "-trouble=slow"},
	} {
		p := newProgram(t, c.dsn, strings.Fields(c.args)...)
		_ = p.Run()
		if got := p.ProcessState.ExitCode(); got != 1 || !strings.Contains(p.out.String(), c.want) {
			t.Errorf("%s: exit status %d, %q, want 1 and %q", c.args, got, p.out.String(), c.want)
		}
		p.checkNothingLeft(t)
	}
}

func TestOrderTamperedFails(t *testing.T) {
	t.Parallel()
	out := mustRun(t, 1, []string{`BAD stock: `, "THE AUDIT DOES NOT BALANCE"}, "-orders=20", "-over=1s", "-tamper")
	if strings.Contains(out, "BAD money") {
		t.Error("the audit blames the money, but only stock was tampered with")
	}
}

func TestOrderSurvivesKills(t *testing.T) {
	t.Parallel()
	out := mustRun(t, 0, []string{"3 of 3 kills", "the audit balances", `moved on after: median`}, "-orders=60", "-nodes=2", "-kill=3", "-over=3s")
	if strings.Contains(out, "NOT moved on") {
		t.Error("runs of a dead node did not move on")
	}
}

func TestOrderSurvivesPostgresCrash(t *testing.T) {
	t.Parallel()
	mustRun(t, 0, []string{"Postgres was killed", "Postgres is back", "the audit balances"}, "-orders=60", "-pgkill", "-over=3s")
}

// TestOrderSurvivesTrouble: nothing dies, but the network is slow and silent, log-ins are refused
// and rows are held.
func TestOrderSurvivesTrouble(t *testing.T) {
	t.Parallel()
	var want []string
	for _, kind := range troubles {
		want = append(want, kind.says)
	}
	mustRun(t, 0, append(want, "the audit balances"), "-orders=60", "-nodes=2", "-trouble=slow,silent,refused,held", "-over=12s")
}

// TestOrderResumes interrupts the program with SIGTERM and starts it again on the same database,
// twice.
func TestOrderResumes(t *testing.T) {
	t.Parallel()
	dsn := serve(t)
	first := newProgram(t, dsn, "-orders=60", "-over=4s")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, dsn, "select count(*) > 10 from shop_charges")
	if err := first.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait()
	if got := first.ProcessState.ExitCode(); got != 1 || !strings.Contains(first.out.String(), "interrupted") {
		t.Errorf("exit status %d, want 1 and a word about the interruption", got)
	}
	first.checkNothingLeft(t)
	for _, args := range [][]string{{"-nodes=2"}, {"-nodes=1"}} {
		next := newProgram(t, dsn, append(args, "-orders=60", "-over=1s")...)
		if err := next.Run(); err != nil {
			t.Error(err)
		}
		if !strings.Contains(next.out.String(), "the audit balances") {
			t.Error("the audit does not balance")
		}
		next.checkNothingLeft(t)
	}
}

// TestOrderDiesWithItsWorkers kills the parent: no worker may survive it.
func TestOrderDiesWithItsWorkers(t *testing.T) {
	t.Parallel()
	dsn := serve(t)
	p := newProgram(t, dsn, "-orders=60", "-over=10s", "-nodes=2")
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	await(t, dsn, "select count(*) > 5 from shop_charges")
	if err := p.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.Wait()
	logs, err := filepath.Glob(filepath.Join(p.tmp, "reprise-order-*"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("log folders %q, %v: want one, which a killed program cannot remove", logs, err)
	}
	if err := os.RemoveAll(logs[0]); err != nil {
		t.Fatal(err)
	}
	p.checkNothingLeft(t)
}

// serve runs a private server and returns the address of a database that outlives the program under
// test.
func serve(t *testing.T) string {
	t.Helper()
	server, err := pgserver.Start(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server.DSN("postgres")
}

// await waits until a condition holds in the database, whose tables may not exist yet.
func await(t *testing.T, dsn, sql string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		var holds bool
		if err := conn.QueryRow(ctx, sql).Scan(&holds); err == nil && holds {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain for %q", sql)
		case <-tick.C:
		}
	}
}

// awaitFile waits until a condition holds in a SQLite file, whose tables may not exist yet.
func awaitFile(t *testing.T, path, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for holds := false; !holds; {
		select {
		case <-ctx.Done():
			t.Fatalf("waited in vain for %q", text)
		case <-tick.C:
		}
		if _, err := os.Stat(path); err != nil {
			continue
		}
		f, err := openLiteTables(path)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = one(ctx, f, text, nil, &holds) // tables may be missing
		f.close()
	}
}
