package gather_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/gather"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

func handleBoth(n *runtime.Node) { handleWork(n); gather.Handle(n) }

// TestStores: on each store, with many senders at once, each input is in one batch, those of a
// sender are in order, batches are full, and each ticket is for the batch of its input.
func TestStores(t *testing.T) {
	t.Run("Memory", func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			e.Register(handleBoth)
			many(e, e.Client())
		})
	})
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		n, _ := clustertest.SQLiteNode(t, filepath.Join(t.TempDir(), "reprise.db"), &clustertest.Log{}, handleBoth)
		many(t, n.Client())
	})
	t.Run("Postgres", func(t *testing.T) {
		c := clustertest.New(t)
		c.Run(nil, handleBoth)
		c.Run(nil, handleBoth)
		many(t, runtime.NewClient(c.Journal, nil))
	})
}

const (
	senders = 8
	each    = 25 // inputs of a sender, of which every fifth has a ticket
)

func many(t testing.TB, c *runtime.Client) {
	t.Helper()
	ctx := clustertest.Context(t)
	mails := gather.Batch("mails", sum, gather.Rules{Size: 10, Wait: time.Hour})
	var sending sync.WaitGroup
	for s := range senders {
		sending.Go(func() {
			for i := range each {
				in := s*each + i
				if i%5 > 0 {
					if err := gather.Put(ctx, c, mails, "", in, nil); err != nil {
						t.Error(err)
					}
					continue
				}
				ticket, err := gather.Add(ctx, c, mails, "", in, nil)
				if err != nil {
					t.Error(err)
					return
				}
				sending.Go(func() {
					if said, err := ticket.Result(ctx); err != nil || !slices.Contains(strings.Fields(said), strconv.Itoa(in)) {
						t.Errorf("the ticket of %d says %q, %v", in, said, err)
					}
				})
			}
		})
	}
	sending.Wait()
	clustertest.Until(t, "all batches have been started", func() bool { return len(batches(t, c, "mails", "")) >= senders*each/10 })
	wantWhole(t, results(t, c, "mails", ""), senders*each, senders*each/10)
}

// wantWhole checks that batches have n inputs together, each once, those of a sender in order.
func wantWhole(t testing.TB, said []string, n, batches int) {
	t.Helper()
	var got []int
	last := map[int]int{}
	for _, text := range said {
		for _, word := range strings.Fields(text) {
			in, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			if before, some := last[in/each]; some && before > in {
				t.Errorf("input %d is behind %d of the same sender", in, before)
			}
			last[in/each] = in
			got = append(got, in)
		}
	}
	slices.Sort(got)
	if d := cmp.Diff(from(0, n-1), got); d != "" {
		t.Errorf("the inputs (-want +got):\n%s", d)
	}
	if len(said) != batches {
		t.Errorf("they are in %d batches, want %d", len(said), batches)
	}
}

// TestTwoNodes: two nodes and two senders race, on Postgres. A debounced run has the last of its
// inputs, and there is one for each Size of them; no two runs of a latest collector are open at a
// time, and the last input has one; starts of a singleton give one run.
func TestTwoNodes(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	clients := []*runtime.Client{c.Run(nil, handleBoth).Client(), c.Run(nil, handleBoth).Client()}
	index := gather.Debounce("index", echo, gather.Rules{Quiet: time.Hour, Size: 5})
	shops := gather.Latest("shops", step, gather.Rules{})
	var singles sync.Map
	var sending sync.WaitGroup
	for s := range senders {
		client := clients[s%2]
		sending.Go(func() {
			for i := range each {
				putAll(ctx, t, client, index, "", s*each+i)
				putAll(ctx, t, client, shops, "", s*each+i)
				run, err := runtime.Start(ctx, client, stay, 0, &runtime.StartOptions{Key: "single", Reuse: journal.ReuseAllow})
				if err != nil {
					t.Error(err)
					return
				}
				singles.Store(run.ID(), true)
			}
		})
	}
	sending.Wait()
	debounced := func() int { return len(batches(t, clients[0], "index", "")) }
	clustertest.Until(t, "all debounced runs have been started", func() bool { return debounced() >= senders*each/5 })
	ticket, err := gather.Add(ctx, clients[1], shops, "", 1_000, nil)
	if err != nil {
		t.Fatal(err)
	}
	if said, err := ticket.Result(ctx); err != nil || said != "1000" {
		t.Errorf("the last input has %q, %v", said, err)
	}
	list := batches(t, clients[0], "shops", "")
	for i := 1; i < len(list); i++ {
		if before := list[i-1].ClosedAt; before.IsZero() || list[i].CreatedAt.Before(before) {
			t.Errorf("run %d of the shops began at %s, the one before ended at %s", i, list[i].CreatedAt, before)
		}
	}
	if n := debounced(); n != senders*each/5 {
		t.Errorf("%d inputs have %d debounced runs, want one for five", senders*each, n)
	}
	n := 0
	singles.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("the singleton has %d runs", n)
	}
}

// noTx is a transaction that nothing may be written in.
type noTx struct{ journal.Tx }

// TestInTransaction: an input in a transaction of the caller's is put if that commits, also if it
// is the first one of its key.
func TestInTransaction(t *testing.T) {
	rules := gather.Rules{Size: 2, Wait: time.Hour}
	test := func(t *testing.T, c *runtime.Client, begin func() (tx journal.Tx, commit, undo func() error)) {
		ctx := clustertest.Context(t)
		mails := gather.Batch("mails", sum, rules)
		for in := range 4 {
			tx, commit, undo := begin()
			if err := gather.Put(ctx, c, mails, "", in, &gather.Options{Tx: tx}); err != nil {
				t.Fatal(err)
			}
			end := commit
			if in%2 == 1 {
				end = undo
			}
			if err := end(); err != nil {
				t.Fatal(err)
			}
		}
		clustertest.Until(t, "the batch has been started", func() bool { return len(batches(t, c, "mails", "")) > 0 })
		if d := cmp.Diff([]string{"0 2"}, results(t, c, "mails", "")); d != "" {
			t.Errorf("the batches (-want +got):\n%s", d)
		}
	}
	t.Run("Postgres", func(t *testing.T) {
		cluster := clustertest.New(t)
		cluster.Run(nil, handleBoth)
		conn := cluster.Connect()
		test(t, runtime.NewClient(cluster.Journal, nil), func() (journal.Tx, func() error, func() error) {
			tx, err := conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return postgres.InTx(tx), func() error { return tx.Commit(context.Background()) }, func() error { return tx.Rollback(context.Background()) }
		})
	})
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		path := filepath.Join(t.TempDir(), "reprise.db")
		n, _ := clustertest.SQLiteNode(t, path, &clustertest.Log{}, handleBoth)
		db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)&_txlock=immediate")
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		test(t, n.Client(), func() (journal.Tx, func() error, func() error) {
			tx, err := db.Begin()
			if err != nil {
				t.Fatal(err)
			}
			return sqlite.InTx(tx), tx.Commit, tx.Rollback
		})
	})
}
