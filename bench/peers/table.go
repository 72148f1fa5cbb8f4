package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// String names a cell in the table.
func (c Cell) String() string {
	switch c.Workload {
	case Chain:
		if c.InFlight == 0 {
			return fmt.Sprintf("chain, steps %d", c.Steps)
		}
		return fmt.Sprintf("chain, steps %d, %d in flight", c.Steps, c.InFlight)
	case Latency:
		return "latency, one run at a time"
	case Backlog:
		return "backlog, one-step runs"
	}
	if c.Short {
		return "recover, short leases"
	}
	return "recover, default leases"
}

// keyFigures are what engines are compared by.
func (w Workload) keyFigures() (names []string, lowerIsBetter bool) {
	switch w {
	case Latency:
		return []string{"one_step_p50_ms", "further_step_ms"}, true
	case Recover:
		return []string{"first_s", "last_s"}, true
	}
	return []string{"runs_per_s"}, false
}

// figure formats a value with three significant digits and thousands apart.
func figure(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	if math.Abs(v) < 1000 {
		return fmt.Sprintf("%.3g", v)
	}
	step := math.Pow(10, math.Floor(math.Log10(math.Abs(v)))-2)
	digits := fmt.Sprintf("%.0f", math.Round(v/step)*step)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// summary of one result, or of the medians of several.
func (r Result) summary() string {
	if r.Error != "" {
		return "failed: " + r.Error
	}
	f := r.Figures
	of := func(name string) string {
		v, ok := f[name]
		if !ok {
			v = math.NaN()
		}
		return figure(v)
	}
	switch r.Cell.Workload {
	case Chain:
		text := of("runs_per_s") + " runs/s"
		if r.Cell.Steps > 1 {
			text += ", " + of("steps_per_s") + " steps/s"
		}
		text += fmt.Sprintf(", %d in flight, p50 %s ms, p99 %s ms", r.Flight, of("p50_ms"), of("p99_ms"))
		if _, ok := f["wal_per_run_bytes"]; ok {
			text += fmt.Sprintf(", %s tx and %s B of WAL a run", of("transactions_per_run"), of("wal_per_run_bytes"))
		}
		return text
	case Latency:
		return fmt.Sprintf("one step p50 %s ms, p99 %s ms; each further step %s ms", of("one_step_p50_ms"), of("one_step_p99_ms"), of("further_step_ms"))
	case Backlog:
		return fmt.Sprintf("%s runs/s, %s of %s in %s s", of("runs_per_s"), of("runs"), figure(float64(r.Runs)), of("took_s"))
	}
	if f["resumed"] == 0 {
		return fmt.Sprintf("the live worker resumed none in %s s; a restart under the dead one's name resumed %s, first after %s s, last after %s s",
			figure(r.Seconds), of("restart_resumed"), of("restart_first_s"), of("restart_last_s"))
	}
	return fmt.Sprintf("first resumed after %s s, last of %s after %s s, all done after %s s", of("first_s"), of("resumed"), of("last_s"), of("done_s"))
}

// writeTable prints the medians of all rounds as a Markdown table.
func writeTable(w io.Writer, results []Result) {
	fmt.Fprintln(w, "| workload | engine | figures (median of rounds) | Reprise is better by |")
	fmt.Fprintln(w, "|---|---|---|---|")
	var cells []Cell
	for _, r := range results {
		if !slices.Contains(cells, r.Cell) {
			cells = append(cells, r.Cell)
		}
	}
	for _, c := range cells {
		for _, e := range engines {
			of := choose(results, c, e.Name())
			if len(of) == 0 {
				continue
			}
			fmt.Fprintf(w, "| %s | %s %s | %s%s | %s |\n", c, e.Name(), of[0].Version, medians(of).summary(), failures(of),
				ratios(choose(results, c, engines[0].Name()), of))
		}
	}
}

// writeSettings prints how each engine was set, once for each distinct text.
func writeSettings(w io.Writer, results []Result) {
	said := map[string]bool{}
	for _, e := range engines {
		for _, r := range results {
			line := fmt.Sprintf("- %s %s, %s: %s\n", r.Engine, r.Version, r.Cell.Workload, r.Settings)
			if r.Engine == e.Name() && !said[line] {
				said[line] = true
				fmt.Fprint(w, line)
			}
		}
	}
}

// failures says how many rounds are missing in the medians.
func failures(of []Result) string {
	failed := 0
	for _, r := range of {
		if r.Error != "" {
			failed++
		}
	}
	if failed == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d of %d rounds failed)", failed, len(of))
}

func choose(results []Result, c Cell, engine string) []Result {
	var of []Result
	for _, r := range results {
		if r.Cell == c && r.Engine == engine {
			of = append(of, r)
		}
	}
	return of
}

// medians returns a result with the median of each figure of the rounds that succeeded.
func medians(of []Result) Result {
	m, values := of[0], map[string][]float64{}
	m.Figures, m.Error = Figures{}, ""
	for _, r := range of {
		if r.Error != "" {
			m.Error = r.Error
			continue
		}
		for name, v := range r.Figures {
			values[name] = append(values[name], v)
		}
	}
	for name, v := range values {
		m.Figures[name] = median(v)
	}
	if len(values) > 0 {
		m.Error = ""
	}
	return m
}

// ratios compares a peer with the base round by round and returns the medians; above 1 the base is better.
func ratios(base, peer []Result) string {
	if len(base) == 0 || base[0].Engine == peer[0].Engine {
		return ""
	}
	names, lower := peer[0].Cell.Workload.keyFigures()
	var texts []string
	for _, name := range names {
		var values []float64
		for _, p := range peer {
			for _, b := range base {
				ours, ok := b.Figures[name]
				theirs, also := p.Figures[name]
				if b.Round != p.Round || !ok || !also {
					continue
				}
				if lower {
					ours, theirs = theirs, ours
				}
				values = append(values, ours/theirs)
			}
		}
		if len(values) == 0 {
			texts = append(texts, "–")
			continue
		}
		texts = append(texts, figure(median(values))+" ×")
	}
	return strings.Join(texts, "; ")
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}
