package main

import (
	"cmp"
	"os"
	"time"
)

// Role of a child process.
type Role string

const (
	Prepare  Role = "prepare"  // migrate the database, run seeds and end
	Fill     Role = "fill"     // store queued runs and end
	Measure  Role = "measure"  // measure one cell
	Victim   Role = "victim"   // bring runs half-way and hang there
	Survivor Role = "survivor" // be a live worker and report what it resumes
)

// Job tells a child process what to do. It travels as JSON in an argument.
type Job struct {
	Role    Role
	Engine  string
	DSN     string
	Cell    Cell
	Node    string
	Seconds float64 // length of the measurement, or the most it may take
	Warm    float64 // seconds of warm-up
	Flight  int     // chain: runs at once
	Runs    int     // backlog and recover
}

// gogc is the target of the garbage collector in the processes of every engine, as a program that serves would set it,
// unless the environment has one.
const gogc = "400"

const gogcEnv = "GOGC" // Go's own variable

func collectorTarget() string { return cmp.Or(os.Getenv(gogcEnv), gogc) }

// Seeds are runs that a database has completed before anything is measured on it, so that the planner knows the tables
// of a database that lives. Their numbers begin with seedsFrom.
const (
	seeds     = 300
	seedsFrom = 1 << 40
)

// Cell is a row group of the table: one workload with its parameters.
type Cell struct {
	Workload Workload
	Steps    int
	InFlight int  `json:",omitempty"` // of chain; 0: where the engine is fastest
	Short    bool `json:",omitempty"` // leases; recover only
}

// Figures are measured values by name; the unit is the end of the name.
type Figures map[string]float64

// Event is a line of a child's standard output.
type Event struct {
	Name    string // "half", "ready", "figures" or "error"
	Figures Figures
	First   time.Time // recover: when the first run was resumed
	All     time.Time // recover: when all were
	Done    time.Time // recover: when all had completed
	Resumed int
	Error   string
}

// Result is a line of the raw results.
type Result struct {
	At       time.Time
	Machine  string
	Load     string // the machine's load averages when the measurement had ended
	Store    string // kind and version of the database
	Commit   string
	Engine   string
	Version  string
	Settings string
	GOGC     string // of the engine's process, the same for all
	Round    int
	Cell     Cell
	Seconds  float64
	Runs     int `json:",omitempty"`
	Flight   int `json:",omitempty"`
	Figures  Figures
	Error    string `json:",omitempty"`
}

// limits of a child, so that no measurement can take the whole budget.
const (
	halfLimit  = 90 * time.Second // to bring the runs of recover half-way
	childLimit = 4 * time.Minute
)

func seconds(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }
