package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// keyFigures are those of each scenario that a summary shows, if a result has them.
var keyFigures = map[string][]string{
	"start":   {"starts_per_second", "start_p50_ms", "start_p99_ms"},
	"chain":   {"runs_per_second", "steps_per_second", "start_to_result_p50_ms", "start_to_result_p99_ms"},
	"ceiling": {"runs_per_second", "chain_runs_per_second", "chain_share", "chain_cpu_share"},
	"latency": {
		"raw_commit_p50_ms", "one_step_run_p50_ms", "one_step_run_in_raw_commits", "further_step_p50_ms", "further_step_in_raw_commits",
	},
	"fanout":    {"steps_per_second", "start_to_result_p50_ms"},
	"flows":     {"nodes_per_second", "commits_per_node"},
	"limits":    {"unlimited_per_second", "limited_per_second", "to_unlimited"},
	"waiting":   {"other_key_to_empty", "no_limit_to_empty", "full_other_key_p50_ms", "in_line_per_second"},
	"children":  {"children_per_second", "start_to_result_p50_ms"},
	"signal":    {"round_trips_per_second", "round_trip_p50_ms", "round_trip_p99_ms", "sent_per_second", "received_per_second"},
	"timer":     {"fired_late_p50_ms", "fired_late_p99_ms", "all_fired_seconds", "fired_per_second"},
	"parked":    {"created_per_second", "database_bytes_per_run", "idle_heap_growth_mb", "idle_resident_growth_mb", "chain_after_to_before"},
	"backlog":   {"runs_per_second", "claim_us_per_task", "claim_server_us_per_task"},
	"recover":   {"first_resumed_seconds", "last_resumed_seconds", "all_done_seconds"},
	"replay":    {"machine_events_per_second", "cold_events_per_second", "warm_step_p50_ms"},
	"idle":      {"statements_per_second"},
	"gather":    {"signals_per_second", "puts_per_second", "adds_per_second", "puts_to_signals", "adds_to_signals"},
	"schedules": {"late_p50_ms", "late_p99_ms", "slots_per_second", "added_statements_per_second", "applied_per_second"},
	"soak": {
		"runs_per_second", "last_to_first_runs", "last_to_first_p99", "first_goroutines", "last_goroutines", "first_heap_mb", "last_heap_mb",
	},
	"horizon": {
		"runs_per_second", "last_to_first_runs", "last_to_first_p99", "renewal_p50_ms", "renewal_p99_ms", "renewals_failed",
		"first_claim_p50_ms", "last_claim_p50_ms", "held_back_transactions",
	},
	"fair/held":     {"held_to_open", "held_turns_per_second"},
	"fair/large":    {"p99_ratio", "without_p99_ms", "large_to_ideal"},
	"fair/priority": {"worst_start_in_steps", "without_p50_ms"},
	"fair/nodes":    {"to_ideal", "least_share"},
	"fair/failing":  {"p99_ratio", "without_p99_ms"},
	"fair/results":  {"all_kb_per_second", "one_kb_per_second"},
	"fair/renewals": {"server_cores", "statements_per_second"},
}

// summarize prints the results in a file of JSON lines as a Markdown table, below where and when
// they were measured.
func summarize(w io.Writer, path string) error {
	results, err := readResults(path)
	if err != nil {
		return err
	}
	first, m := results[0], results[0].Machine
	fmt.Fprintf(w, "%d × %s, %s, %s with GOGC=%s; %s; commit %s; %s; load average %.1f before\n\n", m.CPUs, m.Model, m.OS, m.Go, m.GOGC,
		storeName(first), first.Commit, first.At.Format("2006-01-02"), m.Load)
	fmt.Fprintf(w, "| scenario | settings | figures |\n|---|---|---|\n")
	for _, r := range results {
		fmt.Fprintf(w, "| %s | %s | %s |\n", r.Scenario, r.Settings, r.keyFigures())
	}
	return nil
}

func storeName(r result) string {
	if r.Machine.Postgres == "" {
		return fmt.Sprintf("SQLite, synchronous %s", r.Server["synchronous"])
	}
	return fmt.Sprintf("Postgres %s, fsync %s, synchronous_commit %s", r.Machine.Postgres, r.Server["fsync"], r.Server["synchronous_commit"])
}

// readResults returns one result for each scenario and settings: the median of rounds if there is
// one, else the last.
func readResults(path string) ([]result, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var results []result
	at := map[string]int{}
	for lines := json.NewDecoder(file); ; {
		var r result
		err := lines.Decode(&r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		key := r.Scenario + r.Settings.String()
		if i, ok := at[key]; ok {
			results[i] = r // medians follow the rounds
			continue
		}
		at[key] = len(results)
		results = append(results, r)
	}
	if len(results) == 0 {
		return nil, fmt.Errorf("%s holds no results", path)
	}
	return results, nil
}

func (r *result) keyFigures() string {
	var parts []string
	for _, name := range keyFigures[r.Scenario] {
		if v, ok := r.Figures[name]; ok {
			parts = append(parts, words(name)+" "+number(v))
		}
	}
	for _, t := range r.Targets {
		parts = append(parts, t.String())
	}
	if c := r.Postgres; c != nil && c.PerRun != nil && c.PerRun.ServerPerUnit != nil {
		parts = append(parts, fmt.Sprintf("a run %s transactions and %s bytes of WAL", number(c.PerRun.WriteTransactions), number(c.PerRun.WALBytes)))
	}
	return strings.Join(parts, "; ")
}
