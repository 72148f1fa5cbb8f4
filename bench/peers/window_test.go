package main

import (
	"errors"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Runs in flight that end in waves have a rate, and no figure is a whole number of waves in a time that somebody chose.
func TestWindow(t *testing.T) {
	for name, tc := range map[string]struct {
		flight, wave int           // a wave is the part of the runs in flight that end together
		every        time.Duration // between two waves
		seconds      float64
		waves        float64 // of all runs in flight
	}{
		"one wave":        {flight: 100, wave: 100, every: 1300 * time.Millisecond, seconds: 5, waves: wavesMin},
		"many waves":      {flight: 100, wave: 100, every: 70 * time.Millisecond, seconds: 1, waves: 15},
		"parts of a wave": {flight: 100, wave: 25, every: 300 * time.Millisecond, seconds: 5, waves: wavesMin},
		"no waves":        {flight: 8, wave: 1, every: 3 * time.Millisecond, seconds: 1, waves: 42},
		"slow":            {flight: 100, wave: 100, every: 40 * time.Second, seconds: 5, waves: 2}, // windowLimit comes first
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var e endings
				done := make(chan struct{})
				var load sync.WaitGroup
				load.Go(func() {
					for {
						select {
						case <-done:
							return
						case <-time.After(tc.every):
						}
						for range tc.wave {
							e.add(tc.every)
						}
					}
				})
				m := &measurement{Job: Job{Seconds: tc.seconds, Flight: tc.flight, Warm: 0.1}, look: &lookout{}}
				w, err := m.window(t.Context(), &e)
				close(done)
				load.Wait()
				if err != nil {
					t.Fatal(err)
				}
				f := w.figures(&e, tc.flight, 3)
				if want := float64(tc.wave) / tc.every.Seconds(); math.Abs(f["runs_per_s"]/want-1) > 1e-6 {
					t.Errorf("%v runs/s, want %v", f["runs_per_s"], want)
				}
				if f["waves"] != tc.waves || f["runs"] != tc.waves*float64(tc.flight) || f["steps_per_s"] != 3*f["runs_per_s"] {
					t.Errorf("figures %v, want %v waves", f, tc.waves)
				}
			})
		})
	}
}

// A window in which not even one wave ended has no rate.
func TestWindowWithoutWave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var e endings
		for range 100 {
			e.add(time.Second)
		}
		time.AfterFunc(time.Second, func() { e.add(time.Second) })
		m := &measurement{Job: Job{Seconds: 5, Flight: 100, Warm: 0.1}, look: &lookout{}}
		if _, err := m.window(t.Context(), &e); !errors.Is(err, errNoWave) {
			t.Errorf("a rate was made of one run: %v", err)
		}
	})
}
