package sqlite_test

import (
	"bytes"
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

// TestDamageHidesNoOtherRun: a listing, a load and a wait have every other run, and say of one on a
// damaged page which it is.
func TestDamageHidesNoOtherRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var starts []journal.Start
	for range 60 {
		starts = append(starts, journal.Start{ID: journal.NewRunID(), Input: journal.Payload{Data: []byte(strings.Repeat("1", 600))}})
	}
	w.start(starts...)
	w.start(journal.Start{Key: "last", Input: journal.Payload{Data: []byte("1")}})
	damage(t, w)
	var ids []journal.RunID
	var requests []driver.LoadRequest
	for _, s := range starts {
		ids, requests = append(ids, s.ID), append(requests, driver.LoadRequest{Run: s.ID})
	}
	histories, err := w.j.Load(t.Context(), requests)
	if err != nil {
		t.Fatal(err)
	}
	lost := map[journal.RunID]bool{}
	for i, h := range histories {
		unreadable, ok := errors.AsType[*journal.UnreadableError](h.Err)
		if lost[ids[i]] = ok; ok && (unreadable.Run != ids[i] || unreadable.Part != "row" || !strings.Contains(h.Err.Error(), w.path) ||
			h.Run.Task == nil || h.Run.Workflow != "flow") || !ok && h.Err != nil {
			t.Errorf("loaded %+v: %v", h.Run, h.Err)
		}
	}
	pages := func(f journal.ListFilter) (runs []journal.Run) {
		for {
			page, err := w.j.List(t.Context(), f)
			if err != nil {
				t.Fatalf("%+v: %v", f, err)
			}
			runs = append(runs, page.Runs...)
			if f.Cursor = page.Next; f.Cursor == "" {
				return runs
			}
		}
	}
	for what, f := range map[string]journal.ListFilter{"all": {}, "small pages": {Limit: 7}, "ids": {IDs: ids}, "pages of ids": {IDs: ids, Limit: 7}} {
		runs := pages(f)
		n := 0
		for _, run := range runs {
			if run.Unreadable != nil {
				n++
			}
			if (run.Unreadable != nil) != lost[run.ID] || lost[run.ID] && !errors.Is(run.Unreadable, sqlite.ErrDamaged) {
				t.Errorf("%s: listed %s: %v", what, run.ID, run.Unreadable)
			}
		}
		want := len(ids)
		if len(f.IDs) == 0 {
			want++
		}
		if len(runs) != want || n == 0 || n > 20 || !slices.IsSortedFunc(runs, func(a, b journal.Run) int { return bytes.Compare(b.ID[:], a.ID[:]) }) {
			t.Errorf("%s: %d runs, %d of them lost", what, len(runs), n)
		}
	}
	open := journal.Open
	for _, f := range []journal.ListFilter{{Workflow: "flow"}, {Status: &open, Limit: 5, Workflow: "flow"}, {Where: `workflow = "flow"`}} {
		runs := pages(f)
		for _, run := range runs {
			if run.Workflow != "flow" || run.Unreadable != nil {
				t.Errorf("%+v: listed %+v", f, run)
			}
		}
		n := 0
		for _, is := range lost {
			if is {
				n++
			}
		}
		if want := len(ids) + 1 - n; len(runs) != want {
			t.Errorf("%+v: %d runs, want %d", f, len(runs), want)
		}
	}
	if runs := pages(journal.ListFilter{KeyPrefix: "la"}); len(runs) != 1 || runs[0].Key != "last" {
		t.Errorf("listed by a key: %v", runs)
	}
	ends, err := w.j.Ends(t.Context(), append(ids, journal.NewRunID()))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range ends {
		if errors.Is(e.Err, sqlite.ErrDamaged) != lost[e.Run] || !lost[e.Run] && !errors.Is(e.Err, journal.ErrNotFound) {
			t.Errorf("an end: %+v", e)
		}
	}
}

// TestDamagedEventOfOneRun: of a run with an event that is lost, everything else is told.
func TestDamagedEventOfOneRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	big := journal.Payload{Data: []byte(`"` + strings.Repeat("x", 50_000) + `"`)}
	runs := []journal.RunID{journal.NewRunID(), journal.NewRunID(), journal.NewRunID()}
	w.start(journal.Start{ID: runs[0]}, journal.Start{ID: runs[1]}, journal.Start{ID: runs[2]})
	c, err := w.j.Claim(t.Context(), driver.ClaimRequest{Node: w.join(), Routes: []journal.Route{flowRoute}, Max: 1})
	if err != nil || len(c.Tasks) != 1 || c.Tasks[0].Run.ID != runs[0] {
		t.Fatal(c, err)
	}
	events := []journal.Event{{Seq: 1, Time: c.Now, Kind: journal.RunStarted, Issued: []journal.Issued{{Kind: journal.CommandStep, Name: "a"}}},
		{Seq: 2, Time: c.Now, Kind: journal.StepCompleted, Cmd: 1, Name: "a", Payload: big}}
	head := journal.Head{Link: journal.OriginOf(runs[0], 1, 0, c.Tasks[0].Run.Input)}
	events[0].Link = events[0].LinkAfter(head.Link)
	events[1].Link = events[1].LinkAfter(events[0].Link)
	w.commit(driver.Commit{Run: runs[0], Node: c.Tasks[0].Task.Owner, Fence: c.Tasks[0].Task.Fence, Generation: 1, Head: head, Events: events,
		Next: driver.Next{Kind: driver.NextPark}})
	damagePage(t, w, `name = 'reprise_events' AND pagetype = 'overflow'`)
	list, err := w.j.Load(t.Context(), []driver.LoadRequest{{Run: runs[0]}, {Run: runs[1]}, {Run: runs[2]}})
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range list {
		unreadable, ok := errors.AsType[*journal.UnreadableError](h.Err) // a search may pass the event on its way to others
		if i == 0 && !ok || ok && (unreadable.Seq == 0 || unreadable.Run != runs[i] || !errors.Is(h.Err, journal.ErrDamaged)) ||
			h.Run.Workflow != "flow" || h.Run.CreatedAt.IsZero() || h.Run.Task == nil {
			t.Errorf("loaded %d: %+v: %v", i, h.Run, h.Err)
		}
	}
}

// damage overwrites a page of the table of runs while nobody has the file.
func damage(t *testing.T, w *world) {
	t.Helper()
	damagePage(t, w, `name = 'reprise_runs' AND pagetype = 'leaf'`)
}

// damagePage overwrites the third page of a kind.
func damagePage(t *testing.T, w *world, kind string) {
	t.Helper()
	page := w.count(`SELECT pageno FROM dbstat WHERE ` + kind + ` ORDER BY path LIMIT 1 OFFSET 2`)
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
