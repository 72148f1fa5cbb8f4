package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/sqlite"
)

// refusal opens a file that cannot be used. Every error names it, and leaves it as it was.
func refusal(t *testing.T, path string) error {
	t.Helper()
	before, _ := os.ReadFile(path)
	s, err := sqlite.Open(t.Context(), path, nil)
	if err == nil {
		s.Close()
		t.Fatalf("%s was opened", path)
	}
	if !strings.Contains(err.Error(), path) {
		t.Errorf("the error does not name %s: %v", path, err)
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Errorf("%s was changed", path)
	}
	return err
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file := func(name string, content string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if err := refusal(t, filepath.Join(folder, "no", "such", "folder.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	if err := refusal(t, folder); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("a folder: %v", err)
	}
	if err := refusal(t, file("letter.txt", strings.Repeat("Dear customer, ", 100))); !errors.Is(err, sqlite.ErrNotDatabase) {
		t.Errorf("a letter: %v", err)
	}
	for _, path := range []string{":memory:", "", "file:x.db"} {
		if _, err := sqlite.Open(t.Context(), path, nil); !errors.Is(err, journal.ErrInvalid) {
			t.Errorf("%q: %v", path, err)
		}
	}
	locked := filepath.Join(folder, "unlockable.db")
	if err := os.Mkdir(locked+"-lock", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := refusal(t, locked); !errors.Is(err, journal.ErrUnavailable) {
		t.Errorf("a lock file that cannot be made: %v", err)
	}
}

func TestOpenRefusesTheFileOfAnotherApplication(t *testing.T) {
	t.Parallel()
	make := func(text string) string {
		path := filepath.Join(t.TempDir(), "other.db")
		if _, err := database(t, path).ExecContext(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		return path
	}
	marked := make(`CREATE TABLE fossil (x); PRAGMA application_id = 252006673`)
	if e, ok := errors.AsType[*sqlite.ForeignError](refusal(t, marked)); !ok || e.ApplicationID != 252006673 {
		t.Errorf("a file with another application_id: %v", e)
	}
	plain := make(`CREATE TABLE invoices (x)`)
	if e, ok := errors.AsType[*sqlite.ForeignError](refusal(t, plain)); !ok || e.Table != "invoices" {
		t.Errorf("a file with other tables: %v", e)
	}
	open(t, plain, &sqlite.Options{Shared: true}).Close()
	open(t, plain, nil).Close() // once they are together, they are
}

func TestSecondStoreOfAProcessIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	other := filepath.Join(filepath.Dir(w.path), "link.db")
	if err := os.Symlink(w.path, other); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{w.path, other} {
		_, err := sqlite.Open(t.Context(), path, nil)
		if e, ok := errors.AsType[*sqlite.LockedError](err); !ok || e.PID != os.Getpid() || e.Path != w.path {
			t.Errorf("%s: %v", path, err)
		}
	}
	w.s.Close()
	open(t, other, nil)
}

// TestAnOddNameIsOneFile: nothing in a name is taken for a parameter of the driver.
func TestAnOddNameIsOneFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	name := "a b?mode=memory&c#d%20é.db"
	s := open(t, filepath.Join(folder, name), &sqlite.Options{SyncNormal: true, Readers: 1000})
	if _, err := s.Start(t.Context(), nil, []journal.Start{{ID: journal.NewRunID(), Workflow: "w", Version: 1, Queue: "q", Priority: 3}}); err != nil {
		t.Fatal(err)
	}
	s.Close()
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 2 || entries[0].Name() != name || entries[1].Name() != name+"-lock" {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

// TestDamageIsToldAndSpreadsNot: a call that meets a damaged page says so and names the file; the
// others work.
func TestDamageIsToldAndSpreadsNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	big := journal.Payload{Data: []byte(`"` + strings.Repeat("x", 5000) + `"`)}
	var starts []journal.Start
	for range 300 {
		starts = append(starts, journal.Start{ID: journal.NewRunID(), Input: big})
	}
	w.start(starts...)
	damage(t, w)
	damaged := 0
	for _, s := range starts {
		list, err := w.j.Load(t.Context(), []driver.LoadRequest{{Run: s.ID}})
		if err == nil {
			err = list[0].Err
		}
		switch {
		case errors.Is(err, sqlite.ErrDamaged) && strings.Contains(err.Error(), w.path):
			damaged++
		case err != nil:
			t.Errorf("load: %v", err)
		}
	}
	if damaged == 0 || damaged > 20 {
		t.Errorf("%d of %d runs cannot be read any more, want a page's", damaged, len(starts))
	}
	w.start(journal.Start{Key: "goes on"})
}

// TestDamageStopsNoClaim: a run on a damaged page is claimed like any other, and says so: its owner
// blocks it. The others come with the same claim.
func TestDamageStopsNoClaim(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.start(slices.Repeat([]journal.Start{{Input: journal.Payload{Data: []byte(strings.Repeat("1", 2000))}}}, 40)...)
	damage(t, w)
	c, err := w.j.Claim(t.Context(), driver.ClaimRequest{Node: w.join(), Routes: []journal.Route{flowRoute}, Max: 50})
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for _, task := range c.Tasks {
		if task.Run.Unreadable == nil {
			continue
		}
		damaged++
		if !errors.Is(task.Run.Unreadable, sqlite.ErrDamaged) || task.Run.Workflow != "flow" || task.Task.Owner == 0 {
			t.Errorf("claimed %+v: %v", task.Task, task.Run.Unreadable)
		}
		w.commit(driver.Commit{Run: task.Run.ID, Node: task.Task.Owner, Fence: task.Task.Fence, Turn: task.Task.Turn, Generation: 1,
			Next: driver.Next{Kind: driver.NextBlock, Problem: "damaged"}})
	}
	if len(c.Tasks) != 40 || damaged == 0 || damaged > 20 {
		t.Errorf("%d runs were claimed, %d of them are damaged", len(c.Tasks), damaged)
	}
}

// damage overwrites a page of the table of runs while nobody has the file.
func damage(t *testing.T, w *world) {
	t.Helper()
	page := w.count(`SELECT pageno FROM dbstat WHERE name = 'reprise_runs' AND pagetype = 'leaf' ORDER BY path LIMIT 1 OFFSET 2`)
	if err := w.db.Close(); err != nil { // the last one to close the file empties the log
		t.Fatal(err)
	}
	w.s.Close()
	f, err := os.OpenFile(w.path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(strings.Repeat("\xee", 4096)), int64(page-1)*4096); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := w.reopen(); err != nil {
		t.Fatal(err)
	}
}
