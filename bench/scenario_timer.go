package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime"
)

var timerScenario = scenario{
	name: "timer", about: "timers that are due at one instant, and the lateness of single ones",
	defaults: options{runs: 100_000, concurrency: saturated},
	by:       byRuns,
	run: func(ctx context.Context, b *bench) error {
		if err := b.inFresh(ctx, func(d *database) error { return b.singleTimers(ctx, d) }); err != nil {
			return err
		}
		return b.inFresh(ctx, func(d *database) error { return b.burst(ctx, d) })
	},
}

const (
	singlesMax  = 100
	singleSleep = 50 * time.Millisecond // plus up to as much again, so that polls and timers do not march in step
)

// singleTimers lets one run at a time sleep and compares the end of its sleep with its due time,
// and the moment its result is known.
func (b *bench) singleTimers(ctx context.Context, d *database) error {
	n := min(max(b.o.runs/100, 1), singlesMax)
	return b.withNodes(ctx, d, runtime.NodeOptions{}, func(nodes *fleet) error {
		if err := warmUp(ctx, flowLoad(nodes, chainFlow, 1, load{workers: 10})); err != nil {
			return err
		}
		var fired, known latencies
		for i := range n {
			sleep := singleSleep + singleSleep*time.Duration(i)/time.Duration(n)
			due := nodes.members[0].journal.Now().Add(sleep).Truncate(time.Microsecond)
			run, err := runtime.Start(ctx, nodes.client(0), sleepFlow, due.UnixMicro(), nil)
			if err != nil {
				return err
			}
			woken, err := run.Result(ctx)
			if err != nil {
				return err
			}
			known = append(known, nodes.members[0].journal.Now().Sub(due))
			fired = append(fired, time.UnixMicro(woken).Sub(due))
		}
		f := figures{}
		fired.into(f, "fired_late")
		known.into(f, "result_late")
		return b.emit(settings{"case": "one at a time", "timers": n}, f, nil)
	})
}

const (
	burstProbe  = 2_000 // runs that tell how fast the rest will be asleep
	burstMargin = 2     // times the time so estimated
	burstSlack  = 2 * time.Second
)

// burst puts runs to sleep until one instant, and watches them wake.
func (b *bench) burst(ctx context.Context, d *database) error {
	runs := max(b.o.runs, 1)
	return b.withNodes(ctx, d, runtime.NodeOptions{}, func(nodes *fleet) error {
		far := time.Now().Add(24 * time.Hour)
		probe := min(burstProbe, runs)
		took, err := b.putToSleep(ctx, nodes, probe, far)
		if err != nil {
			return err
		}
		due := nodes.members[0].journal.Now().Add(burstMargin*took*time.Duration(runs/probe) + burstSlack)
		if _, err := b.putToSleep(ctx, nodes, runs, due); err != nil {
			return err
		}
		if nodes.members[0].journal.Now().After(due) {
			return errors.New("not all runs were asleep when their timers were due: the machine slowed down; run again")
		}
		woken := watchCloses(nodes)
		m, err := d.measured(ctx, func() error {
			return poll(ctx, func() (bool, error) { return woken.len() >= runs, nil })
		})
		if err != nil {
			return err
		}
		late := woken.since(due)
		f := figures{"all_fired_seconds": late.at(1).Seconds(), "first_fired_ms": milliseconds(late.at(0))}
		late.into(f, "late")
		f["fired_per_second"] = ratio(float64(runs), f["all_fired_seconds"])
		c, err := m.counters(ctx, nodes.close, runs, 0)
		if err != nil {
			return err
		}
		return b.emit(settings{"case": "at one instant", "timers": runs, "nodes": b.o.nodes}, f, c)
	})
}

// putToSleep starts runs that sleep until due, and returns when all are parked.
func (b *bench) putToSleep(ctx context.Context, nodes *fleet, runs int, due time.Time) (time.Duration, error) {
	parked := func() (n int) {
		for _, m := range nodes.members {
			n += int(m.tap.parks.Load())
		}
		return n
	}
	before, began := parked(), time.Now()
	l := load{workers: b.o.concurrency, runs: runs, each: func(ctx context.Context, i int) error {
		_, err := runtime.Start(ctx, nodes.client(i), sleepFlow, due.UnixMicro(), nil)
		return err
	}}
	if _, err := l.run(ctx); err != nil {
		return 0, err
	}
	err := poll(ctx, func() (bool, error) { return parked()-before >= runs, nil })
	return time.Since(began), err
}

// moments are when something happened, noted by many goroutines.
type moments struct {
	mu sync.Mutex
	at []time.Time
}

func (m *moments) note(at time.Time, times int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for range times {
		m.at = append(m.at, at)
	}
}

func (m *moments) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.at)
}

func (m *moments) since(t time.Time) latencies {
	m.mu.Lock()
	defer m.mu.Unlock()
	var l latencies
	for _, at := range m.at {
		l = append(l, at.Sub(t))
	}
	return l
}

// watchCloses notes when the nodes' runs end durably.
func watchCloses(nodes *fleet) *moments {
	woken := &moments{}
	fn := func(commits []driver.Commit, out []driver.Outcome, at time.Time) {
		n := 0
		for i := range out {
			if out[i].Err == nil && commits[i].Next.Kind == driver.NextClose {
				n++
			}
		}
		woken.note(at, n)
	}
	for _, m := range nodes.members {
		m.tap.onCommit.Store(&fn)
	}
	return woken
}
