package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary be its own child, as the program is.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == childFlag {
		if child(context.Background(), os.Args[2], os.Stdout) != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestCompare carries out tiny plans with every engine and every workload.
func TestCompare(t *testing.T) {
	server, err := startServer(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer server.stop(context.Background())
	t.Run("throughput", func(t *testing.T) {
		testPlan(t, server, plan{
			engines: []string{"Reprise", "Restate", "DBOS", "go-workflows", "River"}, workloads: []Workload{Chain, Latency, Backlog},
			rounds: 1, chain: 0.3, warm: 0.1, latency: 0.3, box: 20, backlog: 100, steps: []int{3}, inFlight: []int{8},
		})
	})
	for name, p := range map[string]plan{
		"recover":              {engines: []string{"Reprise", "DBOS"}, wait: 4}, // DBOS is waited for in vain
		"recover go-workflows": {engines: []string{"go-workflows"}, wait: 30},
	} {
		t.Run(name, func(t *testing.T) {
			p.workloads, p.rounds, p.recover = []Workload{Recover}, 1, 10
			testPlan(t, server, p)
		})
	}
}

// TestCompareSQLite does the same without a server.
func TestCompareSQLite(t *testing.T) {
	folder, err := newFiles()
	if err != nil {
		t.Fatal(err)
	}
	defer folder.stop(t.Context())
	testPlan(t, folder, plan{
		engines: sqliteEngines, workloads: sqliteWorkloads, rounds: 1, chain: 0.3, warm: 0.1, steps: []int{3}, inFlight: []int{8},
	})
}

func testPlan(t *testing.T, where site, p plan) {
	t.Helper()
	var saved strings.Builder
	b := &bench{plan: p, server: where, log: t.Output(), save: saver(&saved)}
	if err := b.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, r := range b.results {
		checkResult(t, r)
	}
	if lines := strings.Count(saved.String(), "\n"); lines != len(b.results) || lines == 0 {
		t.Errorf("saved %d lines of %d results", lines, len(b.results))
	}
	var table strings.Builder
	report(&table, b, time.Second, "raw.jsonl")
	for _, e := range p.engines {
		if !strings.Contains(table.String(), "| "+e+" ") {
			t.Errorf("%s is not in the table\n%s", e, table.String())
		}
	}
}

// TestRestateHost checks that a server's state goes with its folder, and that neither is left behind.
func TestRestateHost(t *testing.T) {
	h, err := newRestateHost(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer h.stop(t.Context())
	name, err := h.create(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if n := deployments(t, h, name); n != 0 {
		t.Errorf("a new server knows %d deployments", n)
	}
	job := Job{Role: Prepare, Engine: restateEngine{}.Name(), DSN: h.address(name), Cell: Cell{Workload: Chain, Steps: 1}}
	if err := runProcess(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	if err := h.settle(t.Context(), name); err != nil {
		t.Fatal(err)
	}
	second, err := h.create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if n := deployments(t, h, second); n != 1 {
		t.Errorf("the copy knows %d deployments, want the one of its original", n)
	}
	shell := h.servers[second].shell
	h.stop(t.Context())
	if _, err := os.Stat(h.folder); !os.IsNotExist(err) {
		t.Errorf("the folder is left behind: %v", err)
	}
	if shell.ProcessState == nil {
		t.Error("nobody has waited for the server")
	}
}

func deployments(t *testing.T, h *restateHost, name string) int {
	t.Helper()
	answer, err := restateClient(h.address(name), restateAdmin).Get(restateURL + "/deployments")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var list struct{ Deployments []json.RawMessage }
	if err := json.NewDecoder(answer.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	return len(list.Deployments)
}

func TestFlags(t *testing.T) {
	s, err := parse([]string{"-store", "sqlite", "-seconds", "2"})
	if err != nil || len(s.engines) != 3 || len(s.workloads) != 1 || len(s.steps) != 1 || s.steps[0] != 3 || s.chain != 2 {
		t.Errorf("on SQLite: %+v, %v", s, err)
	}
	for _, args := range []string{"-store clay", "-store sqlite -engines River", "-store sqlite -workloads backlog", "-steps x"} {
		if _, err := parse(strings.Fields(args)); err == nil {
			t.Errorf("%s was accepted", args)
		}
	}
}

func checkResult(t *testing.T, r Result) {
	t.Helper()
	if r.Error != "" {
		t.Errorf("%s, %s: %s", r.Engine, r.Cell, r.Error)
		return
	}
	names, _ := r.Cell.Workload.keyFigures()
	if r.Cell.Workload == Recover && r.Figures["resumed"] == 0 {
		names = []string{"restart_first_s", "restart_done_s"}
	}
	for _, name := range names {
		if v, ok := r.Figures[name]; !ok || v <= 0 && name != "further_step_ms" {
			t.Errorf("%s, %s: %s is %v, all figures are %v", r.Engine, r.Cell, name, v, r.Figures)
		}
	}
}

func TestTable(t *testing.T) {
	cell := Cell{Workload: Chain, Steps: 1, InFlight: 4}
	var results []Result
	for round, rates := range [][2]float64{{1000, 100}, {3000, 100}, {12_345, 617.25}} {
		for i, engine := range []string{"Reprise", "DBOS"} {
			results = append(results, Result{Engine: engine, Round: round + 1, Cell: cell, Figures: Figures{"runs_per_s": rates[i]}})
		}
	}
	if got := ratios(choose(results, cell, "Reprise"), choose(results, cell, "DBOS")); got != "20 ×" {
		t.Errorf("ratio %q, want the median of the rounds' ratios", got)
	}
	if got := medians(choose(results, cell, "Reprise")).Figures["runs_per_s"]; got != 3000 {
		t.Errorf("median %v", got)
	}
	results[1].Figures, results[1].Error = nil, "broken"
	if got := medians(choose(results, cell, "DBOS")); got.Error != "" || got.Figures["runs_per_s"] != (100+617.25)/2 {
		t.Errorf("a failed round counts: %v", got)
	}
	var table strings.Builder
	if writeTable(&table, results); !strings.Contains(table.String(), "1 of 3 rounds failed") {
		t.Errorf("the table hides a failed round:\n%s", table.String())
	}
	for v, want := range map[float64]string{0.01234: "0.0123", 12.34: "12.3", 999: "999", 1234: "1,230", 1_234_567: "1,230,000"} {
		if got := figure(v); got != want {
			t.Errorf("figure(%v) is %q, want %q", v, got, want)
		}
	}
}

// TestDecode checks that verification can fail: a wrong result is found.
func TestDecode(t *testing.T) {
	in := Input{N: 7, Steps: 3, Pad: pad}
	if in.check(10) != nil || in.check(9) == nil {
		t.Error("check does not compare")
	}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	if n, result, err := (reprise{}).Decode(text, []byte("10")); n != 7 || result != 10 || err != nil {
		t.Errorf("decoded %d, %d, %v", n, result, err)
	}
	if _, _, err := (goWorkflows{}).Decode([]byte("7"), []byte(`{"error":{"message":"x"}}`)); err == nil {
		t.Error("a failed run passes as completed")
	}
}

// The tables in the README are those that were printed.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	printed, err := filepath.Glob("../results/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range printed {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	tables := 0
	for part := range strings.SplitSeq(string(readme), "<!-- printed") {
		_, rest, _ := strings.Cut(part, "-->\n")
		table, _, ok := strings.Cut(rest, "\n<!-- end")
		if !ok {
			continue
		}
		tables++
		if !strings.Contains(all.String(), strings.TrimSpace(table)) {
			t.Errorf("this is in no file of bench/results:\n%s", table)
		}
	}
	if tables == 0 {
		t.Error("the README has no table")
	}
}
