package cli_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
)

// terminal opens a pseudo-terminal: what is written to ours is typed at theirs.
func terminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ours.Close() })
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close() })
	return ours, theirs
}

// TestConfirm: on a terminal a verb that cannot be undone shows the run and asks, and nothing but
// yes is yes.
func TestConfirm(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "runs.db")
	reprise(t, store, cli.ExitDone, "migrate", "up")
	id := strings.TrimSpace(reprise(t, store, cli.ExitDone, "run", "start", "order", "--key", "order:1").out)
	for _, c := range []struct {
		verb, answer, status string
		code                 int
	}{
		{"terminate", "", "open", cli.ExitFailed},
		{"terminate", "n", "open", cli.ExitFailed},
		{"terminate", "yesterday", "open", cli.ExitFailed},
		{"terminate", "y", "terminated", cli.ExitDone},
		{"delete", "no", "terminated", cli.ExitFailed},
		{"delete", "YES", "", cli.ExitDone},
	} {
		ours, theirs := terminal(t)
		cmd := command(t, store, "run", c.verb, "key=order:1")
		cmd.Stdin = theirs
		asked, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(asked)
		question, err := r.ReadString('?')
		if err != nil {
			t.Fatalf("%s does not ask: %q, %v", c.verb, question, err)
		}
		wantText(t, "the question", question, c.verb+" run "+id, "workflow order", "key order:1", "started ")
		if _, err := ours.WriteString(c.answer + "\n"); err != nil {
			t.Fatal(err)
		}
		rest, _ := r.ReadString(0)
		if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != c.code {
			t.Errorf("%s answered with %q ends with %d, want %d:%s", c.verb, c.answer, cmd.ProcessState.ExitCode(), c.code, rest)
		}
		if c.status == "" {
			reprise(t, store, cli.ExitNotFound, "run", "show", id)
		} else if got := show(t, store, id).Run.Status; got != c.status {
			t.Errorf("after %s and %q the run is %s, want %s", c.verb, c.answer, got, c.status)
		}
	}
}

// TestBulkOnATerminal: bulk asks with the number of runs, and tells how far it is.
func TestBulkOnATerminal(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "runs.db")
	reprise(t, store, cli.ExitDone, "migrate", "up")
	startOrders(t, store, 4)
	for _, answer := range []string{"n", "y"} {
		code := map[string]int{"n": cli.ExitFailed, "y": cli.ExitDone}[answer]
		ours, theirs := terminal(t)
		cmd := command(t, store, "bulk", "terminate", "--all", "--rate", "1", "--timeout", "1m")
		cmd.Stdin, cmd.Stderr = theirs, theirs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		theirs.Close() // so that reading ends with the process
		r := bufio.NewReader(ours)
		if question, err := r.ReadString('?'); err != nil || !strings.Contains(question, "terminate 4 runs") {
			t.Fatalf("the question is %q, %v", question, err)
		}
		if _, err := ours.WriteString(answer + "\n"); err != nil {
			t.Fatal(err)
		}
		for told := answer == "n"; !told; {
			line, err := r.ReadString('\n')
			if err != nil {
				t.Fatalf("no progress is told: %v", err)
			}
			told = strings.Contains(line, "terminate: 0 of 4 runs done")
		}
		if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != code {
			t.Errorf("answered with %s it ends with %d, want %d", answer, cmd.ProcessState.ExitCode(), code)
		}
	}
	wantText(t, "the runs", reprise(t, store, cli.ExitDone, "run", "list", "--where", `status = "terminated"`).out, "order:0", "order:3")
}
