package sqlite

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// TestHaltedSetsAreForgotten: of a route that no node will ever serve again nothing is kept, once
// the runs have ended that waited.
func TestHaltedSetsAreForgotten(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "reprise.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	j := driver.New(s, nil)
	m, err := j.Join(t.Context(), journal.Node{Name: "n", Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	var runs []journal.RunID
	for range 3 {
		out, err := j.Start(t.Context(), nil, []journal.Start{{Workflow: "old", Limits: []journal.LimitNeed{{Name: "a"}, {Name: "b"}}}})
		if err != nil || out[0].Err != nil {
			t.Fatal(err, out)
		}
		runs = append(runs, out[0].Run)
	}
	rows := func(want int64) {
		t.Helper()
		var n int64
		if _, err := m.Limits(t.Context(), driver.LimitRound{Runs: true}); err != nil {
			t.Fatal(err)
		}
		err := s.read(t.Context(), func(c *conn) error {
			return c.query(`SELECT count(*) FROM reprise_limit_sets WHERE halted = 1`, func(r row) error { n = r.int(0); return nil })
		})
		if err != nil || n != want {
			t.Errorf("%d halted lines of sets, %v, want %d", n, err, want)
		}
	}
	rows(2)
	for i, a := range []driver.AdminAction{{Kind: driver.AdminTerminate}, {Kind: driver.AdminTerminate}, {Kind: driver.AdminPause}} {
		a.Run = runs[i]
		if _, err := j.Admin(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		rows(int64(i/2*-2 + 2))
	}
}
