package acceptance_test

import (
	"context"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// takeRole makes the role that the nodes of TestWhatIsAboutNoRunStopsNoRun have: an owner of tables
// lacks no right.
const takeRole = `
DO $$ BEGIN CREATE ROLE mended LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$;
GRANT USAGE ON SCHEMA reprise TO mended;
GRANT ALL ON ALL TABLES IN SCHEMA reprise TO mended;
GRANT ALL ON ALL SEQUENCES IN SCHEMA reprise TO mended`

// While the schema is away, or the rights are, for a restore or by a migration, calls are repeated
// and a line says what to do. No run is blocked, no step executed again, and the node goes on, also
// if it takes longer than its lease.
func TestWhatIsAboutNoRunStopsNoRun(t *testing.T) {
	const renamed, unnamed = "ALTER SCHEMA reprise RENAME TO away", "ALTER SCHEMA away RENAME TO reprise"
	for name, c := range map[string]struct {
		away, back string
		lease      time.Duration // 0: the default, which is longer than the test is patient
		says       []string
	}{
		"the schema":                   {renamed, unnamed, 0, []string{"SQLSTATE 42P01", "bring it back"}},
		"the schema, beyond the lease": {renamed, unnamed, 3 * time.Second, []string{"SQLSTATE 42P01", "node lost its lease and joins again"}},
		"the rights": {"REVOKE ALL ON ALL TABLES IN SCHEMA reprise FROM mended", takeRole, 0,
			[]string{"SQLSTATE 42501", "grant it to the role of this program"}},
	} {
		t.Run(name, func(t *testing.T) { aboutNoRun(t, c.away, c.back, c.lease, c.says) })
	}
}

func aboutNoRun(t *testing.T, away, back string, lease time.Duration, says []string) {
	c := clustertest.New(t)
	ctx, conn := clustertest.Context(t), c.Connect()
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(takeRole)
	u, err := url.Parse(c.DSN)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.User("mended")
	o := c.Options()
	o.Lease = lease
	var long atomic.Int32
	short, end := make(chan struct{}), make(chan struct{})
	step := func(gate chan struct{}, begun *atomic.Int32) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			begun.Add(1)
			select {
			case <-gate:
				return 1, nil
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
	}
	const both workflow.Name[int, int] = "both"
	n := c.RunOn(journal.New(c.Store(u.String(), nil), &journal.Options{Logger: o.Logger}), o, func(n *runtime.Node) {
		runtime.Handle(n, both, func(ctx workflow.Context, _ int) (int, error) {
			a := workflow.StepAsync(ctx, "long", step(end, &long), nil)
			b := workflow.StepAsync(ctx, "short", step(short, new(atomic.Int32)), nil)
			x, err := a.Get(ctx)
			if err != nil {
				return 0, err
			}
			y, err := b.Get(ctx)
			return x + y, err
		}, nil)
	})
	started, err := runtime.Start(ctx, n.Client(), both, 0, nil)
	run := clustertest.MustStart(t, started, err)
	clustertest.Until(t, "the long step is executed", func() bool { return long.Load() == 1 })
	exec(away)
	close(short) // its outcome is to be written now
	for _, line := range append(says, "the store is unavailable; calls are repeated until it answers") {
		clustertest.Until(t, "a line says "+line, func() bool { return strings.Contains(c.Log.String(), line) })
	}
	exec(back)
	close(end)
	if got := clustertest.MustResult(t, run); got != 2 {
		t.Errorf("result %d, want 2", got)
	}
	if n := long.Load(); lease == 0 && n != 1 {
		t.Errorf("the long step began %d times", n)
	}
	if strings.Contains(c.Log.String(), "run is blocked") {
		t.Error("a run was blocked for what is about no run")
	}
}
