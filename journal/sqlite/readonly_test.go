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
}

func init() { jobs["stranger"] = stranger }

// stranger tries to open a file, as a user who may do no more than its mode says.
func stranger(path string) error {
	if os.Geteuid() == 0 {
		if err := errors.Join(syscall.Setgroups(nil), syscall.Setgid(strangerID), syscall.Setuid(strangerID)); err != nil {
			return err
		}
	}
	var said opened
	s, err := sqlite.Open(context.Background(), path, nil)
	if err != nil {
		said = opened{err.Error(), errors.Is(err, journal.ErrUnavailable)}
	} else {
		s.Close()
	}
	return json.NewEncoder(os.Stdout).Encode(said)
}

// askStranger runs a stranger in a process of its own.
func askStranger(t *testing.T, path string) (said opened) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=stranger", childPathEnv+"="+path)
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
