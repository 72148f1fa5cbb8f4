package schedule_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/schedule"
)

// transaction is one of the caller's own.
type transaction struct {
	tx     journal.Tx
	commit func() error
	undo   func() error
}

// onStores runs a test on Postgres and on SQLite.
func onStores(t *testing.T, test func(t *testing.T, j *journal.Journal, begin func() transaction)) {
	ctx := context.Background()
	must := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Run("postgres", func(t *testing.T) {
		c := clustertest.New(t)
		conn := c.Connect()
		test(t, c.Journal, func() transaction {
			tx, err := conn.Begin(ctx)
			must(t, err)
			return transaction{postgres.InTx(tx), func() error { return tx.Commit(ctx) }, func() error { return tx.Rollback(ctx) }}
		})
	})
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "journal.db")
		store, err := sqlite.Open(ctx, path, nil)
		must(t, err)
		defer store.Close()
		db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)&_txlock=immediate")
		must(t, err)
		defer db.Close()
		test(t, journal.New(store, nil), func() transaction {
			tx, err := db.Begin()
			must(t, err)
			return transaction{sqlite.InTx(tx), tx.Commit, tx.Rollback}
		})
	})
}

// TestInTransaction: a set and a trigger in a transaction of the caller's happen if it commits. The
// schedule then runs on a real store, each slot once, although two nodes serve it.
func TestInTransaction(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, j *journal.Journal, begin func() transaction) {
		ctx := clustertest.Context(t)
		client := runtime.NewClient(j, &runtime.ClientOptions{Logger: silent})
		r := &rig{TB: t, client: client, ctx: ctx, began: time.Now().Truncate(time.Second)}
		life, stop := context.WithCancel(ctx)
		ended := make(chan error, 2)
		for range 2 {
			n := runtime.NewNode(j, &runtime.NodeOptions{Logger: silent})
			schedule.Handle(n)
			handleWork(n)
			go func() { ended <- n.Run(life) }()
		}
		defer func() {
			stop()
			for range 2 {
				r.must(<-ended)
			}
		}()
		set := schedule.Set{Schedules: []schedule.Schedule{every("s", time.Second, job{})}}
		set.Schedules[0].Overlap = schedule.Allow
		tx := begin()
		_, err := schedule.Apply(ctx, client, set, &schedule.Options{Tx: tx.tx})
		r.must(err)
		r.must(tx.undo())
		if page, err := client.List(ctx, journal.ListFilter{}); err != nil || len(page.Runs) > 0 {
			t.Fatalf("after a rollback there are %d runs, %v", len(page.Runs), err)
		}
		tx = begin()
		a, err := schedule.Apply(ctx, client, set, &schedule.Options{Tx: tx.tx})
		r.must(err)
		r.must(tx.commit())
		if _, err := a.Wait(ctx); !errors.Is(err, journal.ErrInvalid) {
			t.Errorf("to wait for a change in a transaction: %v", err)
		}
		clustertest.Until(t, "three slots have run", func() bool { return len(r.slots("s")) >= 3 })
		tx = begin()
		key, err := schedule.Trigger(ctx, client, "s", &schedule.TriggerOptions{Tx: tx.tx})
		r.must(err)
		r.must(tx.commit())
		clustertest.Until(t, "the trigger has run", func() bool {
			_, err := client.FindKey(ctx, key)
			return err == nil
		})
		last := time.Duration(0)
		for i, s := range r.slots("s") {
			if s.run.Key == key {
				continue
			}
			if i > 0 && s.at != last+time.Second {
				t.Errorf("behind the slot %s comes %s", last, s.at)
			}
			if early := r.began.Add(s.at).Sub(s.run.CreatedAt); early > 0 {
				t.Errorf("the slot %s is early by %s", s.at, early)
			}
			last = s.at
		}
		// Another transaction takes the schedule away.
		tx = begin()
		_, err = schedule.Delete(ctx, client, "", []string{"s"}, &schedule.Options{Tx: tx.tx})
		r.must(err)
		r.must(tx.commit())
		clustertest.Until(t, "it is gone", func() bool {
			list, err := schedule.List(ctx, client, "")
			return err == nil && len(list) == 0
		})
	})
}
