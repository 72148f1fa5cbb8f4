// Command order is the acceptance test of the whole house, a shop: each of 500 orders is a saga
// that reserves stock, charges a card, waits for an approval if it is big, ships and writes a
// receipt, or takes everything back. At the end it audits itself against the shop's tables and
// exits with 1 if anything does not balance.
//
// The journal and the shop are in a SQLite file, in a folder that it prints: a second start goes on
// with what an interrupted first one has left. With -dsn or REPRISE_DSN they are in Postgres.
// Several nodes need Postgres, and get a private one in a temporary folder if none is named.
//
//	go run ./runtime/acceptance/order                    one process, on SQLite
//	go run ./runtime/acceptance/order -kill 10           it is killed, the next one continues
//	go run ./runtime/acceptance/order -nodes 3 -kill 30  three on Postgres, a random one is killed
//	go run ./runtime/acceptance/order -pgkill            Postgres is killed and away for 5 s
//	go run ./runtime/acceptance/order -nodes 3 -trouble slow,silent,refused,held
//	                                                     nothing dies, but the network and the server have a bad day
//	go run ./runtime/acceptance/order -tamper            what a broken audit looks like
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// config is the program's flags.
type config struct {
	dsn    string // of Postgres; empty for SQLite
	dir    string // of the SQLite files
	keep   bool
	orders int
	over   time.Duration
	nodes  int
	kills  int
	pgkill bool
	kinds  []string // of trouble
	times  int
	tamper bool
	seed   uint64
}

func main() {
	// net/http logs the carrier's second answers as unsolicited. They are what this program is
	// about.
	log.SetOutput(io.Discard)
	if os.Getenv(workerEnv) != "" {
		os.Exit(worker())
	}
	var c config
	flag.StringVar(&c.dsn, "dsn", os.Getenv(dsnEnv), "a Postgres to use instead of SQLite; default: "+dsnEnv)
	flag.StringVar(&c.dir, "dir", filepath.Join(os.TempDir(), "reprise-order"), "`folder` of the SQLite files")
	flag.BoolVar(&c.keep, "keep", false, "leave the SQLite files there when the day is over and balances")
	flag.IntVar(&c.orders, "orders", 0, "how many `orders` of the file to run; 0 for all")
	flag.DurationVar(&c.over, "over", 0, "spread the starts over this `time`; 0 for 10 s, or as long as the kills take")
	flag.IntVar(&c.nodes, "nodes", 1, "how many `processes` run the orders; more than 1 need Postgres")
	flag.IntVar(&c.kills, "kill", 0, "how many `times` to SIGKILL a process; on Postgres a random one of -nodes 2 or more")
	flag.BoolVar(&c.pgkill, "pgkill", false, "SIGKILL the private Postgres in the middle and restart it after 5 s")
	flag.Func("trouble", "what befalls -nodes 2 or more, one after the other: a `list` of slow, silent, refused, held", func(list string) (err error) {
		c.kinds, err = parseTroubles(list)
		return err
	})
	flag.IntVar(&c.times, "times", 1, "how often each trouble comes")
	flag.BoolVar(&c.tamper, "tamper", false, "remove one row of stock before the audit, which must then fail")
	flag.Uint64Var(&c.seed, "seed", uint64(time.Now().UnixNano()), "`seed` of the kills, the carrier's moods and the customers' regrets")
	flag.Parse()

	// The first signal ends the program in order, the second at once.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	balanced, err := run(ctx, c, os.Stdout)
	if ctx.Err() != nil {
		err = c.interrupted()
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "order:", err)
	}
	if err != nil || !balanced {
		os.Exit(1)
	}
}

var errInterrupted = errors.New("interrupted")

// interrupted says what is left for the next start.
func (c *config) interrupted() error {
	if c.dsn == "" && c.needsPostgres() {
		return fmt.Errorf("%w; the private Postgres is gone, and the day with it: -dsn names one that stays", errInterrupted)
	}
	return fmt.Errorf("%w; the next start on the same files or database goes on where this one ended", errInterrupted)
}

func (c *config) check() error {
	switch {
	case c.nodes < 1 || c.times < 1 || c.orders < 0 || c.kills < 0 || c.over < 0:
		return errors.New("-nodes and -times must be at least 1, -orders, -kill and -over not negative")
	case len(c.kinds) > 0 && c.nodes < 2:
		return errors.New("-trouble needs -nodes 2 or more: it is about the connections of worker processes")
	case c.kills > 0 && c.nodes < 2 && (c.dsn != "" || c.pgkill):
		return errors.New("-kill needs -nodes 2 or more on Postgres: somebody must take over")
	case c.pgkill && c.dsn != "":
		return fmt.Errorf("-pgkill needs a private Postgres: no -dsn, and unset %s", dsnEnv)
	}
	if c.over == 0 {
		c.over = max(10*time.Second, spread(c.kills)*5/4, troubleTime(len(c.kinds)*c.times)) // a little more than they take
	}
	return nil
}

// needsPostgres tells what one process on a SQLite file cannot do.
func (c *config) needsPostgres() bool { return c.nodes > 1 || c.pgkill }

// run does everything and tells whether the audit balances. The logs are kept if something went
// wrong.
func run(ctx context.Context, c config, out io.Writer) (balanced bool, err error) {
	if err := c.check(); err != nil {
		return false, err
	}
	tickets, err := readTickets(c.orders)
	if err != nil {
		return false, err
	}
	logs, err := os.MkdirTemp("", "reprise-order-")
	if err != nil {
		return false, err
	}
	defer func() {
		if balanced || c.tamper || ctx.Err() != nil {
			err = errors.Join(err, os.RemoveAll(logs))
		} else {
			fmt.Fprintln(out, "logs are in", logs)
		}
	}()
	began := time.Now()
	db, err := openDatabase(ctx, &c, out)
	if err != nil {
		return false, err
	}
	defer func() {
		db.Close()
		if (balanced || c.tamper) && !c.keep { // the next start is another day
			err = errors.Join(err, db.remove())
		}
	}()
	day := &day{config: c, db: db, tickets: tickets, logs: logs, began: began, out: out}
	if err := day.work(ctx); err != nil {
		return false, err
	}
	balanced, err = closeBooks(ctx, c, db, tickets, out)
	if err != nil {
		return false, err
	}
	word := "the audit balances"
	if !balanced {
		word = "THE AUDIT DOES NOT BALANCE"
	}
	fmt.Fprintf(out, "\n%s, after %.1f s\n", word, time.Since(began).Seconds())
	return balanced, nil
}

// closeBooks prints the summary and the audit, and tells whether it balances.
func closeBooks(ctx context.Context, c config, db *database, tickets []ticket, out io.Writer) (bool, error) {
	if c.tamper {
		fmt.Fprintln(out, "\nsomebody removes one row of stock")
		if _, err := db.shop.exec(ctx, tamperSQL); err != nil {
			return false, err
		}
	}
	f, err := collect(ctx, db, tickets)
	if err != nil {
		return false, err
	}
	fmt.Fprintln(out)
	printSummary(out, f)
	fmt.Fprintln(out, "\naudit")
	return printAudit(out, audit(f)), nil
}

const tamperSQL = `delete from shop_moves where id = (select min(id) from shop_moves)`
