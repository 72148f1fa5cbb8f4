package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	goruntime "runtime"
	"strconv"
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
	switch err := compare(ctx, os.Args[1:]); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		log.Fatal(err)
	}
}

// settings are the flags.
type settings struct {
	plan
	store, dsn, folder string
}

// parse reads the flags. Flags that were not given depend on the store.
func parse(args []string) (*settings, error) {
	s := &settings{}
	var names, kinds, steps, inFlight string
	f := flag.NewFlagSet("peers", flag.ContinueOnError)
	f.StringVar(&s.store, "store", storePostgres, "what the engines run on: postgres, or sqlite for those that can")
	f.StringVar(&s.dsn, "dsn", "", "Postgres to use, with the right to create databases; empty: a private one")
	f.StringVar(&s.folder, "results", "../results", "where the raw results and the table go")
	f.StringVar(&names, "engines", "", "what to measure (Reprise,Restate,DBOS,go-workflows,River; on sqlite Reprise,DBOS,go-workflows)")
	f.StringVar(&kinds, "workloads", "", "on which workloads (chain,latency,backlog,recover; on sqlite chain)")
	f.StringVar(&steps, "steps", "", "steps of chain (1,3,10; on sqlite 3)")
	f.StringVar(&inFlight, "in-flight", "0", "runs that chain keeps up at once; 0: for each engine the number at which it is fastest")
	f.IntVar(&s.rounds, "rounds", 3, "how often")
	f.Float64Var(&s.chain, "seconds", 5, "length of a measurement of chain; it goes on for whole waves of runs, and for five of them at least")
	f.Float64Var(&s.warm, "warm", 1.5, "seconds of warm-up of chain and latency")
	f.Float64Var(&s.latency, "latency", 3, "length of a measurement of latency in seconds")
	f.IntVar(&s.backlog, "backlog", 50_000, "queued runs")
	f.Float64Var(&s.box, "box", 20, "seconds that draining them may take")
	f.IntVar(&s.recover, "recover", 1000, "runs of the killed worker")
	f.Float64Var(&s.wait, "wait", 40, "seconds to wait for a take-over with short leases; half of it without leases")
	f.Float64Var(&s.waitLong, "wait-default", 160, "seconds to wait for a take-over with default leases; 0: do not measure")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	s.defaults = s.waitLong > 0
	switch s.store {
	case storePostgres:
		names, kinds = cmp.Or(names, "Reprise,Restate,DBOS,go-workflows,River"), cmp.Or(kinds, "chain,latency,backlog,recover")
		steps = cmp.Or(steps, "1,3,10")
	case storeSQLite:
		names, kinds, steps = cmp.Or(names, strings.Join(sqliteEngines, ",")), cmp.Or(kinds, string(Chain)), cmp.Or(steps, "3")
	default:
		return nil, fmt.Errorf("there is no store %q", s.store)
	}
	s.engines = strings.Split(names, ",")
	for _, k := range strings.Split(kinds, ",") {
		s.workloads = append(s.workloads, Workload(k))
	}
	var errs [2]error
	s.steps, errs[0] = numbers(steps)
	s.inFlight, errs[1] = numbers(inFlight)
	if s.store == storeSQLite {
		return s, errors.Join(append(errs[:], checkSQLite(&s.plan))...)
	}
	return s, errors.Join(errs[:]...)
}

func numbers(list string) (all []int, err error) {
	for part := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

func newSite(ctx context.Context, s *settings) (site, error) {
	if s.store == storeSQLite {
		return newFiles()
	}
	return startServer(ctx, s.dsn)
}

func compare(ctx context.Context, args []string) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	b := &bench{log: os.Stderr, plan: s.plan}
	if b.server, err = newSite(ctx, s); err != nil {
		return err
	}
	defer b.server.stop(context.WithoutCancel(ctx))
	raw, err := resultFile(s, ".jsonl")
	if err != nil {
		return err
	}
	defer raw.Close()
	b.save = saver(raw)
	began := time.Now()
	if err := b.Run(ctx); err != nil {
		return err
	}
	table, err := resultFile(s, ".md")
	if err != nil {
		return err
	}
	report(io.MultiWriter(os.Stdout, table), b, time.Since(began), raw.Name())
	return table.Close()
}

// report prints what goes into a README: where and when, the table, the settings.
func report(w io.Writer, b *bench, took time.Duration, raw string) {
	fmt.Fprintf(w, "%s; %s; %s; %s; %d rounds in %s; raw results in %s\n\n", machine(), b.server.about(),
		commit(), time.Now().UTC().Format("2006-01-02"), b.rounds, took.Round(time.Second), filepath.Base(raw))
	writeTable(w, b.results)
	fmt.Fprintln(w, "\nSettings:")
	fmt.Fprintln(w)
	fmt.Fprintf(w, "- every engine's processes run with GOGC=%s\n", collectorTarget())
	writeSettings(w, b.results)
}

// started names the files of this run.
var started = time.Now().UTC()

func resultFile(s *settings, ext string) (*os.File, error) {
	if err := os.MkdirAll(s.folder, 0o755); err != nil {
		return nil, err
	}
	name := "peers-"
	if s.store != storePostgres {
		name += s.store + "-"
	}
	return os.Create(filepath.Join(s.folder, name+started.Format("20060102-150405")+ext))
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
