package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// options are the flags. A zero field was not given; the scenario's default applies.
type options struct {
	dsn, store  string
	json        bool
	out         string
	summary     string
	gogc        int
	seconds     float64
	runs        int
	concurrency int
	nodes       int
	steps       []int
	queued      int
	rounds      int
	lanes       int
	live        int
	note        string
	cpuProfile  string
	memProfile  string
	statements  int
	pgSettings  map[string]string
	noFsync     bool // tests only
}

const (
	storePostgres = "postgres"
	gogcDefault   = 400   // a program that serves has memory to spare: fewer collections, more of the CPU for runs
	saturated     = 1_000 // runs in flight that keep every batch full
)

// parse reads flags and scenario names in any order. all is for the help.
func parse(args []string, all []scenario, messages io.Writer) (options, []string, error) {
	o := options{store: storePostgres, gogc: gogcDefault, pgSettings: map[string]string{}}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(messages)
	f.StringVar(&o.dsn, "dsn", "", "a Postgres whose user may create databases; default: a private server in a temporary folder")
	f.StringVar(&o.store, "store", storePostgres, "the journal's back end: postgres or sqlite")
	f.BoolVar(&o.json, "json", false, "print one JSON line a result")
	f.StringVar(&o.out, "out", "", "new file that gets one JSON line a result, whatever is printed")
	f.StringVar(&o.summary, "summary", "", "print the results in such a file as a Markdown table, and do nothing else")
	f.IntVar(&o.gogc, "gogc", gogcDefault, "garbage collector's target of this process; GOGC in the environment wins")
	f.Float64Var(&o.seconds, "seconds", 0, "how long to load; -runs, if given, wins")
	f.IntVar(&o.runs, "runs", 0, "how many runs to make")
	f.IntVar(&o.concurrency, "concurrency", 0, "runs in flight")
	f.IntVar(&o.nodes, "nodes", 0, "nodes, all in this process, each with its own connections (start, chain, backlog, timer)")
	f.Func("steps", "steps of a run: a number, or a list as in 1,3,10 (start, chain, ceiling)", func(s string) (err error) {
		o.steps, err = numbers(s)
		return err
	})
	f.IntVar(&o.queued, "queued", 0, "depth of the queue that -runs are drained from (backlog); runs that sleep beside the load (horizon)")
	f.IntVar(&o.rounds, "rounds", 1, "times to run everything, interleaved; the medians follow at the end")
	f.IntVar(&o.lanes, "lanes", 0, "batches of commits in flight a node; default: the engine's")
	f.IntVar(&o.live, "live", 0, "runs that a node owns at once; default: the engine's")
	f.StringVar(&o.note, "note", "", "goes into every result, such as what else the machine did")
	f.StringVar(&o.cpuProfile, "cpuprofile", "", "file for a CPU profile of the driver")
	f.StringVar(&o.memProfile, "memprofile", "", "file for an allocation profile of the driver")
	f.IntVar(&o.statements, "statements", 0, "how many of the costliest statements to show with each result")
	f.Func("pg", "a setting of the private server, name=value; may be repeated", func(s string) error {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return errors.New("want name=value")
		}
		o.pgSettings[name] = value
		return nil
	})
	f.Usage = func() { usage(f, all) }
	var names []string
	for {
		if err := f.Parse(args); err != nil {
			return options{}, nil, err
		}
		if f.NArg() == 0 {
			break
		}
		names, args = append(names, f.Arg(0)), f.Args()[1:]
	}
	if len(names) == 0 && o.summary == "" {
		usage(f, all)
		return options{}, nil, flag.ErrHelp
	}
	if o.store != storePostgres && o.store != storeSQLite {
		return options{}, nil, fmt.Errorf("there is no store %q here: there are %s and %s", o.store, storePostgres, storeSQLite)
	}
	return o, names, o.check()
}

func usage(f *flag.FlagSet, all []scenario) {
	w := f.Output()
	fmt.Fprintf(w, "usage: go run ./bench [flags] scenario...   (\"all\" for every one)\n\n")
	for _, s := range all {
		fmt.Fprintf(w, "  %-13s %s\n", s.name, s.about)
	}
	fmt.Fprintln(w)
	f.PrintDefaults()
}

func (o *options) check() error {
	if o.dsn != "" && len(o.pgSettings) > 0 {
		return errors.New("-pg is for the private server, not with -dsn")
	}
	if o.seconds < 0 || min(o.runs, o.concurrency, o.nodes, o.queued, o.rounds, o.lanes, o.live) < 0 {
		return errors.New("no flag may be negative")
	}
	for _, n := range o.steps {
		if n < 1 {
			return errors.New("-steps must be positive")
		}
	}
	return nil
}

func numbers(list string) ([]int, error) {
	var all []int
	for part := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// over fills what was not given from a scenario's defaults. Seconds and runs are one choice.
func (o options) over(d options) options {
	if o.runs == 0 && o.seconds == 0 {
		o.runs, o.seconds = d.runs, d.seconds
	}
	fill := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	fill(&o.concurrency, d.concurrency)
	fill(&o.queued, d.queued)
	fill(&o.nodes, max(d.nodes, 1))
	if o.steps == nil {
		o.steps = d.steps
	}
	return o
}

func (o *options) duration() time.Duration { return time.Duration(o.seconds * float64(time.Second)) }
