//go:build unix && !solaris && !aix

package sqlite_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/sqlite"
)

// strangerID is the user that root becomes to be refused: modes of files do not bind root.
const strangerID = 65534

// opened is what a stranger says about a file.
type opened struct {
	Error       string
	Unavailable bool
	Runs        int // that a reader has found
}

func init() { jobs["stranger"], jobs["reader"] = stranger, reader }

// reader reads a file as a user who may do no more than its mode says, and says how many runs it
// has found.
func reader(path string) error {
	if err := becomeStranger(); err != nil {
		return err
	}
	var said opened
	s, err := sqlite.Open(context.Background(), path, &sqlite.Options{ReadOnly: true})
	if err == nil {
		var page journal.RunPage
		page, err = s.List(context.Background(), journal.ListFilter{})
		said.Runs = len(page.Runs)
		s.Close()
	}
	if err != nil {
		said = opened{Error: err.Error(), Unavailable: errors.Is(err, journal.ErrUnavailable)}
	}
	return json.NewEncoder(os.Stdout).Encode(said)
}

func becomeStranger() error {
	if os.Geteuid() != 0 {
		return nil
	}
	return errors.Join(syscall.Setgroups(nil), syscall.Setgid(strangerID), syscall.Setuid(strangerID))
}

// stranger tries to open a file, as a user who may do no more than its mode says.
func stranger(path string) error {
	if err := becomeStranger(); err != nil {
		return err
	}
	var said opened
	s, err := sqlite.Open(context.Background(), path, nil)
	if err != nil {
		said = opened{Error: err.Error(), Unavailable: errors.Is(err, journal.ErrUnavailable)}
	} else {
		s.Close()
	}
	return json.NewEncoder(os.Stdout).Encode(said)
}

// askStranger runs a stranger in a process of its own.
func askStranger(t *testing.T, path string) opened { t.Helper(); return askOther(t, "stranger", path) }

func askOther(t *testing.T, job, path string) (said opened) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+job, childPathEnv+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &said)
	}
	if err != nil {
		t.Fatalf("the stranger said %q: %v", out, err)
	}
	return said
}

// TestReadOnlyFileIsToldAndKept: whatever of a file may not be written, the store does not open,
// says which file it is about and changes nothing. Once it may be written everything that was
// acknowledged is there.
func TestReadOnlyFileIsToldAndKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	folder := filepath.Dir(w.path)
	w.start(journal.Start{Key: "acknowledged"})
	w.s.Close() // the log stays, because the world's own connection has the file
	mode := func(name string, mode os.FileMode) {
		t.Helper()
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
	}
	mode(filepath.Dir(folder), 0o755)
	free := func() {
		t.Helper()
		mode(folder, 0o777)
		files, err := filepath.Glob(w.path + "*")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			mode(f, 0o666)
		}
	}
	refused := func(name string, readOnly os.FileMode) {
		t.Helper()
		free()
		before, err := os.ReadFile(w.path)
		if err != nil {
			t.Fatal(err)
		}
		mode(name, readOnly)
		said := askStranger(t, w.path)
		if !said.Unavailable || !strings.Contains(said.Error, w.path) {
			t.Errorf("%s is read-only: got %q", filepath.Base(name), said.Error)
		}
		if after, err := os.ReadFile(w.path); err != nil || string(after) != string(before) {
			t.Errorf("%s is read-only: the file was changed, %v", filepath.Base(name), err)
		}
	}
	refused(w.path, 0o444)
	refused(w.path+"-lock", 0o444)
	refused(w.path+"-wal", 0o444)
	if err := w.db.Close(); err != nil { // takes the log away, so that a new one is needed
		t.Fatal(err)
	}
	refused(folder, 0o555)
	free()
	if said := askStranger(t, w.path); said.Error != "" {
		t.Errorf("nothing is read-only: got %q", said.Error)
	}
	if err := w.reopen(); err != nil {
		t.Fatal(err)
	}
	if n := w.runs(); n != 1 {
		t.Errorf("%d runs, want the acknowledged one", n)
	}
}

// TestReadOnlyStoreNeedsNoRightToWrite: who may read the file and its log sees what the process
// that has it has written.
func TestReadOnlyStoreNeedsNoRightToWrite(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.start(journal.Start{Key: "one"}, journal.Start{Key: "two"})
	folder := filepath.Dir(w.path)
	files, err := filepath.Glob(w.path + "*")
	if err != nil || len(files) < 3 {
		t.Fatalf("files %v, %v: want the log beside the file", files, err)
	}
	for _, f := range files {
		if err := os.Chmod(f, 0o444); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{filepath.Dir(folder), folder} {
		if err := os.Chmod(f, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if said := askOther(t, "reader", w.path); said.Error != "" || said.Runs != 2 {
		t.Errorf("a reader says %+v, want 2 runs", said)
	}
	w.start(journal.Start{Key: "three"})
}
