package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"
	"time"
)

// baton is what a worker of a relay needs to know. A SQLite file belongs to one process, so one
// worker does all the work of the shop, and when it is killed the next one opens the file. The
// carrier and the killer stay in the parent: they are the outside world.
type baton struct {
	Dir     string
	Orders  int
	Over    time.Duration
	Seed    uint64
	Began   time.Time
	Earlier int // orders that were there before the first worker
}

// batonEnv hands the baton over, as JSON.
const batonEnv = "REPRISE_ORDER_BATON"

// workerHas is the line with which a worker says that it has the file.
const workerHas = "has the file"

// inRelay runs the orders on one worker after the other.
func (d *day) inRelay(ctx context.Context, c *carrier) error {
	text, err := json.Marshal(baton{d.db.dir, d.orders, d.over, d.seed, d.began, d.earlier})
	if err != nil {
		return err
	}
	d.db.leaveJournal()
	f := &fleet{carrier: c.url, logs: d.logs, baton: string(text), out: d.out, lost: make(chan error, 1), workers: make([]*process, 1)}
	r := &relay{fleet: f, rand: rand.New(rand.NewPCG(d.seed, 3)), out: d.out, kills: d.kills}
	err = r.run(ctx)
	if err := errors.Join(err, f.Stop()); err != nil {
		return err
	}
	r.report()
	return d.db.connectJournal(ctx)
}

// relay kills its worker again and again, waits each time until the next one has the file, and lets
// the last worker finish.
type relay struct {
	fleet *fleet
	rand  *rand.Rand
	out   io.Writer
	kills int

	gaps []time.Duration // from each kill until the next worker had the file
}

func (r *relay) run(ctx context.Context) error {
	var killed time.Time
	for n := 0; ; n++ {
		if err := r.fleet.launch(0); err != nil {
			return err
		}
		p := r.fleet.workers[0]
		select {
		case <-p.says.has:
		case <-p.ended:
			return fmt.Errorf("%s ended before it had the file: %s", p.name, p.cmd.ProcessState)
		case <-ctx.Done():
			return errInterrupted
		}
		if n > 0 {
			r.gaps = append(r.gaps, time.Since(killed))
		}
		var kill <-chan time.Time // never, once it was killed often enough
		if n < r.kills {
			kill = time.After(killGapMin + time.Duration(r.rand.Int64N(int64(killGapMax-killGapMin))))
		}
		select {
		case <-kill:
			_, killed = r.fleet.kill(0)
			fmt.Fprintf(r.out, "        %s was killed\n", p.name)
		case <-p.ended:
			p.asked.Store(true)
			if !p.cmd.ProcessState.Success() {
				return fmt.Errorf("%s: %s", p.name, p.cmd.ProcessState)
			}
			return nil
		case <-ctx.Done():
			return errInterrupted
		}
	}
}

func (r *relay) report() {
	fmt.Fprintf(r.out, "\n%d of %d kills\n", len(r.gaps), r.kills)
	if len(r.gaps) > 0 {
		slices.Sort(r.gaps)
		fmt.Fprintf(r.out, "the next process had the file after: median %.2f s, worst %.2f s\n",
			r.gaps[len(r.gaps)/2].Seconds(), r.gaps[len(r.gaps)-1].Seconds())
	}
}

// runRelayWorker does the shop's work for as long as it lives. Its standard output is the parent's,
// behind the first line.
func runRelayWorker(ctx context.Context, text string) error {
	var b baton
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		return fmt.Errorf("baton: %w", err)
	}
	tickets, err := readTickets(b.Orders)
	if err != nil {
		return err
	}
	db := &database{dir: b.Dir}
	defer db.Close()
	if err := db.connect(ctx); err != nil {
		return err
	}
	fmt.Println(workerHas)
	d := &day{config: config{over: b.Over, seed: b.Seed}, db: db, tickets: tickets, began: b.Began, earlier: b.Earlier, out: os.Stdout}
	err = d.alone(ctx, os.Getenv(carrierEnv), os.Getenv(workerEnv), slog.New(slog.NewTextHandler(os.Stderr, nil)))
	if errors.Is(err, errInterrupted) {
		return nil // as it was asked to
	}
	return err
}

// announcer is the standard output of a relay's worker: the first line says that it has the file,
// the rest is passed on.
type announcer struct {
	has  chan struct{}
	to   io.Writer
	line []byte // the beginning of the first line; nil after it
}

func newAnnouncer(to io.Writer) *announcer {
	return &announcer{has: make(chan struct{}), to: to, line: []byte{}}
}

// Write implements io.Writer.
func (a *announcer) Write(p []byte) (int, error) {
	if a.line == nil {
		return a.to.Write(p)
	}
	a.line = append(a.line, p...)
	first, rest, complete := bytes.Cut(a.line, []byte{'\n'})
	if !complete {
		return len(p), nil
	}
	a.line = nil
	if string(first) == workerHas {
		close(a.has)
	}
	if len(rest) > 0 {
		_, err := a.to.Write(rest)
		return len(p), err
	}
	return len(p), nil
}
