package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// life opens the file, claims what is due, with at most one suspect, and ends without a farewell, as
// a process does that is killed. It returns what it owned at its end.
func life(t *testing.T, path string) (owned []journal.RunID) {
	t.Helper()
	s, err := Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	j := driver.New(s, nil)
	route := journal.Route{Queue: journal.DefaultQueue, Workflow: "flow", Version: 1}
	m, err := j.Join(t.Context(), journal.Node{Name: "n", Routes: []journal.Route{route}, Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	c, err := j.Claim(t.Context(), driver.ClaimRequest{Node: m.ID(), Routes: []journal.Route{route}, Max: 100, Suspects: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, task := range c.Tasks {
		owned = append(owned, task.Task.Run)
	}
	return owned
}

// between does something to the file while no process uses it.
func between(t *testing.T, path string, do func(j *driver.Journal)) {
	t.Helper()
	s, err := Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	do(driver.New(s, nil))
}

// A process that is killed while a suspect is tried counts a strike against that one, and makes all
// suspects wait with it. One that is killed while they wait takes a strike back from each, down to
// where a suspect begins: it died of something else. So does one that owned nothing.
func TestRestartsForgiveThoseWhoWait(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f.db")
	var ids []journal.RunID
	between(t, path, func(j *driver.Journal) {
		out, err := j.Start(t.Context(), nil, []journal.Start{{Workflow: "flow"}, {Workflow: "flow"}, {Workflow: "flow"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range out {
			ids = append(ids, o.Run)
		}
	})
	tasks := func() (list []*journal.Task) {
		between(t, path, func(j *driver.Journal) {
			page, err := j.List(t.Context(), journal.ListFilter{IDs: ids})
			if err != nil {
				t.Fatal(err)
			}
			for i := range page.Runs {
				list = append(list, page.Runs[i].Task)
			}
		})
		return list
	}
	set := func(sql string, args ...any) {
		between(t, path, func(j *driver.Journal) {
			s := j.Store().(*Store)
			err := s.write(t.Context(), 0, func(b *batch) error { _, err := b.exec(sql, args...); return err })
			if err != nil {
				t.Fatal(err)
			}
		})
	}
	for n := range driver.SuspectStrikes {
		if owned := life(t, path); len(owned) != 3 {
			t.Fatalf("life %d owned %d runs", n, len(owned))
		}
		for _, task := range tasks() {
			if task.Strikes != n+1 {
				t.Errorf("after life %d: %d strikes", n, task.Strikes)
			}
		}
	}
	set(`UPDATE reprise_tasks SET strikes = 7, visible_at = 1`)
	blamed := life(t, path)
	if len(blamed) != 1 {
		t.Fatalf("%d suspects were tried at once", len(blamed))
	}
	var until time.Time
	for _, task := range tasks() {
		want := 7
		if task.Run == blamed[0] {
			want, until = 8, task.VisibleAt
		}
		if task.Strikes != want {
			t.Errorf("after the trial: %d strikes, want %d", task.Strikes, want)
		}
	}
	for _, task := range tasks() {
		if wait := time.Until(task.VisibleAt); task.VisibleAt.Before(until) || wait < driver.StrikeDelay(8)-10*time.Second {
			t.Errorf("a suspect waits for %s only", wait)
		}
	}
	for n := 1; n <= 10; n++ { // killed while all wait
		if owned := life(t, path); len(owned) != 0 {
			t.Fatalf("suspects that wait were claimed: %v", owned)
		}
		for _, task := range tasks() {
			want := max(7-n, driver.SuspectStrikes)
			if task.Run == blamed[0] {
				want = max(8-n, driver.SuspectStrikes)
			}
			if task.Strikes != want {
				t.Errorf("after %d lives without a suspect: %d strikes, want %d", n, task.Strikes, want)
			}
		}
	}
}
