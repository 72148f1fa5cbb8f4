package acceptance_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// limited calls for a tenant, a few times one after the other.
const limited workflow.Name[string, int] = "limited"

const (
	limitAtOnce = 2 // of each tenant
	limitTotal  = 5
	callsEach   = 4
)

// handleLimited makes runs whose steps hold a limit, with witnesses outside of Reprise.
func handleLimited(node *runtime.Node, dsn string) {
	runtime.Handle(node, limited, func(ctx workflow.Context, tenant string) (int, error) {
		for i := range callsEach {
			err := workflow.Do(ctx, fmt.Sprint("call ", i), func(ctx context.Context) error { return witnessed(ctx, dsn, tenant) },
				&workflow.StepOptions{Limits: []workflow.StepLimit{{Name: "calls", Key: tenant}, {Name: "all"}}})
			if err != nil {
				return 0, err
			}
		}
		return callsEach, nil
	}, nil)
}

// witnessed takes one of as many locks as a tenant may have, and one of as many as there may be in
// all, in another database: if all are taken, more hold the limit than it allows. A process that is
// killed loses its locks with its session.
func witnessed(ctx context.Context, dsn, tenant string) error {
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return err
	}
	config.Database = "postgres"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for name, n := range map[string]int{config.Database + dsn + tenant: limitAtOnce, dsn: limitTotal} {
		var got bool
		for i := 0; i < n && !got; i++ {
			if err := conn.QueryRow(ctx, `SELECT pg_try_advisory_lock(hashtext($1), $2)`, name, i).Scan(&got); err != nil {
				return err
			}
		}
		if !got {
			return workflow.Permanent(fmt.Errorf("more than %d hold the limit for %q", n, tenant))
		}
	}
	time.Sleep(time.Duration(1+rand.IntN(20)) * time.Millisecond) // the call
	_, err = conn.Exec(ctx, `SELECT pg_advisory_unlock_all()`)    // before anybody can be told that the body has ended
	return err
}

// TestLimitsThroughKills: two nodes, of which one is killed again and again, never have more holders
// of a limit than it allows (J14), and all runs end: what a dead node held is free.
func TestLimitsThroughKills(t *testing.T) {
	c := newChaos(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	workers := []*worker{startWorker(c.Cluster), startWorker(c.Cluster)}
	for _, l := range []journal.Limit{{Name: "calls", Concurrency: limitAtOnce}, {Name: "all", Concurrency: limitTotal}} {
		if err := runtime.SetLimit(ctx, c.client, l); err != nil {
			t.Fatal(err)
		}
	}
	var runs []*runtime.Run[int]
	for i := range 60 {
		started, err := runtime.Start(ctx, c.client, limited, fmt.Sprint("tenant ", i%3), nil)
		runs = append(runs, clustertest.MustStart(t, started, err))
	}
	for k := range 4 {
		want := len(runs) * callsEach * (k + 1) / 6
		clustertest.Until(t, "the runs moved on", func() bool {
			return c.number(`SELECT count(*) FROM reprise.events WHERE kind = 2`) >= want
		})
		workers[k%2].kill()
		workers[k%2] = startWorker(c.Cluster)
	}
	for _, r := range runs {
		if got, err := r.Result(ctx); err != nil || got != callsEach {
			t.Errorf("run %s: %d, %v", r.ID(), got, err)
		}
	}
	clustertest.Until(t, "nothing is held", func() bool {
		page, err := runtime.Limits(ctx, c.client, &journal.LimitFilter{Claims: 10})
		return err == nil && len(page.Claims) == 0
	})
}
