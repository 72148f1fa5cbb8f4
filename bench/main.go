package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func scenarios() []scenario {
	return []scenario{
		startScenario, chainScenario, ceilingScenario, latencyScenario, fanoutScenario, flowsScenario, limitsScenario, waitingScenario, childrenScenario, signalScenario, timerScenario,
		parkedScenario, backlogScenario, recoverScenario, replayScenario, idleScenario, schedulesScenario, gatherScenario, soakScenario,
		horizonScenario,
		fairHeldScenario, fairLargeScenario, fairPriorityScenario, fairNodesScenario, fairFailingScenario, fairResultsScenario, fairRenewalsScenario,
	}
}

func main() {
	if dsn := os.Getenv(victimEnv); dsn != "" {
		os.Exit(victim(dsn))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := run(ctx, os.Args[1:], os.Stdout); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run is the whole program: it parses the arguments, starts the server and runs the scenarios,
// round by round. Rounds are interleaved, so that other load on the machine falls on every scenario
// alike.
func run(ctx context.Context, args []string, out io.Writer) (err error) {
	o, names, err := parse(args, scenarios(), os.Stderr)
	if err != nil {
		return err
	}
	if o.summary != "" {
		return summarize(out, o.summary)
	}
	picked, err := pick(names, o)
	if err != nil {
		return err
	}
	if err := checkStore(picked, o); err != nil {
		return err
	}
	tuneCollector(o.gogc)
	var raw io.Writer
	if o.out != "" {
		file, cause := os.OpenFile(o.out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644) // results are kept
		if cause != nil {
			return cause
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		raw = file
	}
	r, err := newRig(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	stopProfiles, err := profiles(o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stopProfiles()) }()
	rep := newReporter(out, raw, o, r)
	for round := range max(o.rounds, 1) {
		for i := range picked {
			s := &picked[i]
			b := &bench{rig: r, o: o.over(s.defaults), report: rep, scenario: s.name, round: round + 1}
			if err := s.run(ctx, b); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
	}
	return rep.medians()
}

// pick finds scenarios by name; "all" is every one, and "fair" every one that begins with "fair/".
func pick(names []string, o options) ([]scenario, error) {
	all := scenarios()
	if slices.Equal(names, []string{"all"}) {
		return all, checkAll(all, o)
	}
	var picked []scenario
	for _, n := range names {
		before := len(picked)
		for _, s := range all {
			if s.name == n || strings.HasPrefix(s.name, n+"/") {
				picked = append(picked, s)
			}
		}
		if len(picked) == before {
			return nil, fmt.Errorf("there is no scenario %q; -help lists them", n)
		}
	}
	return picked, checkAll(picked, o)
}
