package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// program is the example as a child process.
type program struct {
	*exec.Cmd
	out bytes.Buffer
	tmp string
}

// patience is how long a day of the shop may take, which is many times what the slowest one takes
// on a busy machine. A program that hangs says then where its goroutines stand.
const patience = 6 * time.Minute

// newProgram returns the example with a temporary folder of its own, so that the test sees what it
// leaves behind.
func newProgram(t *testing.T, dsn string, args ...string) *program {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	p := &program{Cmd: exec.CommandContext(ctx, os.Args[0], args...), tmp: t.TempDir()}
	p.Cancel = func() error { return p.Process.Signal(syscall.SIGQUIT) }
	p.WaitDelay = 10 * time.Second
	for _, dir := range []string{p.tmp, filepath.Dir(p.tmp)} { // the server's user must get in
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.Env = append(os.Environ(), mainEnv+"=1", dsnEnv+"="+dsn, "TMPDIR="+p.tmp)
	p.Stdout, p.Stderr = &p.out, &p.out
	t.Cleanup(func() {
		cancel()
		if t.Failed() {
			t.Log(p.out.String())
			p.logTails(t)
		}
	})
	return p
}

// logTails shows how the logs of a day end.
func (p *program) logTails(t *testing.T) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(p.tmp, "reprise-order-*", "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range logs {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Error(err)
		}
		lines := strings.SplitAfter(string(text), "\n")
		t.Logf("%s ends with\n%s", filepath.Base(name), strings.Join(lines[max(0, len(lines)-40):], ""))
	}
}

// mustRun runs the program to its end and checks its status, what it prints and that it leaves
// nothing behind.
func mustRun(t *testing.T, status int, want []string, args ...string) string {
	t.Helper()
	p := newProgram(t, "", args...)
	_ = p.Run()
	if got := p.ProcessState.ExitCode(); got != status {
		t.Errorf("exit status %d, want %d", got, status)
	}
	for _, w := range want {
		if !regexp.MustCompile(w).MatchString(p.out.String()) {
			t.Errorf("the output does not match %q", w)
		}
	}
	p.checkNothingLeft(t)
	return p.out.String()
}

// checkNothingLeft looks for folders, and for processes that were started with this program's
// temporary folder.
func (p *program) checkNothingLeft(t *testing.T) {
	t.Helper()
	left := func() (found []string) {
		entries, err := os.ReadDir(p.tmp)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			found = append(found, e.Name())
		}
		environs, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range environs {
			if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte("TMPDIR="+p.tmp+"\x00")) {
				found = append(found, name)
			}
		}
		return found
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(15 * time.Second); ; <-tick.C {
		found := left()
		if len(found) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("left behind: %q", found)
			return
		}
	}
}
