package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// endings are the runs of a measurement that ended, in the order in which they did.
type endings struct {
	mu   sync.Mutex
	list []ended // guarded by mu, until all callers are gone
}

// ended is a run that ended.
type ended struct {
	at   time.Time
	took time.Duration
}

func (e *endings) add(took time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, ended{time.Now(), took}) // under the lock, so that times stand in order
}

func (e *endings) count() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.list)
}

// window is the part of a measurement of chain that counts.
//
// Engines bring runs forward together: all that a batch, a poll or a pool of connections holds. A closed loop keeps them
// together, so they also end together, in waves of up to as many runs as are in flight, with nothing in between. A window
// that is cut by the clock holds a whole number of waves whatever their pace is: with 1,000 runs in flight and a wave in
// every 1.2 seconds, five seconds hold four of them. That is 800 runs/s, in each round anew, and also after the engine
// has become 15 % faster.
//
// So a window is cut by endings. It begins with one, and it ends with the one by which as many further runs have ended as
// are in flight, or a multiple of that. Wherever in its wave the first one was, the last one is there in a later wave. The
// time between the two is measured and not chosen. An engine without waves loses nothing by that.
type window struct {
	first, last int                    // indexes of endings: runs after first count, up to last
	cost        func(runs int) Figures // of what was done meanwhile
}

const (
	wavesMin    = 5                // waves follow each other in times that differ by some percent
	windowLimit = 90 * time.Second // after it, fewer waves must do
)

var errNoWave = errors.New("fewer runs ended than are in flight")

// window lets the warm-up pass and each run in flight end once, and then measures for Seconds and wavesMin waves, if not
// longer.
func (m *measurement) window(ctx context.Context, e *endings) (w window, err error) {
	until := func(n int) error {
		return poll(ctx, func() (bool, error) { return e.count() >= n, nil })
	}
	time.Sleep(seconds(m.Warm))
	if err := until(m.Flight); err != nil {
		return w, fmt.Errorf("warm-up: %w", err)
	}
	w.first = e.count() // the next one
	if err := until(w.first + 1); err != nil {
		return w, err
	}
	before, err := m.look.counters(ctx)
	if err != nil {
		return w, err
	}
	began, waves := time.Now(), wavesMin
	err = poll(ctx, func() (bool, error) {
		took, since := time.Since(began), e.count()-w.first-1
		if took < seconds(m.Seconds) {
			waves = max(waves, since/m.Flight+1) // that one is not whole
			return false, nil
		}
		if took > windowLimit {
			waves = min(waves, since/m.Flight)
		}
		return since >= waves*m.Flight, nil
	})
	if err != nil {
		return w, err
	}
	after, err := m.look.counters(ctx)
	if err == nil && waves == 0 {
		err = fmt.Errorf("%w in %s: %d of %d", errNoWave, windowLimit, e.count()-w.first-1, m.Flight)
	}
	w.last, w.cost = w.first+waves*m.Flight, func(runs int) Figures { return after.since(before, runs) }
	return w, err
}

// figures of a window on endings that nobody adds to any more.
func (w window) figures(e *endings, flight, steps int) Figures {
	runs := e.list[w.first+1 : w.last+1]
	took := make([]time.Duration, len(runs))
	for i, r := range runs {
		took[i] = r.took
	}
	f := w.cost(len(runs))
	f["runs"], f["waves"] = float64(len(runs)), float64(len(runs)/flight)
	f["took_s"] = e.list[w.last].at.Sub(e.list[w.first].at).Seconds()
	f["runs_per_s"] = f["runs"] / f["took_s"]
	f["steps_per_s"] = f["runs_per_s"] * float64(steps)
	f["p50_ms"], f["p99_ms"] = percentile(took, 50), percentile(took, 99)
	return f
}
