// Command failover plays what happens to databases and networks in production, on private Postgres
// servers with real replicas, with nodes and clients that are processes of their own, and audits
// every time what is left: nothing that was acknowledged is lost, unless the database has lost it;
// no run stands still; no result contradicts its history; no effect is missing or there twice; no
// step runs on two nodes at once.
//
// Each scenario prints a line. The program exits with 1 if one of them does not end as it should,
// and then leaves the logs and diaries of its processes.
//
//	go run ./runtime/acceptance/failover                         all of them, a quarter of an hour
//	go run ./runtime/acceptance/failover -list                   what there is
//	go run ./runtime/acceptance/failover -scenario async -lag 3s one of them
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func main() {
	if os.Getenv(childEnv) != "" {
		os.Exit(asChild())
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the program at once
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "failover:", err)
		os.Exit(1)
	}
}

// run plays what the flags name.
func run(ctx context.Context, args []string, out io.Writer) error {
	var given options
	flags := flag.NewFlagSet("failover", flag.ContinueOnError)
	names := flags.String("scenario", "all", "`names` with commas between, or all")
	list := flags.Bool("list", false, "print what there is")
	verbose := flags.Bool("v", false, "tell what happens")
	flags.BoolVar(&given.keep, "keep", false, "leave the logs and diaries of the processes")
	flags.DurationVar(&given.lag, "lag", 0, "what a standby has not received, or the age of a dump")
	flags.DurationVar(&given.away, "away", 0, "how long a fault lasts")
	flags.DurationVar(&given.lease, "lease", 0, "of the nodes")
	flags.DurationVar(&given.patience, "patience", 0, "how long work may take to end after a fault")
	flags.DurationVar(&given.takes, "takes", 0, "the `time` of a step that a fault interrupts")
	flags.DurationVar(&given.gap, "gap", 0, "the `time` between two steps of a run that parks")
	flags.IntVar(&given.runs, "runs", 0, "how many `runs` of each workflow")
	flags.IntVar(&given.times, "times", 0, "how often a fault is repeated")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *list {
		for _, sc := range scenarios {
			fmt.Fprintf(out, "%-18s %s\n", sc.name, sc.about)
		}
		return nil
	}
	set := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { set[f.Name] = true })
	notes := io.Discard
	if *verbose {
		notes = out
	}
	chosen := scenarios
	if *names != "all" {
		chosen = nil
		for name := range strings.SplitSeq(*names, ",") {
			sc, err := scenarioOf(name)
			if err != nil {
				return err
			}
			chosen = append(chosen, sc)
		}
	}
	var errs error
	for _, sc := range chosen {
		for _, o := range sc.courses(given, set) {
			if err := perform(ctx, sc, o, out, notes); err != nil {
				errs = errors.Join(errs, fmt.Errorf("%s: %w", sc.name, err))
			}
			if ctx.Err() != nil {
				return errs
			}
		}
	}
	return errs
}

// courses are the options that a scenario is played with: the usual ones, then its own, then those
// that were given. Without a lag it is played once for each of its own.
func (sc *scenario) courses(given options, set map[string]bool) []options {
	o := usual()
	if sc.set != nil {
		sc.set(&o)
	}
	o.keep = given.keep
	for _, f := range []struct {
		name string
		take func()
	}{
		{"lag", func() { o.lag = given.lag }},
		{"away", func() { o.away = given.away }},
		{"lease", func() { o.lease = given.lease }},
		{"patience", func() { o.patience = given.patience }},
		{"takes", func() { o.takes = given.takes }},
		{"gap", func() { o.gap = given.gap }},
		{"runs", func() { o.runs = given.runs }},
		{"times", func() { o.times = given.times }},
	} {
		if set[f.name] {
			f.take()
		}
	}
	if len(sc.lags) == 0 || set["lag"] {
		return []options{o}
	}
	all := make([]options, len(sc.lags))
	for i, lag := range sc.lags {
		all[i] = o
		all[i].lag = lag
	}
	return all
}
