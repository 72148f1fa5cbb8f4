package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/journal/postgres"
	"github.com/reprise-run/reprise/runtime"
)

var fairHeldScenario = scenario{
	name: "fair/held", about: "ping-pong with -queued runs; an open transaction of a user's has signalled one of them: turns/s of the others",
	defaults: options{seconds: 4, queued: 400},
	by:       bySeconds,
	run: func(ctx context.Context, b *bench) error {
		return b.inFresh(ctx, func(d *database) error { return b.fairHeld(ctx, d) })
	},
}

// heldPairs is how many stretches of either sort there are, in turns: what the machine does
// otherwise falls on both.
const heldPairs = 3

// fairHeld compares stretches in which a transaction that stays open has locked the task of one run
// with others in which one stays open that has nothing to do with runs. That run's own turns are
// not counted, in any sort.
//
// Any transaction with a number of its own keeps the server from removing dead versions of rows as
// long as it is open, and this game changes the same few rows all the time. So the fair comparison
// is with a transaction elsewhere; what that one costs by itself is a figure beside it.
func (b *bench) fairHeld(ctx context.Context, d *database) error {
	return b.withNodes(ctx, d, runtime.NodeOptions{}, func(nodes *fleet) (err error) {
		client := nodes.client(0)
		runs, err := startMany(ctx, client, echoFlow, endless, b.o.queued, nil)
		if err != nil {
			return err
		}
		playing, stop := context.WithCancel(ctx)
		game := play(playing, client, runs)
		defer func() {
			stop()
			err = errors.Join(err, game.over())
		}()
		turns := func() (int64, error) {
			before := game.turns.Load()
			err := wait(ctx, b.o.duration())
			return game.turns.Load() - before, err
		}
		if _, err := turns(); err != nil { // warms up
			return err
		}
		holds := func(tx pgx.Tx) error {
			return runtime.Signal(ctx, client, runs[0].ID(), item, heldPlayer, &runtime.SignalOptions{Tx: postgres.InTx(tx)})
		}
		elsewhere := func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "SELECT pg_current_xact_id()")
			return err
		}
		var free, open, held int64
		for range heldPairs {
			var n [3]int64
			n[0], err = turns()
			if err == nil {
				n[1], err = d.whileOpen(ctx, elsewhere, turns)
			}
			if err == nil {
				n[2], err = d.whileOpen(ctx, holds, turns)
			}
			if err != nil {
				return err
			}
			free, open, held = free+n[0], open+n[1], held+n[2]
		}
		seconds := heldPairs * b.o.seconds
		f := figures{
			"free_turns_per_second": float64(free) / seconds, "open_turns_per_second": float64(open) / seconds,
			"held_turns_per_second": float64(held) / seconds,
			"open_to_free":          ratio(float64(open), float64(free)), "held_to_open": ratio(float64(held), float64(open)),
		}
		return b.emit(settings{"runs": len(runs), "held": 1}, f, nil, atLeast("held_to_open", 0.95))
	})
}

// whileOpen calls fn while a transaction that has done something is open.
func (d *database) whileOpen(ctx context.Context, do func(pgx.Tx) error, fn func() (int64, error)) (int64, error) {
	conn, err := d.connect(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	tx, err := conn.Begin(ctx)
	if err != nil {
		return 0, err
	}
	if err := do(tx); err != nil {
		return 0, err
	}
	n, err := fn()
	return n, errors.Join(err, tx.Rollback(ctx))
}

// rounds is a game of ping-pong with many runs.
type rounds struct {
	turns   atomic.Int64 // of all but the first run
	players sync.WaitGroup
	mu      sync.Mutex
	err     error
}

// heldPlayer is the number of the run that is held.
const heldPlayer = 0

// play signals each run and waits for its answer, again and again, until ctx ends.
func play(ctx context.Context, client *runtime.Client, runs []*runtime.Run[int]) *rounds {
	g := &rounds{}
	for i, run := range runs {
		g.players.Go(func() {
			for ctx.Err() == nil {
				err := asked(ctx, i, func() error { return runtime.Signal(ctx, client, run.ID(), item, i, nil) })
				if err != nil && ctx.Err() == nil {
					g.mu.Lock()
					g.err = errors.Join(g.err, err)
					g.mu.Unlock()
					return
				}
				if i != heldPlayer {
					g.turns.Add(1)
				}
			}
		})
	}
	return g
}

// over waits for the players, whose context has ended.
func (g *rounds) over() error {
	g.players.Wait()
	return g.err
}
