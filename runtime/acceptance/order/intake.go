package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
)

// intake starts the orders, spread over a time so that kills hit orders in every state, and waits
// for their results.
type intake struct {
	client  *runtime.Client
	tickets []ticket
	over    time.Duration // the starts are spread over this time
	began   time.Time     // of which this is the beginning
	rand    *rand.Rand    // of the starting goroutine
	before  standing      // of the orders when it began

	started, shipped, rejected atomic.Int64
}

const (
	startTries  = 200 * time.Millisecond // between two tries while the database is away
	regretsMax  = 1_500 * time.Millisecond
	progressGap = time.Second
)

// look counts what earlier processes have done, so that the counts never go backwards.
func (in *intake) look(ctx context.Context) (err error) {
	err = again(ctx, func() error {
		in.before, err = lookUp(ctx, in.client, in.tickets)
		return err
	})
	started, shipped, rejected := in.before.count()
	in.started.Store(started)
	in.shipped.Store(shipped)
	in.rejected.Store(rejected)
	return err
}

// Run returns when every order has ended, or with ctx's error. Everything it starts has ended by
// then.
func (in *intake) Run(ctx context.Context) error {
	var waiters sync.WaitGroup
	defer waiters.Wait()
	gap := in.over / time.Duration(len(in.tickets))
	for i, t := range in.tickets {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Until(in.began.Add(gap * time.Duration(i)))): // at once if its time has passed
		}
		h, err := in.start(ctx, t)
		if err != nil {
			return fmt.Errorf("start order %s: %w", t.ID, err)
		}
		if _, known := in.before[t.key()]; !known {
			in.started.Add(1)
		}
		if !in.before.closed(t.key()) { // else it is counted
			waiters.Go(func() { in.wait(ctx, h) })
		}
		if t.Desk == deskRegrets {
			after := time.Duration(in.rand.Int64N(int64(regretsMax)))
			waiters.Go(func() { in.regret(ctx, h.ID(), after) })
		}
	}
	waiters.Wait()
	return ctx.Err()
}

// start can be repeated, whatever happened to the attempt before: the key leads to the run that
// exists.
func (in *intake) start(ctx context.Context, t ticket) (h *runtime.Run[Receipt], err error) {
	err = again(ctx, func() error {
		h, err = runtime.Start(ctx, in.client, Checkout, t.Order, &runtime.StartOptions{
			Key: t.key(), Labels: map[string]string{"customer": t.Customer},
		})
		return err
	})
	return h, err
}

func (in *intake) wait(ctx context.Context, h *runtime.Run[Receipt]) {
	err := again(ctx, func() error {
		_, err := h.Result(ctx)
		return err
	})
	switch {
	case ctx.Err() != nil:
	case err == nil:
		in.shipped.Add(1)
	default: // which error is right is the audit's to say
		in.rejected.Add(1)
	}
}

// regret cancels an order some time after its start, perhaps when it is too late.
func (in *intake) regret(ctx context.Context, run journal.RunID, after time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(after):
		_ = again(ctx, func() error { return in.client.Cancel(ctx, run, "not wanted any more") }) // may be closed
	}
}

// again repeats fn while the database is unavailable. Clients return ErrUnavailable when an answer
// was lost or their patience is over, and the caller cannot know whether the call took effect;
// everything here has a key, so a repetition is safe.
func again(ctx context.Context, fn func() error) error {
	for {
		err := fn()
		if !errors.Is(err, journal.ErrUnavailable) || ctx.Err() != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(startTries):
		}
	}
}

// progress prints a line at once, and every second of the schedule until ctx ends.
func (in *intake) progress(ctx context.Context, out io.Writer) {
	in.print(out, time.Since(in.began))
	for {
		since := time.Since(in.began)
		select {
		case <-ctx.Done():
			return
		case <-time.After(since.Truncate(progressGap) + progressGap - since):
			in.print(out, time.Since(in.began))
		}
	}
}

func (in *intake) print(out io.Writer, since time.Duration) {
	started, shipped, rejected := in.started.Load(), in.shipped.Load(), in.rejected.Load()
	fmt.Fprintf(out, "  %3.0fs  %3d of %d orders started, %3d in flight, %3d shipped, %3d given up\n",
		since.Seconds(), started, len(in.tickets), started-shipped-rejected, shipped, rejected)
}
