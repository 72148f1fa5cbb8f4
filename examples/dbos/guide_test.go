package dbos

import (
	"context"
	"database/sql"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/reprise-run/reprise/examples/readmetest"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/runtime"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestReadme(t *testing.T) { readmetest.Code(t, ".") }

func TestGuide(t *testing.T) {
	path := filepath.Join(t.TempDir(), "reprise.db")
	store, err := sqlite.Open(t.Context(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), `CREATE TABLE reservations (id text PRIMARY KEY)`); err != nil {
		t.Fatal(err)
	}
	node := runtime.NewNode(journal.New(store, nil), nil)
	runtime.Handle(node, Checkout, checkout, nil)
	runtime.Handle(node, Ship, ship, nil)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	running.Go(func() {
		if err := node.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	for range 2 { // the second time finds the run of the first
		client := node.Client()
		got, err := "", error(nil)
		if got, err = buy(ctx, client, Order{"A-1", 100}); err != nil {
			id, found := client.FindKey(ctx, "A-1")
			if found != nil {
				t.Fatal(err)
			}
			got, err = runtime.RunOf(client, Checkout, id).Result(ctx)
		}
		if got != "sent A-1 for Ann" || err != nil {
			t.Errorf("bought %q, %v", got, err)
		}
	}
	id, err := node.Client().FindKey(ctx, "A-1")
	if err != nil {
		t.Fatal(err)
	}
	if status, err := runtime.Query(ctx, node, id, Status, struct{}{}); status != "shipping" || err != nil {
		t.Errorf("status %q, %v", status, err)
	}
	rows := 0
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM reservations`).Scan(&rows); rows != 1 || err != nil {
		t.Errorf("%d reservations, %v", rows, err)
	}
}
