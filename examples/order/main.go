// Command order is a shop. Each of its 500 orders is a saga, in checkout.go: it reserves stock,
// charges a card, waits for an approval if the order is big, ships and writes a receipt, or takes
// back what it did. Then an audit compares the books with the result of each run. The program exits
// with 1 if they do not balance.
//
//	go run ./examples/order
//
// Kill it when you like: the journal and the books are in one SQLite file, and the next start
// finishes the orders. With -ui :8080 it has a dashboard, until it is interrupted. The same shop on
// several processes and Postgres is runtime/acceptance/order.
package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/sqlite"
	"github.com/reprise-run/reprise/runtime"
)

func main() {
	ui := flag.String("ui", "", "address of a dashboard, such as :8080; the program ends when it is interrupted then")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir := filepath.Join(os.TempDir(), "reprise-shop")
	if err := errors.Join(os.MkdirAll(dir, 0o755), run(ctx, dir, 500, *ui, os.Stdout)); err != nil {
		log.Fatalf("%v; the books are in %s", err, dir)
	}
	_ = os.RemoveAll(dir) // the next start is another day
}

// run starts a node and the orders, waits until all of them have ended, and audits the books.
func run(ctx context.Context, dir string, orders int, ui string, out io.Writer) error {
	file := filepath.Join(dir, "reprise.db")
	fmt.Fprintf(out, "%d orders are processed now, which takes some seconds; kill me, and the next start finishes them.\n", orders)
	fmt.Fprintf(out, "The journal and the books are in %s\n", file)
	store, err := sqlite.Open(ctx, file, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	books, _ := sql.Open("sqlite", file+"?_pragma=busy_timeout(5000)") // opens nothing yet, so it cannot fail
	defer books.Close()
	if _, err := books.ExecContext(ctx, booksSQL); err != nil {
		return err
	}

	node := runtime.NewNode(journal.New(store, nil), &runtime.NodeOptions{Logger: slog.New(slog.DiscardHandler)})
	runtime.Handle(node, Checkout, checkout, nil)
	ctx, end := context.WithCancelCause(ctx)
	var running sync.WaitGroup
	running.Go(func() { end(node.Run(ctx)) })
	defer func() { end(nil); running.Wait() }() // the node drains
	if ui != "" {
		wait, err := dashboard(ctx, ui, node, store, out)
		if err != nil {
			return err
		}
		defer wait()
	}

	runs := make([]*runtime.Run[Receipt], orders)
	for i := range runs {
		o := order(i)
		runs[i], err = runtime.Start(ctx, node.Client(), Checkout, o, &runtime.StartOptions{Key: "order:" + o.ID})
		if err == nil && o.Price == bigCents && o.Trouble != "silence" { // the desk answers, again if we were killed
			err = runtime.Signal(ctx, node.Client(), runs[i].ID(), Approved, Approval{OK: o.Trouble != "refusal"}, nil)
		}
		if err != nil && !errors.Is(err, journal.ErrClosed) {
			return err
		}
	}
	return audit(ctx, books, runs, out)
}

// order makes up an order. Two in ten meet with trouble, and some are big.
func order(i int) Order {
	troubles := [20]string{3: "charge", 9: "receipt", 13: "refusal", 17: "silence"}
	prices, patience := [20]int64{0: bigCents, 13: bigCents, 17: bigCents}, [20]int64{17: 500}
	return Order{fmt.Sprintf("A-%04d", i+1), troubles[i%20], int64(1 + i%5), cmp.Or(prices[i%20], 1_290), cmp.Or(patience[i%20], 60_000)}
}

const auditSQL = `select coalesce(sum(pieces), 0), coalesce(sum(cents), 0), count(*) - count(distinct run || step)
	from books where order_id = $1`

// audit compares the books with the result of each run. An order that failed must have left
// nothing.
func audit(ctx context.Context, books *sql.DB, runs []*runtime.Run[Receipt], out io.Writer) error {
	var shipped, wrong, pieces, cents int64
	for i, run := range runs {
		var want, got struct{ pieces, cents, twice int64 }
		receipt, err := run.Result(ctx)
		if ctx.Err() != nil {
			return err
		}
		if err == nil {
			want.pieces, want.cents, shipped = order(i).Pieces, receipt.Cents, shipped+1
		}
		if err := books.QueryRowContext(ctx, auditSQL, order(i).ID).Scan(&got.pieces, &got.cents, &got.twice); err != nil {
			return err
		}
		if got != want {
			wrong++
			fmt.Fprintf(out, "BAD: the books say %+v of order %s, its run says %+v\n", got, order(i).ID, want)
		}
		pieces, cents = pieces+got.pieces, cents+got.cents
	}
	fmt.Fprintf(out, "%d of %d orders shipped: %d pieces, %d.%02d paid\n", shipped, len(runs), pieces, cents/100, cents%100)
	if wrong > 0 {
		return fmt.Errorf("the books of %d orders DO NOT BALANCE", wrong)
	}
	fmt.Fprintln(out, "the books balance")
	return nil
}
