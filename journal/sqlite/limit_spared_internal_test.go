package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// TestClaimsSayWhomNobodyGoesFor: of those that wait, the claims of a run that waits beyond the
// backlog, and of one in which an operator has gone back, say so. So who comes to a full limit reads
// none of them.
func TestClaimsSayWhomNobodyGoesFor(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "reprise.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	j := driver.New(s, nil)
	needs := []journal.LimitNeed{{Name: "a"}}
	out, err := j.Start(t.Context(), nil, []journal.Start{{Workflow: "w", Limits: needs}, {Workflow: "w", Limits: needs, BeyondBacklog: true}, {Workflow: "w", Limits: needs},
		{Workflow: "w", Limits: needs}})
	if err != nil {
		t.Fatal(err)
	}
	goBack := func(run journal.RunID, whole bool) {
		t.Helper()
		h, err := j.Load(t.Context(), []driver.LoadRequest{{Run: run}})
		if err != nil || len(h) != 1 {
			t.Fatal(err, h)
		}
		w := driver.NewRewind(&h[0].Run, h[0].Events, 0, true)
		if whole {
			w.Whole, w.Input, w.Version = true, journal.Payload{Data: []byte("1")}, 2
		}
		if _, err := j.Admin(t.Context(), driver.AdminAction{Kind: driver.AdminReset, Run: run, Rewind: w}); err != nil {
			t.Fatal(err)
		}
	}
	goBack(out[2].Run, false)
	goBack(out[3].Run, true)
	for i, want := range []int64{0, 1, 1, 1} {
		var spared int64
		err := s.read(t.Context(), func(c *conn) error {
			return c.query(`SELECT c.spared FROM reprise_limit_claims c WHERE c.run_id = ? AND c.ended = 0`, func(r row) error { spared = r.int(0); return nil },
				uuidArg(out[i].Run))
		})
		if err != nil || spared != want {
			t.Errorf("the claim of run %d: %d, %v, want %d", i, spared, err, want)
		}
	}
}
