package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal/postgres/pgtest"
	"github.com/reprise-run/reprise/runtime"
)

// day is one day of the shop, from the first order to the drain of the last node.
type day struct {
	config
	db      *database
	tickets []ticket
	logs    string    // folder
	began   time.Time // the schedule counts from here
	earlier int       // orders that an earlier start of the program has left
	out     io.Writer
	trouble *trouble // nil for none
}

// work runs all orders. When it returns, everything that it started has ended.
func (d *day) work(ctx context.Context) error {
	file, err := os.Create(filepath.Join(d.logs, "main.log"))
	if err != nil {
		return err
	}
	defer file.Close()
	log := slog.New(slog.NewTextHandler(file, nil))

	left, err := lookUp(ctx, runtime.NewClient(d.db.journal.Journal, &runtime.ClientOptions{Logger: log}), d.tickets)
	if err != nil {
		return err
	}
	d.earlier = len(left)
	carrier, err := openCarrier(d.db.outside, d.seed)
	if err != nil {
		return err
	}
	defer carrier.Close()
	fmt.Fprintf(d.out, "%d orders over %s, %d %s, seed %d\n", len(d.tickets), d.over, d.nodes, plural(d.nodes, "process", "processes"), d.seed)
	switch {
	case d.nodes > 1:
		err = d.together(ctx, carrier, log)
	case d.kills > 0:
		err = d.inRelay(ctx, carrier)
	default:
		err = d.alone(ctx, carrier.url, "shop", log)
	}
	if err == nil {
		fmt.Fprintln(d.out, "\nthe carrier:", carrier.tempers())
	}
	return err
}

// alone runs the orders on a node in this process.
func (d *day) alone(ctx context.Context, carrier, name string, log *slog.Logger) error {
	node := newNode(d.db, carrier, name, log)
	nodeCtx, drain := context.WithCancel(context.WithoutCancel(ctx))
	defer drain()
	ended := make(chan error, 1)
	go func() { ended <- node.Run(nodeCtx) }()
	err := d.trade(ctx, node.Client(), log, nil)
	drain()
	return errors.Join(err, <-ended)
}

// together runs the orders on worker processes. The killer kills some of them. The parent is a
// client only: it starts orders and waits for results, and owns no run.
func (d *day) together(ctx context.Context, c *carrier, log *slog.Logger) error {
	dsn := d.db.dsn
	if len(d.kinds) > 0 {
		link, err := pgtest.NewLink(dsn)
		if err != nil {
			return err
		}
		defer link.Close()
		dsn = link.DSN()
		d.trouble = &trouble{
			link: link, dsn: d.db.dsn, kinds: d.kinds, times: d.times, rand: rand.New(rand.NewPCG(d.seed, 4)), out: d.out,
		}
	}
	workers, err := launchFleet(d.nodes, dsn, c.url, d.logs)
	if err == nil {
		k := &killer{
			fleet: workers, db: d.db.shop, rand: rand.New(rand.NewPCG(d.seed, 3)), out: d.out, kills: d.kills,
		}
		err = d.trade(ctx, runtime.NewClient(d.db.journal.Journal, &runtime.ClientOptions{Logger: log}), log, k)
		if err == nil && d.kills > 0 {
			k.report(d.out)
		}
	}
	return errors.Join(err, workers.Stop())
}

// trade takes the orders in and returns when all have ended. Beside the intake run the desk, the
// killer and whoever kills Postgres. The first of them that fails ends the day, and trade returns
// only when everything that it started has ended.
func (d *day) trade(ctx context.Context, client *runtime.Client, log *slog.Logger, k *killer) error {
	in := &intake{client: client, tickets: d.tickets, over: d.over, began: d.began, rand: rand.New(rand.NewPCG(d.seed, 2))}
	if err := in.look(ctx); err != nil {
		return err
	}
	around, stop := context.WithCancelCause(ctx) // ends when the orders have, or when something around them fails
	defer stop(nil)
	var others sync.WaitGroup
	others.Go(func() { newDesk(d.db.shop, client, log, d.tickets).Run(around) })
	others.Go(func() { in.progress(around, d.out) })
	var causes sync.WaitGroup // what must have happened before the day is over
	if k != nil {
		others.Go(func() {
			select {
			case err := <-k.fleet.lost:
				stop(err)
			case <-around.Done():
			}
		})
		causes.Go(func() {
			if err := k.Run(around); err != nil {
				stop(err)
			}
		})
	}
	if d.trouble != nil {
		causes.Go(func() {
			if err := d.trouble.Run(around); err != nil {
				stop(err)
			}
		})
	}
	if d.pgkill {
		causes.Go(func() {
			if err := d.db.crash(around, d.over/3, d.out); err != nil {
				stop(err)
			}
		})
	}
	err := in.Run(around)
	if err == nil {
		causes.Wait()
	}
	if d.earlier > 0 {
		fmt.Fprintf(d.out, "  %d orders were there already, from an earlier start\n", d.earlier)
	}
	if cause := context.Cause(around); cause != nil {
		err = cause
	}
	stop(nil)
	causes.Wait()
	others.Wait()
	if ctx.Err() != nil {
		return errInterrupted
	}
	return err
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}
