package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) == 3 && os.Args[1] == childFlag {
		if err := child(ctx, os.Args[2], os.Stdout); err != nil {
			os.Exit(1) // it has reported the error
		}
		return
	}
	if err := compare(ctx); err != nil {
		log.Fatal(err)
	}
}

func compare(ctx context.Context) error {
	b := &bench{log: os.Stderr, plan: plan{steps: []int{1, 3, 10}, inFlight: []int{64, 256}, defaults: true}}
	var names, kinds, dsn, folder string
	flag.StringVar(&dsn, "dsn", "", "Postgres to use, with the right to create databases; empty: a private one")
	flag.StringVar(&folder, "results", "../results", "where the raw results go")
	flag.StringVar(&names, "engines", "Reprise,DBOS,go-workflows,River", "what to measure")
	flag.StringVar(&kinds, "workloads", "chain,latency,backlog,recover", "on which workloads")
	flag.IntVar(&b.rounds, "rounds", 3, "how often")
	flag.Float64Var(&b.chain, "seconds", 4, "length of a measurement of chain")
	flag.Float64Var(&b.warm, "warm", 1, "seconds of warm-up of chain and latency")
	flag.Float64Var(&b.latency, "latency", 3, "length of a measurement of latency in seconds")
	flag.IntVar(&b.backlog, "backlog", 50_000, "queued runs")
	flag.Float64Var(&b.box, "box", 20, "seconds that draining them may take")
	flag.IntVar(&b.recover, "recover", 1000, "runs of the killed worker")
	flag.Float64Var(&b.wait, "wait", 40, "seconds to wait for a take-over with short leases; half of it without leases")
	flag.Float64Var(&b.waitLong, "wait-default", 160, "seconds to wait for a take-over with default leases; 0: do not measure")
	flag.Parse()
	b.defaults = b.waitLong > 0
	b.engines = strings.Split(names, ",")
	for _, k := range strings.Split(kinds, ",") {
		b.workloads = append(b.workloads, Workload(k))
	}

	var err error
	if b.server, err = startServer(ctx, dsn); err != nil {
		return err
	}
	defer b.server.stop(context.WithoutCancel(ctx))
	raw, err := rawFile(folder)
	if err != nil {
		return err
	}
	defer raw.Close()
	b.save = saver(raw)
	began := time.Now()
	err = b.Run(ctx)
	report(os.Stdout, b, time.Since(began), raw.Name())
	return err
}

func report(w io.Writer, b *bench, took time.Duration, raw string) {
	fmt.Fprintf(w, "\n%s; Postgres %s; %s; %s; %d rounds in %s; raw results in %s\n\n", machine(), b.server.version,
		commit(), time.Now().UTC().Format("2006-01-02"), b.rounds, took.Round(time.Second), filepath.Base(raw))
	writeTable(w, b.results)
	fmt.Fprintln(w, "\nSettings:")
	fmt.Fprintf(w, "- every engine's processes run with GOGC=%s\n", collectorTarget())
	writeSettings(w, b.results)
}

func rawFile(folder string) (*os.File, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	return os.Create(filepath.Join(folder, time.Now().UTC().Format("peers-20060102-150405.jsonl")))
}

// saver writes results as JSON lines and adds where they come from.
func saver(w io.Writer) func(Result) error {
	lines, here, at := json.NewEncoder(w), machine(), commit()
	return func(r Result) error {
		load, _ := os.ReadFile("/proc/loadavg") // absent on other systems
		r.Machine, r.Commit, r.Load = here, at, strings.TrimSpace(string(load))
		return lines.Encode(r)
	}
}

// machine describes where this runs.
func machine() string {
	model := "unknown processor"
	text, _ := os.ReadFile("/proc/cpuinfo") // absent on other systems
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			model = strings.TrimSpace(value)
			break
		}
	}
	return fmt.Sprintf("%d × %s, %s/%s, %s", goruntime.NumCPU(), model, goruntime.GOOS, goruntime.GOARCH, goruntime.Version())
}

// commit names what was built, as far as git knows.
func commit() string {
	head, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "commit unknown"
	}
	name := "commit " + strings.TrimSpace(string(head))
	if changed, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no").Output(); err == nil && len(changed) > 0 {
		name += " with changes"
	}
	return name
}
