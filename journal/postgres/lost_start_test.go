package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/postgres/pgtest"
)

// TestALostNodeGetsNothing: a node that was declared dead, has not heard of it, and is still known
// because one of its tasks is locked, owns nothing that it starts, one or many at once, and claims
// nothing; and what it has claimed is not its own any more.
func TestALostNodeGetsNothing(t *testing.T) {
	t.Parallel()
	dsn := pgtest.New(t)
	conn, holder := connect(t, dsn), connect(t, dsn)
	a, s := memberOf(t, dsn, nil, time.Second)
	b, other := memberOf(t, dsn, nil, time.Second)
	j := driver.New(s, nil)
	run := born(t, j, a.ID()).Run.ID
	mustExec(t, holder, "BEGIN")
	mustExec(t, holder, "SELECT FROM reprise.tasks WHERE run_id = $1 FOR UPDATE", [16]byte(run))
	mustExec(t, conn, "UPDATE reprise.nodes SET expires_at = now() - interval '1 second' WHERE id = $1", int32(a.ID()))
	if got, want := reap(t, b), fmt.Sprint([]journal.NodeID{a.ID()}); got != want {
		t.Fatalf("reaped %s, want %s", got, want)
	}
	if n := query[int](t, conn, "SELECT count(*)::int FROM reprise.members WHERE node = $1 AND lost_at IS NOT NULL", int32(a.ID())); n != 1 {
		t.Fatal("the dead node is forgotten already")
	}
	for n := range 3 {
		starts := make([]journal.Start, n+1)
		for i := range starts {
			starts[i] = journal.Start{Workflow: "flow", Owner: a.ID()}
		}
		out, err := j.Start(t.Context(), nil, starts)
		if err != nil {
			t.Fatal(err)
		}
		for i, o := range out {
			if o.Err != nil || !o.Created || o.Owned {
				t.Errorf("start %d of %d: %+v", i+1, len(out), o)
			}
		}
	}
	if tasks := claim(t, j, a.ID(), 10); len(tasks) != 0 {
		t.Errorf("the dead node claimed %d tasks", len(tasks))
	}
	if c, err := j.Claim(t.Context(), driver.ClaimRequest{Node: a.ID(), Reconcile: true}); err != nil || len(c.Tasks) != 0 {
		t.Errorf("the dead node is told that it owns %d tasks: %v", len(c.Tasks), err)
	}
	mustExec(t, holder, "ROLLBACK")
	if tasks := claim(t, driver.New(other, nil), b.ID(), 10); len(tasks) != 6 {
		t.Errorf("%d tasks are free, want 6", len(tasks))
	}
}
