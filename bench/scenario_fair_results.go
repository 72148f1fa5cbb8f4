package main

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/reprise-run/reprise/runtime"
)

var fairResultsScenario = scenario{
	name: "fair/results", about: "a client that waits for the results of -queued runs which do not end: bytes from and to the server",
	defaults: options{seconds: 10, queued: 5_000},
	by:       bySeconds,
	run: func(ctx context.Context, b *bench) error {
		return b.inFresh(ctx, func(d *database) error { return b.fairResults(ctx, d) })
	},
}

const absentInput = 20 << 10 // bytes

// fairResults has no node: what passes is the client's own. One waiting result beside them is what
// the client costs anyhow, with its hints and its poll.
func (b *bench) fairResults(ctx context.Context, d *database) error {
	l := &wire{}
	m, err := d.through(l).client(ctx)
	if err != nil {
		return err
	}
	defer m.store.Close()
	runs, err := startMany(ctx, m.client, absentFlow, strings.Repeat("x", absentInput), max(b.o.queued, 1), nil)
	if err != nil {
		return err
	}
	f := figures{}
	for name, n := range map[string]int{"one": 1, "all": len(runs)} {
		if f[name+"_kb_per_second"], err = l.whileWaiting(ctx, runs[:n], b.o.duration()); err != nil {
			return err
		}
	}
	return b.emit(settings{"runs": len(runs), "input_bytes": absentInput}, f, nil, atMost("all_kb_per_second", 100))
}

// whileWaiting returns the kilobytes a second that pass while the results of runs are waited for.
func (l *wire) whileWaiting(ctx context.Context, runs []*runtime.Run[int], d time.Duration) (float64, error) {
	var waiters sync.WaitGroup
	ctx, end := context.WithCancel(ctx)
	defer func() {
		end()
		waiters.Wait()
	}()
	for _, r := range runs {
		waiters.Go(func() { _, _ = r.Result(ctx) }) // ends with ctx
	}
	if err := wait(ctx, d/2); err != nil { // all have been read once
		return 0, err
	}
	before, began := l.bytes(), time.Now()
	err := wait(ctx, d)
	return float64(l.bytes()-before) / 1e3 / time.Since(began).Seconds(), err
}
