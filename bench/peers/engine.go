package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
)

// Engine is a product under test.
type Engine interface {
	Name() string
	Module() string // whose version the results name
	Does(w Workload) bool
	Settings(s Setup) string // what differs from the product's defaults, in words
	Open(ctx context.Context, s Setup) (System, error)
	// InFlight is how many runs at once chain keeps up, where it is fastest.
	InFlight(s Setup, steps int) int
	// Queued returns how many of n queued runs it gets, so that it drains them in the time of a measurement.
	Queued(n int) int

	// ClosedSQL counts the runs that have completed.
	ClosedSQL() string
	// StoredSQL selects input and output of each completed run, as they are stored; Decode reads them.
	StoredSQL() string
	Decode(in, out []byte) (n, result int64, err error)
}

// hosted is an Engine with a server of its own, which keeps its state there and not in the database of the others.
type hosted interface {
	host(ctx context.Context) (site, error)
}

// System is an engine on one database in this process.
type System interface {
	// Work starts the workers and returns when they are ready. They work until the process ends.
	Work(ctx context.Context) error
	// Run starts a run and waits for its result.
	Run(ctx context.Context, in Input) (int64, error)
	// Start starts a run on this process's workers and does not wait.
	Start(ctx context.Context, in Input) error
	// Queue stores runs for workers that start later.
	Queue(ctx context.Context, ins []Input) error
}

// Setup says what a system is opened for.
type Setup struct {
	DSN      string
	Workload Workload
	Node     string // name of the process
	Short    bool   // leases at the shortest sensible setting rather than the product's default
}

// Workload is a kind of measurement.
type Workload string

const (
	Chain   Workload = "chain"
	Latency Workload = "latency"
	Backlog Workload = "backlog"
	Recover Workload = "recover"
)

var workloads = []Workload{Chain, Latency, Backlog, Recover}

// engines in the order of the table. Ratios are to the first.
var engines = []Engine{reprise{}, restateEngine{}, transact{}, goWorkflows{}, plainRiver{}}

func findEngine(name string) (Engine, error) {
	i := slices.IndexFunc(engines, func(e Engine) bool { return e.Name() == name })
	if i < 0 {
		return nil, fmt.Errorf("no engine %q", name)
	}
	return engines[i], nil
}

// version returns the version of a module that this program was built with.
func version(module string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, m := range info.Deps {
		if m.Path == module && m.Replace == nil {
			return m.Version
		}
	}
	return "this commit"
}
