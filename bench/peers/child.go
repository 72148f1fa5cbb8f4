package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// logger of all engines: what goes wrong, and nothing else.
var logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))

// child does a job and reports on out. The process ends afterwards, so nothing is stopped or closed.
func child(ctx context.Context, text string, out io.Writer) error {
	events := json.NewEncoder(out)
	err := doJob(ctx, text, events)
	if err != nil {
		events.Encode(Event{Name: "error", Error: err.Error()})
	}
	return err
}

func doJob(ctx context.Context, text string, events *json.Encoder) error {
	var j Job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, childLimit)
	defer cancel()
	engine, err := findEngine(j.Engine)
	if err != nil {
		return err
	}
	setup := Setup{DSN: j.DSN, Workload: j.Cell.Workload, InFlight: j.Cell.InFlight, Node: j.Node, Short: j.Cell.Short}
	system, err := engine.Open(ctx, setup)
	if err != nil {
		return fmt.Errorf("open: %w", err)
	}
	m, err := newMeasurement(ctx, j, engine, system)
	if err != nil {
		return err
	}
	switch {
	case j.Role == Prepare:
		return system.Work(ctx)
	case j.Role == Fill:
		return system.Queue(ctx, inputs(j.Runs, j.Cell.Steps))
	case j.Role == Victim:
		return m.victim(ctx, events)
	case j.Role == Survivor:
		return m.survivor(ctx, events)
	}
	figures, err := m.measure(ctx)
	if err != nil {
		return err
	}
	return events.Encode(Event{Name: "figures", Figures: figures})
}

// measurement is a job on an open system.
type measurement struct {
	Job
	engine Engine
	system System
	look   *lookout
	number atomic.Int64 // of the last run
}

func newMeasurement(ctx context.Context, j Job, e Engine, s System) (*measurement, error) {
	look, err := newLookout(ctx, j.DSN)
	if err != nil {
		return nil, err
	}
	return &measurement{Job: j, engine: e, system: s, look: look}, nil
}

func (m *measurement) measure(ctx context.Context) (Figures, error) {
	body.Steps = m.Cell.Steps
	switch m.Cell.Workload {
	case Chain:
		return m.chain(ctx)
	case Latency:
		return m.latency(ctx)
	case Backlog:
		return m.backlog(ctx)
	}
	return nil, fmt.Errorf("no measurement of %s", m.Cell.Workload)
}

// run runs one run, checks its result and returns how long it took.
func (m *measurement) run(ctx context.Context, steps int) (time.Duration, error) {
	in := Input{N: m.number.Add(1), Steps: steps, Pad: pad}
	began := time.Now()
	result, err := m.system.Run(ctx, in)
	took := time.Since(began)
	if err != nil {
		return 0, fmt.Errorf("run %d: %w", in.N, err)
	}
	return took, in.check(result)
}

// chain keeps a number of runs in flight and counts those that end between the warm-up and the deadline.
func (m *measurement) chain(ctx context.Context) (Figures, error) {
	if err := m.system.Work(ctx); err != nil {
		return nil, err
	}
	from := time.Now().Add(seconds(m.Warm))
	to := from.Add(seconds(m.Seconds))
	lanes := make([][]time.Duration, m.Cell.InFlight)
	var workers sync.WaitGroup
	var failed atomic.Pointer[error]
	for i := range lanes {
		workers.Go(func() {
			for time.Now().Before(to) && failed.Load() == nil {
				took, err := m.run(ctx, m.Cell.Steps)
				if err != nil {
					failed.Store(&err)
					return
				}
				if end := time.Now(); end.After(from) && end.Before(to) {
					lanes[i] = append(lanes[i], took)
				}
			}
		})
	}
	time.Sleep(time.Until(from))
	before, err := m.look.counters(ctx)
	if err != nil {
		return nil, err
	}
	time.Sleep(time.Until(to))
	after, err := m.look.counters(ctx)
	if err != nil {
		return nil, err
	}
	workers.Wait()
	if err := failed.Load(); err != nil {
		return nil, *err
	}
	took := flatten(lanes)
	if len(took) == 0 {
		return nil, fmt.Errorf("no run ended in %s", seconds(m.Seconds))
	}
	f := after.since(before, len(took))
	f["runs"] = float64(len(took))
	f["runs_per_s"] = f["runs"] / m.Seconds
	f["steps_per_s"] = f["runs_per_s"] * float64(m.Cell.Steps)
	f["p50_ms"], f["p99_ms"] = percentile(took, 50), percentile(took, 99)
	return f, nil
}

// latency runs one run at a time, in turns one with a single step and one with Steps steps.
func (m *measurement) latency(ctx context.Context) (Figures, error) {
	if err := m.system.Work(ctx); err != nil {
		return nil, err
	}
	from := time.Now().Add(seconds(m.Warm))
	to := from.Add(seconds(m.Seconds))
	var short, long []time.Duration
	for time.Now().Before(to) {
		one, err := m.run(ctx, 1)
		if err != nil {
			return nil, err
		}
		many, err := m.run(ctx, m.Cell.Steps)
		if err != nil {
			return nil, err
		}
		if time.Now().After(from) {
			short, long = append(short, one), append(long, many)
		}
	}
	if len(short) == 0 {
		return nil, fmt.Errorf("no run ended in %s", seconds(m.Seconds))
	}
	f := Figures{"runs": float64(len(short) + len(long))}
	f["one_step_p50_ms"], f["one_step_p99_ms"] = percentile(short, 50), percentile(short, 99)
	f["further_step_ms"] = (percentile(long, 50) - f["one_step_p50_ms"]) / float64(m.Cell.Steps-1)
	return f, nil
}
