package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	goruntime "runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"
)

// figures are what a scenario found out. Their names say the unit.
type figures map[string]float64

// settings are what a result depends on.
type settings map[string]any

func (s settings) String() string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(s)) {
		v := s[k]
		if f, ok := v.(float64); ok { // as it was read back
			v = number(f)
		}
		parts = append(parts, fmt.Sprintf("%s %v", words(k), v))
	}
	return strings.Join(parts, ", ")
}

// result is one line of output.
type result struct {
	Scenario string            `json:"scenario"`
	At       time.Time         `json:"at"`
	Round    int               `json:"round,omitempty"`
	MedianOf int               `json:"median_of,omitempty"`
	Commit   string            `json:"commit"`
	Note     string            `json:"note,omitempty"`
	Machine  machine           `json:"machine"`
	Server   map[string]string `json:"server"`
	Settings settings          `json:"settings"`
	Figures  figures           `json:"figures"`
	Targets  []target          `json:"targets,omitempty"`
	Postgres *counters         `json:"counters,omitempty"`
}

// machine is where it ran.
type machine struct {
	CPUs     int     `json:"cpus"`
	Model    string  `json:"model,omitempty"`
	Memory   string  `json:"memory,omitempty"`
	OS       string  `json:"os"`
	Go       string  `json:"go"`
	GOGC     string  `json:"gogc"` // of the driver, with the engine in it
	Postgres string  `json:"postgres,omitempty"`
	Load     float64 `json:"load"` // one-minute average when the program began: above 0, something else was at work
}

// reporter prints results and keeps their figures for the medians.
type reporter struct {
	out     io.Writer
	json    bool
	raw     io.Writer // gets JSON lines whatever out gets; nil for none
	note    string
	commit  string
	machine machine
	server  map[string]string
	kept    map[string][]result // by scenario and settings
	order   []string
}

func newReporter(out, raw io.Writer, o options, r *rig) *reporter {
	return &reporter{
		out: out, raw: raw, json: o.json, note: o.note, commit: commit(), server: r.settings, kept: map[string][]result{},
		machine: machine{
			CPUs: goruntime.NumCPU(), Model: fileField("/proc/cpuinfo", "model name"), Memory: fileField("/proc/meminfo", "MemTotal"),
			OS: goruntime.GOOS + "/" + goruntime.GOARCH, Go: goruntime.Version(), GOGC: collectorTarget(), Postgres: r.version, Load: loadAverage(),
		},
	}
}

// commit names the state of the source, or "unknown" outside of a checkout.
func commit() string {
	head, err := exec.Command("git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	name := strings.TrimSpace(string(head))
	if status, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no").Output(); err != nil || len(status) > 0 {
		name += "+changes"
	}
	return name
}

// bench is one scenario at work.
type bench struct {
	*rig
	o        options
	report   *reporter
	scenario string
	round    int
}

// emit prints a result.
func (b *bench) emit(s settings, f figures, c *counters, targets ...target) error {
	r := result{Scenario: b.scenario, Round: b.round, Settings: s, Figures: f, Targets: held(targets, f), Postgres: c}
	key := b.scenario + s.String()
	if b.report.kept[key] == nil {
		b.report.order = append(b.report.order, key)
	}
	b.report.kept[key] = append(b.report.kept[key], r)
	return b.report.print(r)
}

func (p *reporter) print(r result) error {
	r.At, r.Commit, r.Note, r.Machine, r.Server = time.Now().UTC(), p.commit, p.note, p.machine, p.server
	if p.raw != nil {
		if err := json.NewEncoder(p.raw).Encode(r); err != nil {
			return err
		}
	}
	if p.json {
		return json.NewEncoder(p.out).Encode(r)
	}
	var t strings.Builder
	title := r.Scenario
	if r.MedianOf > 0 {
		title += fmt.Sprintf(", median of %d", r.MedianOf)
	}
	fmt.Fprintf(&t, "\n%s", title)
	for _, k := range slices.Sorted(maps.Keys(r.Settings)) {
		fmt.Fprintf(&t, "  %s=%v", k, r.Settings[k])
	}
	t.WriteByte('\n')
	for _, k := range slices.Sorted(maps.Keys(r.Figures)) {
		fmt.Fprintf(&t, "  %-34s %14s\n", k, number(r.Figures[k]))
	}
	text(r.Targets, &t)
	if c := r.Postgres; c != nil {
		c.text(&t)
	}
	_, err := io.WriteString(p.out, t.String())
	return err
}

func (c *counters) text(t *strings.Builder) {
	fmt.Fprintf(t, "  in %.2f s: ", c.Seconds)
	if s := c.ServerCounters; s != nil {
		fmt.Fprintf(t, "%d transactions (%d wrote), ", s.Transactions, s.WriteTransactions)
		if s.Statements != nil {
			fmt.Fprintf(t, "%d statements, ", *s.Statements)
		}
		fmt.Fprintf(t, "%s bytes of WAL with %d page images, ", number(float64(s.WALBytes)), s.WALPageImages)
		if s.PostgresCPU != nil {
			fmt.Fprintf(t, "CPU: Postgres %.2f s, ", *s.PostgresCPU)
		}
	}
	fmt.Fprintf(t, "driver %.2f s of CPU\n", c.DriverCPU)
	c.PerRun.text(t, "run")
	c.PerStep.text(t, "step")
	if c.ServerCounters == nil {
		return
	}
	for _, s := range c.Top {
		fmt.Fprintf(t, "    %9.1f ms %8d calls %9d rows %11d bytes of WAL  %s\n", s.Milliseconds, s.Calls, s.Rows, s.WALBytes, s.Text)
	}
}

func (p *perUnit) text(t *strings.Builder, unit string) {
	if p == nil {
		return
	}
	fmt.Fprintf(t, "  a %s: ", unit)
	if s := p.ServerPerUnit; s != nil {
		fmt.Fprintf(t, "%.3f transactions (%.3f wrote), %s bytes of WAL, ", s.Transactions, s.WriteTransactions, number(s.WALBytes))
		if s.PostgresCPU != nil {
			fmt.Fprintf(t, "CPU: Postgres %.1f µs, ", *s.PostgresCPU)
		}
	}
	fmt.Fprintf(t, "driver %.1f µs of CPU\n", p.DriverCPU)
}

// medians prints, after several rounds, each figure's median.
func (p *reporter) medians() error {
	for _, key := range p.order {
		list := p.kept[key]
		if len(list) < 2 {
			continue
		}
		m := result{Scenario: list[0].Scenario, MedianOf: len(list), Settings: list[0].Settings, Figures: figures{}}
		for name := range list[0].Figures {
			var all []float64
			for _, r := range list {
				all = append(all, r.Figures[name])
			}
			slices.Sort(all)
			m.Figures[name] = all[len(all)/2]
		}
		m.Targets = held(list[0].Targets, m.Figures)
		if err := p.print(m); err != nil {
			return err
		}
	}
	return nil
}

// profiles starts what -cpuprofile and -memprofile ask for.
func profiles(o options) (stop func() error, err error) {
	var cpu *os.File
	if o.cpuProfile != "" {
		if cpu, err = os.Create(o.cpuProfile); err != nil {
			return nil, err
		}
		if err := pprof.StartCPUProfile(cpu); err != nil {
			return nil, errors.Join(err, cpu.Close())
		}
	}
	return func() error {
		var err error
		if cpu != nil {
			pprof.StopCPUProfile()
			err = cpu.Close()
		}
		if o.memProfile == "" {
			return err
		}
		mem, createErr := os.Create(o.memProfile)
		if createErr != nil {
			return errors.Join(err, createErr)
		}
		return errors.Join(err, pprof.Lookup("allocs").WriteTo(mem, 0), mem.Close())
	}, nil
}
