package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// plan says what is measured and for how long. The whole plan must fit into make bench-compare's 20 minutes.
type plan struct {
	engines   []string
	workloads []Workload
	rounds    int
	chain     float64 // seconds a cell
	warm      float64 // seconds of warm-up before it
	latency   float64 // seconds
	box       float64 // seconds that draining a backlog may take
	backlog   int     // queued runs
	recover   int     // runs
	steps     []int   // of chain
	inFlight  []int   // of chain; 0: where the engine is fastest
	wait      float64 // seconds a survivor waits for runs with short leases; half of it without leases
	waitLong  float64 // and with the product's default leases
	defaults  bool    // measure recover with default leases too, once
}

const longSteps = 10 // of latency's longer runs and of recover

// cells of a round, in the order of the table.
func (p *plan) cells(round int) []Cell {
	var cells []Cell
	for _, w := range workloads {
		if !slices.Contains(p.workloads, w) {
			continue
		}
		switch w {
		case Chain:
			for _, steps := range p.steps {
				for _, n := range p.inFlight {
					cells = append(cells, Cell{Workload: w, Steps: steps, InFlight: n})
				}
			}
		case Latency:
			cells = append(cells, Cell{Workload: w, Steps: longSteps, InFlight: 1})
		case Backlog:
			cells = append(cells, Cell{Workload: w, Steps: 1})
		case Recover:
			cells = append(cells, Cell{Workload: w, Steps: longSteps, Short: true})
			if p.defaults && round == 0 {
				cells = append(cells, Cell{Workload: w, Steps: longSteps})
			}
		}
	}
	return cells
}

// leases tells whether an engine has leases. One without them has nothing to set, so one cell of recover is enough.
func leases(e Engine) bool { return e.Name() != transact{}.Name() }

// job of an engine in a cell.
func (p *plan) job(e Engine, c Cell, dsn string) Job {
	j := Job{Role: Measure, Engine: e.Name(), DSN: dsn, Cell: c, Node: "bench", Warm: p.warm}
	switch c.Workload {
	case Chain:
		j.Seconds, j.Flight = p.chain, c.InFlight
		if j.Flight == 0 {
			j.Flight = e.InFlight(Setup{DSN: dsn}, c.Steps)
		}
	case Latency:
		j.Seconds = p.latency
	case Backlog:
		j.Seconds, j.Runs = p.box, e.Queued(p.backlog)
	case Recover:
		j.Seconds, j.Runs = p.wait, p.recover
		switch {
		case !leases(e):
			j.Seconds = p.wait / 2 // it waits for nothing
		case !c.Short:
			j.Seconds = p.waitLong
		}
	}
	return j
}

// bench carries out a plan.
type bench struct {
	plan
	server  site
	hosts   map[string]site // of engines that have one of their own
	log     io.Writer
	save    func(Result) error
	empty   map[string]string // migrated database by engine
	full    map[string]string // database with a backlog by engine
	results []Result
}

// Run measures everything. A measurement that fails is a result with an error; the rest goes on.
func (b *bench) Run(ctx context.Context) error {
	b.empty, b.full, b.hosts = map[string]string{}, map[string]string{}, map[string]site{}
	defer func() {
		for _, h := range b.hosts {
			h.stop(context.WithoutCancel(ctx))
		}
	}()
	if err := b.prepare(ctx); err != nil {
		return err
	}
	for round := range b.rounds {
		for _, c := range b.cells(round) {
			if err := b.cell(ctx, round, c); err != nil {
				return err
			}
		}
	}
	return nil
}

// site of an engine: where its databases are made.
func (b *bench) site(ctx context.Context, e Engine) (site, error) {
	own, ok := e.(hosted)
	if !ok {
		return b.server, nil
	}
	if h := b.hosts[e.Name()]; h != nil {
		return h, nil
	}
	h, err := own.host(ctx)
	if err == nil {
		b.hosts[e.Name()] = h
	}
	return h, err
}

// prepare makes the databases that measurements start from.
func (b *bench) prepare(ctx context.Context) error {
	for _, name := range b.engines {
		e, err := findEngine(name)
		if err != nil {
			return err
		}
		at, err := b.site(ctx, e)
		if err != nil {
			return err
		}
		if b.empty[name], err = at.create(ctx, ""); err != nil {
			return err
		}
		j := Job{Role: Prepare, Engine: name, DSN: at.address(b.empty[name]), Node: "prepare", Cell: Cell{Workload: Chain, Steps: 1}}
		if err := runProcess(ctx, j); err != nil {
			return err
		}
		if err := at.settle(ctx, b.empty[name]); err != nil {
			return err
		}
		if !slices.Contains(b.workloads, Backlog) || !e.Does(Backlog) {
			continue
		}
		began := time.Now()
		if b.full[name], err = at.create(ctx, b.empty[name]); err != nil {
			return err
		}
		j = b.job(e, Cell{Workload: Backlog, Steps: 1}, at.address(b.full[name]))
		j.Role, j.Node = Fill, "fill"
		if err := runProcess(ctx, j); err != nil {
			return err
		}
		if err := at.settle(ctx, b.full[name]); err != nil {
			return err
		}
		fmt.Fprintf(b.log, "queued %d runs of %s in %s\n", j.Runs, name, time.Since(began).Round(100*time.Millisecond))
	}
	return nil
}

// cell measures all engines in one cell. Each round another one is first.
func (b *bench) cell(ctx context.Context, round int, c Cell) error {
	for i := range b.engines {
		e, err := findEngine(b.engines[(i+round)%len(b.engines)])
		if err != nil {
			return err
		}
		if !e.Does(c.Workload) || c.Workload == Recover && !c.Short && !leases(e) {
			continue
		}
		if err := b.one(ctx, round, c, e); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) one(ctx context.Context, round int, c Cell, e Engine) error {
	template := b.empty[e.Name()]
	if c.Workload == Backlog {
		template = b.full[e.Name()]
	}
	at, err := b.site(ctx, e)
	if err != nil {
		return err
	}
	name, err := at.create(ctx, template)
	if err != nil {
		return err
	}
	defer at.drop(ctx, name)
	if err := at.checkpoint(ctx); err != nil {
		return err
	}
	j := b.job(e, c, at.address(name))
	measure := measureProcess
	if c.Workload == Recover {
		measure = recoverProcesses
	}
	figures, err := measure(ctx, j)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r := Result{
		At: time.Now().UTC(), Store: at.about(), Engine: e.Name(), Version: version(e.Module()),
		Settings: e.Settings(Setup{DSN: j.DSN, Workload: c.Workload, Short: c.Short}),
		GOGC:     collectorTarget(), Round: round + 1, Cell: c, Seconds: j.Seconds, Runs: j.Runs, Flight: j.Flight, Figures: figures,
	}
	if err != nil {
		r.Error = err.Error()
	}
	b.results = append(b.results, r)
	fmt.Fprintf(b.log, "round %d  %-34s %-13s %s\n", r.Round, c, r.Engine, r.summary())
	return b.save(r)
}
