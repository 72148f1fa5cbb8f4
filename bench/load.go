package main

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// load is a closed loop: each worker makes one run, waits for it, and makes the next. A slow engine
// is therefore asked less often, and the latencies are those at this number of runs in flight.
type load struct {
	workers int
	runs    int           // in all; 0: as many as go into d
	d       time.Duration // for how long new runs are begun
	each    func(ctx context.Context, i int) error
	done    func(took time.Duration) // if not nil, gets the latencies instead of the result; called by many goroutines
}

// loaded is the result of a load.
type loaded struct {
	runs      int
	took      time.Duration
	latencies latencies
}

func (l load) run(ctx context.Context) (loaded, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var end time.Time
	began := time.Now()
	if l.runs == 0 {
		end = began.Add(l.d)
	}
	var runs atomic.Int64
	all := make([]latencies, l.workers)
	var wg sync.WaitGroup
	for w := range l.workers {
		wg.Go(func() {
			for ctx.Err() == nil {
				i, at := int(next.Add(1)-1), time.Now()
				if l.runs > 0 && i >= l.runs || l.runs == 0 && at.After(end) {
					return
				}
				if err := l.each(ctx, i); err != nil {
					cancel(err)
					return
				}
				runs.Add(1)
				if took := time.Since(at); l.done != nil {
					l.done(took)
				} else {
					all[w] = append(all[w], took)
				}
			}
		})
	}
	wg.Wait()
	out := loaded{runs: int(runs.Load()), took: time.Since(began)}
	for _, list := range all {
		out.latencies = append(out.latencies, list...)
	}
	if ctx.Err() != nil {
		return out, context.Cause(ctx)
	}
	if out.runs == 0 {
		return out, errors.New("nothing was done in the time given")
	}
	return out, nil
}

// under measures a load.
func (d *database) under(ctx context.Context, l load) (got loaded, m *meter, err error) {
	m, err = d.measured(ctx, func() error {
		got, err = l.run(ctx)
		return err
	})
	return got, m, err
}

// within counts the runs that end while the meter runs. The load begins earlier, by lead, and ends
// later, so that neither its beginning nor its end is in the figures. The meter is paused before
// and after.
func (l load) within(ctx context.Context, m *meter, lead, d time.Duration) (runs int, err error) {
	var ended atomic.Int64
	l.runs, l.d, l.done = 0, lead+d+windowSlack, func(time.Duration) { ended.Add(1) }
	loading := make(chan error, 1)
	go func() {
		_, err := l.run(ctx)
		loading <- err
	}()
	err = func() error {
		if err := wait(ctx, lead); err != nil {
			return err
		}
		if err := m.resume(ctx); err != nil {
			return err
		}
		before := ended.Load()
		if err := wait(ctx, d); err != nil {
			return err
		}
		runs = int(ended.Load() - before)
		return m.pause(ctx)
	}()
	return runs, errors.Join(err, <-loading)
}

// windowSlack is how much longer a load lasts than its window, which begins when the counters were
// read.
const windowSlack = 100 * time.Millisecond

func (l loaded) perSecond() float64 { return float64(l.runs) / l.took.Seconds() }

// latencies are measured times, in any order.
type latencies []time.Duration

// at returns the time that a share of the measured ones do not exceed.
func (l latencies) at(share float64) time.Duration {
	if len(l) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(l))
	return sorted[min(int(share*float64(len(sorted))), len(sorted)-1)]
}

// into puts percentiles in milliseconds into f.
func (l latencies) into(f figures, name string) {
	sorted := latencies(slices.Sorted(slices.Values(l)))
	for _, p := range []struct {
		name  string
		share float64
	}{{"p50", .5}, {"p95", .95}, {"p99", .99}} {
		f[name+"_"+p.name+"_ms"] = milliseconds(sorted.at(p.share))
	}
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// histogram counts latencies in classes that are 3 % wide, in constant memory however long a
// scenario lasts.
type histogram struct {
	count   int
	classes [classes]int
}

const (
	classes   = 1024
	classStep = 1.03
	classMin  = float64(time.Microsecond)
)

func (h *histogram) add(d time.Duration) {
	class := int(math.Log(max(float64(d)/classMin, 1)) / math.Log(classStep))
	h.classes[min(class, classes-1)]++
	h.count++
}

// with returns the sum of two.
func (h histogram) with(o *histogram) histogram {
	h.count += o.count
	for class, n := range o.classes {
		h.classes[class] += n
	}
	return h
}

// at returns the upper end of the class that holds a share's last member.
func (h *histogram) at(share float64) time.Duration {
	rest := int(share * float64(h.count))
	for class, n := range h.classes {
		if rest -= n; rest < 0 {
			return time.Duration(classMin * math.Pow(classStep, float64(class+1)))
		}
	}
	return 0
}
