package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/reprise-run/reprise/runtime"
)

var horizonScenario = scenario{
	name: "horizon", about: "soak's chain and -queued sleepers while a transaction elsewhere stays open, so that no dead row can be removed",
	defaults: options{seconds: 600, concurrency: 64, queued: 200, steps: []int{3}},
	by:       bySeconds,
	run: func(ctx context.Context, b *bench) error {
		return b.inFresh(ctx, func(d *database) error { return b.horizon(ctx, d) })
	},
}

// horizonLease is shorter than the default: ten minutes hold 1,800 renewals, enough for a p99.
const horizonLease = 3 * time.Second

// horizon compares the last tenth of the time with the first, as soak does. Sleepers are beside the
// chain because its runs belong to their node from birth: without others no claim would meet the
// dead entries of the queue.
func (b *bench) horizon(ctx context.Context, d *database) error {
	return b.withNodes(ctx, d, runtime.NodeOptions{Lease: horizonLease}, func(nodes *fleet) error {
		chains, sleepers := b.chainLoad(nodes, b.o.steps[0]), b.sleepers(nodes)
		chains.runs = 0
		if err := errors.Join(warmUp(ctx, chains), warmUp(ctx, sleepers)); err != nil {
			return err
		}
		open, err := d.hold(ctx)
		if err != nil {
			return err
		}
		defer open.end(ctx)
		calls := watchCalls(nodes, chains.d)
		w := newWindows(chains.d)
		chains.done = w.done
		asleep := make(chan error, 1)
		go func() {
			_, err := sleepers.run(ctx)
			asleep <- err
		}()
		got, m, err := d.under(ctx, chains)
		if err := errors.Join(err, <-asleep); err != nil {
			return err
		}
		f := figures{"runs_per_second": got.perSecond()}
		w.into(f)
		if err := calls.into(f); err != nil {
			return err
		}
		if f["held_back_transactions"], err = open.age(ctx); err != nil {
			return err
		}
		if err := d.bloat(ctx, f); err != nil {
			return err
		}
		c, err := m.counters(ctx, func() error { return errors.Join(open.end(ctx), nodes.close()) }, got.runs, got.runs*b.o.steps[0])
		if err != nil {
			return err
		}
		s := b.chainSettings(b.o.steps[0])
		s["seconds"], s["sleepers"], s["lease_seconds"] = b.o.seconds, b.o.queued, horizonLease.Seconds()
		return b.emit(s, f, c)
	})
}

// sleepers sleep for 50 to 100 ms, again and again: each time a park, and a claim.
func (b *bench) sleepers(nodes *fleet) load {
	return load{workers: b.o.queued, d: b.o.duration(), each: func(ctx context.Context, i int) error {
		sleep := singleSleep + singleSleep*time.Duration(i%b.o.queued)/time.Duration(b.o.queued)
		due := nodes.members[0].journal.Now().Add(sleep)
		run, err := runtime.Start(ctx, nodes.client(i), sleepFlow, due.UnixMicro(), nil)
		if err != nil {
			return err
		}
		_, err = run.Result(ctx)
		return err
	}}
}

// calls are those of the nodes that must not get slower.
type calls struct {
	renewals, claims *windows
	failed           atomic.Int64 // renewals
}

var errNoRenewal = errors.New("no lease was renewed in the time given")

func watchCalls(nodes *fleet, d time.Duration) *calls {
	c := &calls{renewals: newWindows(d), claims: newWindows(d)}
	renewed := func(took time.Duration, err error) {
		if err != nil {
			c.failed.Add(1)
		}
		c.renewals.done(took) // a failed one has kept its node waiting just so
	}
	claimed := c.claims.done
	for _, m := range nodes.members {
		m.tap.onRenew.Store(&renewed)
		m.tap.onClaim.Store(&claimed)
	}
	return c
}

// into shows the calls of the whole time, and the median of its first and of its last tenth.
func (c *calls) into(f figures) error {
	for name, w := range map[string]*windows{"renewal": c.renewals, "claim": c.claims} {
		w.mu.Lock()
		all := histogram{}
		for i := range w.list {
			all = all.with(&w.list[i].latencies)
		}
		first, last := w.list[0].latencies.at(.5), w.list[soakWindows-1].latencies.at(.5)
		w.mu.Unlock()
		f[name+"s"], f[name+"_p50_ms"], f[name+"_p99_ms"] = float64(all.count), milliseconds(all.at(.5)), milliseconds(all.at(.99))
		f["first_"+name+"_p50_ms"], f["last_"+name+"_p50_ms"] = milliseconds(first), milliseconds(last)
	}
	f["renewals_failed"] = float64(c.failed.Load())
	if f["renewals"] == 0 {
		return errNoRenewal
	}
	return nil
}

// openTransaction is one that does nothing but stay open, as that of a dump or a report. Rows that
// die after its snapshot cannot be removed before it ends.
type openTransaction struct {
	d    *database
	conn *pgx.Conn
	pid  uint32
	once sync.Once
}

func (d *database) hold(ctx context.Context) (*openTransaction, error) {
	conn, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	h := &openTransaction{d: d, conn: conn, pid: conn.PgConn().PID()}
	// The snapshot is taken by the first statement after BEGIN.
	if _, err := conn.Exec(ctx, `BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1`); err != nil {
		return nil, errors.Join(err, h.end(ctx))
	}
	return h, nil
}

// age is how many transactions began since the snapshot. An error means that it was not held.
func (h *openTransaction) age(ctx context.Context) (n float64, err error) {
	return n, h.d.rig.admin.QueryRow(ctx, `SELECT age(backend_xmin)::float8 FROM pg_stat_activity WHERE pid = $1`, h.pid).Scan(&n)
}

// end may be called again.
func (h *openTransaction) end(ctx context.Context) (err error) {
	h.once.Do(func() { err = h.conn.Close(ctx) })
	return err
}
