package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	if dsn := os.Getenv(victimEnv); dsn != "" {
		os.Exit(victim(dsn))
	}
	var err error
	if shared, err = newRig(context.Background(), options{noFsync: true, pgSettings: map[string]string{}}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := shared.close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// shared is the server of all tests.
var shared *rig

// tiny is what each scenario is run with. A scenario that is missing here fails TestScenarios.
var tiny = map[string][]string{
	"start":     {"-runs", "50", "-concurrency", "8", "-nodes", "2"},
	"chain":     {"-runs", "30", "-concurrency", "8", "-steps", "1,3", "-nodes", "2"},
	"ceiling":   {"-seconds", "0.1", "-concurrency", "8", "-steps", "1,3"},
	"latency":   {"-runs", "20"},
	"fanout":    {"-runs", "8"},
	"flows":     {"-runs", "1"},
	"limits":    {"-seconds", "0.3", "-concurrency", "50"},
	"waiting":   {"-seconds", "0.1", "-queued", "200"},
	"children":  {"-runs", "1"},
	"signal":    {"-runs", "40", "-concurrency", "4"},
	"timer":     {"-runs", "100", "-concurrency", "8"},
	"parked":    {"-runs", "100", "-concurrency", "8"},
	"backlog":   {"-runs", "40", "-queued", "100"},
	"recover":   {"-runs", "20"},
	"replay":    {"-runs", "2", "-steps", "2,100"},
	"idle":      {"-seconds", "0.3"},
	"schedules": {"-runs", "20"},
	"gather":    {"-runs", "30", "-concurrency", "4"},
	"soak":      {"-seconds", "1", "-concurrency", "4"},
	"horizon":   {"-seconds", "1.5", "-concurrency", "4", "-queued", "8"},

	"fair/held":     {"-seconds", "0.2", "-queued", "8"},
	"fair/large":    {"-seconds", "0.5", "-steps", "2"},
	"fair/priority": {"-runs", "2", "-steps", "20"},
	"fair/nodes":    {"-runs", "8"},
	"fair/failing":  {"-seconds", "0.5", "-queued", "10"},
	"fair/results":  {"-seconds", "0.3", "-queued", "10"},
	"fair/renewals": {"-seconds", "0.5", "-nodes", "3"},
}

// line is the part of a result that every scenario must fill.
type line struct {
	Scenario string             `json:"scenario"`
	Commit   string             `json:"commit"`
	Machine  machine            `json:"machine"`
	Server   map[string]string  `json:"server"`
	Settings map[string]any     `json:"settings"`
	Figures  map[string]float64 `json:"figures"`
	Counters *counters          `json:"counters"`
}

// Each scenario runs once, so that none rots.
func TestScenarios(t *testing.T) {
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			args := tiny[s.name]
			if args == nil {
				t.Fatal("the scenario has no tiny form")
			}
			var out bytes.Buffer
			if err := run(t.Context(), append(args, "-dsn", shared.dsn, "-json", s.name), &out); err != nil {
				t.Fatal(err)
			}
			for text := range strings.Lines(out.String()) {
				checkLine(t, s.name, text)
			}
			if out.Len() == 0 {
				t.Error("no result")
			}
		})
	}
	if n, err := databases(t, shared); err != nil || n != 0 {
		t.Errorf("%d databases were left behind: %v", n, err)
	}
}

func checkLine(t *testing.T, scenario, text string) {
	t.Helper()
	var l line
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if l.Scenario != scenario || l.Commit == "" || l.Machine.CPUs == 0 || l.Machine.Postgres == "" || l.Server["fsync"] == "" {
		t.Errorf("the line does not say what it is about: %s", text)
	}
	if l.Scenario == "ceiling" && (l.Figures["chain_share"] <= 0 || l.Figures["chain_driver_cpu_us_per_run"] <= 0) {
		t.Errorf("the ceiling does not say what chain reaches of it: %s", text)
	}
	if l.Scenario == "horizon" && (l.Figures["held_back_transactions"] <= 0 || l.Figures["renewals"] <= 0 || l.Figures["renewal_p99_ms"] <= 0 ||
		l.Figures["claims"] <= 0 || l.Figures["last_to_first_runs"] <= 0) {
		t.Errorf("nothing was held back, or nothing went on meanwhile: %s", text)
	}
	if !slices.ContainsFunc(keyFigures[l.Scenario], func(name string) bool { _, ok := l.Figures[name]; return ok }) {
		t.Errorf("a summary would show no figure of this: %s", text)
	}
	if len(l.Settings) == 0 || len(l.Figures) == 0 {
		t.Errorf("no settings or no figures: %s", text)
	}
	if c := l.Counters; c != nil && (c.Transactions < 1 || c.Seconds <= 0 || c.WALBytes < 1 && scenario != "idle" && scenario != "fair/renewals") {
		t.Errorf("the counters stood still: %s", text)
	}
}

func databases(t *testing.T, r *rig) (n int, err error) {
	err = r.admin.QueryRow(t.Context(), `SELECT count(*) FROM pg_database WHERE datname LIKE 'reprise_bench_%'`).Scan(&n)
	return n, err
}

// What the scenarios claim to count is what was made.
func TestChainCounts(t *testing.T) {
	var out bytes.Buffer
	o := options{runs: 20, concurrency: 1, nodes: 1}
	b := &bench{rig: shared, o: o, report: newReporter(&out, nil, o, shared)}
	err := b.inFresh(t.Context(), func(d *database) error {
		f, c, err := b.chain(t.Context(), d, 3)
		if err != nil {
			return err
		}
		// One at a time: a start and three commits, each a transaction of its own.
		if f["commit_batch"] != 1 || f["start_batch"] != 1 {
			t.Errorf("batches of %v and %v, want 1 and 1", f["commit_batch"], f["start_batch"])
		}
		if got := c.PerRun.WriteTransactions; got < 4 || got > 6 {
			t.Errorf("%v write transactions a run, want 4, and some of the node's and the server's own", got)
		}
		events, err := d.count(t.Context(), `SELECT count(*) FROM reprise.events`)
		if want := (20 + warmUps) * 5; err != nil || events != want {
			t.Errorf("%d events (%v), want %d", events, err, want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFlags(t *testing.T) {
	for _, tc := range []struct{ args, want string }{
		{"-store clay chain", `no store "clay"`},
		{"nonsense", `no scenario "nonsense"`},
		{"chain -steps 0", "positive"},
		{"chain -runs -1", "negative"},
		{"-store sqlite idle", "needs Postgres"},
		{"-out /no/such/folder/x chain", "no such file"},
		{"-dsn postgres://x -pg fsync=off chain", "private server"},
		{"timer -seconds 1", "-runs"},
		{"ceiling -runs 1", "-seconds"},
		{"soak -runs 1", "-seconds"},
		{"horizon -runs 1", "-seconds"},
	} {
		err := run(t.Context(), strings.Fields(tc.args), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want something about %s", tc.args, err, tc.want)
		}
	}
	o, names, err := parse(strings.Fields("chain -steps 1,3 latency -runs 5"), nil, &bytes.Buffer{})
	if err != nil || strings.Join(names, " ") != "chain latency" || len(o.steps) != 2 || o.runs != 5 {
		t.Errorf("flags between names: %v %v %v", names, o, err)
	}
}

// A summary has a row for each result that a file holds, and shows the median of several rounds.
func TestSummary(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.jsonl")
	args := append(slices.Clone(tiny["start"]), "-dsn", shared.dsn, "-out", path, "-rounds", "3", "start")
	if err := run(t.Context(), args, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if lines := bytes.Count(text, []byte("\n")); err != nil || lines != 4 {
		t.Errorf("%d lines (%v), want 3 rounds and their median", lines, err)
	}
	if err := run(t.Context(), args, &bytes.Buffer{}); err == nil {
		t.Error("old results were written over")
	}
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-summary", path}, &out); err != nil {
		t.Fatal(err)
	}
	if rows := strings.Count(out.String(), "| start |"); rows != 1 || !strings.Contains(out.String(), "starts per second") {
		t.Errorf("want one row of start in\n%s", out.String())
	}
}

func TestMedians(t *testing.T) {
	var out bytes.Buffer
	p := newReporter(&out, nil, options{json: true}, &rig{})
	b := &bench{report: p, scenario: "chain"}
	for _, v := range []float64{3, 1, 2} {
		if err := b.emit(settings{"steps": 1}, figures{"runs_per_second": v}, nil); err != nil {
			t.Fatal(err)
		}
	}
	out.Reset()
	if err := p.medians(); err != nil {
		t.Fatal(err)
	}
	var r result
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || r.MedianOf != 3 || r.Figures["runs_per_second"] != 2 {
		t.Errorf("got %s (%v), want the median 2 of 3", out.String(), err)
	}
}

func TestHistogram(t *testing.T) {
	var h histogram
	for i := range 1000 {
		h.add(time.Duration(i+1) * time.Millisecond)
	}
	for share, want := range map[float64]time.Duration{.5: 500 * time.Millisecond, .99: 990 * time.Millisecond} {
		if got := h.at(share); got < want || got > want*104/100 {
			t.Errorf("%v: %s, want %s and at most a class more", share, got, want)
		}
	}
	h.add(time.Hour * 1e6) // beyond the last class
	if h.count != 1001 {
		t.Errorf("counted %d", h.count)
	}
}
