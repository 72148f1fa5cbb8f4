package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
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
	setup := Setup{DSN: j.DSN, Workload: j.Cell.Workload, Node: j.Node, Short: j.Cell.Short}
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
		return m.seed(ctx)
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
	before int          // runs that had completed before
}

func newMeasurement(ctx context.Context, j Job, e Engine, s System) (*measurement, error) {
	look, err := newLookout(ctx, j.DSN)
	if err != nil {
		return nil, err
	}
	return &measurement{Job: j, engine: e, system: s, look: look}, nil
}

// seed makes the tables, if opening has not, and gives them some rows.
func (m *measurement) seed(ctx context.Context) error {
	if err := m.system.Work(ctx); err != nil || !m.engine.Does(Chain) {
		return err
	}
	m.number.Store(seedsFrom)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(64)
	for range seeds {
		g.Go(func() error {
			_, err := m.run(ctx, 3)
			return err
		})
	}
	return g.Wait()
}

// closed counts the runs that have completed since the measurement began.
func (m *measurement) closed(ctx context.Context) (int, error) {
	n, err := m.look.count(ctx, m.engine.ClosedSQL())
	return n - m.before, err
}

// begin notes what had completed before.
func (m *measurement) begin(ctx context.Context) (err error) {
	m.before, err = m.closed(ctx)
	return err
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

// chain keeps a number of runs in flight and counts those that end in a window.
func (m *measurement) chain(ctx context.Context) (Figures, error) {
	if err := m.system.Work(ctx); err != nil {
		return nil, err
	}
	var done endings
	var stop atomic.Bool
	g, ctx := errgroup.WithContext(ctx)
	for range m.Flight {
		g.Go(func() error {
			for !stop.Load() && ctx.Err() == nil {
				took, err := m.run(ctx, m.Cell.Steps)
				if err != nil {
					return err
				}
				done.add(took)
			}
			return nil
		})
	}
	w, err := m.window(ctx, &done)
	stop.Store(true)
	if err := errors.Join(g.Wait(), err); err != nil {
		return nil, err
	}
	return w.figures(&done, m.Flight, m.Cell.Steps), nil
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
