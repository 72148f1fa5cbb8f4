package acceptance_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// held is a run of a tenant that holds a limit: from its first step to its last one it is in a book
// outside of Reprise, which refuses more than the limit allows.
const held workflow.Name[string, int] = "held"

// bookOf is the table of a cluster's runs, in another database.
func bookOf(dsn string) string {
	name := fmt.Sprintf("held_%x", []byte(dsn))
	return name[:min(len(name), 20)] + name[max(20, len(name)-40):]
}

// booked executes a statement on the book.
func booked(ctx context.Context, dsn string, do func(conn *pgx.Conn, book string) error) error {
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
	return do(conn, bookOf(dsn))
}

// handleHeld makes runs that hold a limit.
func handleHeld(node *runtime.Node, dsn string) {
	runtime.Handle(node, held, func(ctx workflow.Context, tenant string) (int, error) {
		run := ctx.Info().Run.String()
		enter := func(ctx context.Context) error {
			return booked(ctx, dsn, func(conn *pgx.Conn, book string) error { return enterBook(ctx, conn, book, run, tenant) })
		}
		if err := workflow.Do(ctx, "enter", enter, nil); err != nil {
			return 0, err
		}
		if err := workflow.Sleep(ctx, 20*time.Millisecond); err != nil {
			return 0, err
		}
		return 1, workflow.Do(ctx, "leave", func(ctx context.Context) error {
			return booked(ctx, dsn, func(conn *pgx.Conn, book string) error {
				_, err := conn.Exec(ctx, `DELETE FROM `+book+` WHERE run = $1`, run)
				return err
			})
		}, nil)
	}, nil)
}

// enterBook writes a run into the book, once, and counts.
func enterBook(ctx context.Context, conn *pgx.Conn, book, run, tenant string) error {
	var ofTenant, all int
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `LOCK TABLE `+book); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `INSERT INTO `+book+` VALUES ($1, $2) ON CONFLICT DO NOTHING`, run, tenant); err != nil {
			return err
		}
		return tx.QueryRow(ctx, `SELECT count(*) FILTER (WHERE tenant = $1), count(*) FROM `+book, tenant).Scan(&ofTenant, &all)
	})
	if err == nil && (ofTenant > limitAtOnce || all > limitTotal) {
		err = workflow.Permanent(fmt.Errorf("%d runs of %q hold the limit, and %d in all", ofTenant, tenant, all))
	}
	return err
}

// TestLimitsOfRunsThroughKills: two nodes, of which one is killed again and again, never have more
// runs open that hold a limit than it allows (J14), and all runs end: a run keeps its place over the
// death of its node.
func TestLimitsOfRunsThroughKills(t *testing.T) {
	c := newChaos(t)
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	err := booked(ctx, c.DSN, func(conn *pgx.Conn, book string) error {
		_, err := conn.Exec(ctx, `CREATE TABLE `+book+` (run text PRIMARY KEY, tenant text)`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = booked(context.Background(), c.DSN, func(conn *pgx.Conn, book string) error {
			_, err := conn.Exec(context.Background(), `DROP TABLE `+book)
			return err
		})
	}()
	workers := []*worker{startWorker(c.Cluster), startWorker(c.Cluster)}
	for _, l := range []journal.Limit{{Name: "tenant", Concurrency: limitAtOnce}, {Name: "everybody", Concurrency: limitTotal}} {
		if err := runtime.SetLimit(ctx, c.client, l); err != nil {
			t.Fatal(err)
		}
	}
	var runs []*runtime.Run[int]
	for i := range 60 {
		tenant := fmt.Sprint("tenant ", i%3)
		o := &runtime.StartOptions{Limits: []journal.LimitNeed{{Name: "tenant", Key: tenant}, {Name: "everybody"}}}
		started, err := runtime.Start(ctx, c.client, held, tenant, o)
		runs = append(runs, clustertest.MustStart(t, started, err))
	}
	for k := range 4 {
		want := len(runs) * (k + 1) / 6
		clustertest.Until(t, "runs have ended", func() bool {
			return c.number(`SELECT count(*) FROM reprise.runs WHERE status <> 0`) >= want
		})
		workers[k%2].kill()
		workers[k%2] = startWorker(c.Cluster)
	}
	for _, r := range runs {
		if got, err := r.Result(ctx); err != nil || got != 1 {
			t.Errorf("run %s: %d, %v", r.ID(), got, err)
		}
	}
	clustertest.Until(t, "nothing is held", func() bool {
		page, err := runtime.Limits(ctx, c.client, &journal.LimitFilter{Claims: 10, Uses: 10})
		return err == nil && len(page.Claims)+len(page.Uses) == 0
	})
}
