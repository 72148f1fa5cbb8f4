package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/runtime"
)

var recoverScenario = scenario{
	name: "recover", about: "a process with runs of ten steps is killed half-way; a second node is live",
	defaults: options{runs: 1_000},
	by:       byRuns,
	run: func(ctx context.Context, b *bench) error {
		return b.inFresh(ctx, func(d *database) error { return b.recovery(ctx, d) })
	},
}

const (
	recoverSteps = 10 // of slowStep each: all runs are half-way at about the same time

	// The victim is this program again, with these set.
	victimEnv     = "REPRISE_BENCH_VICTIM" // DSN
	victimRunsEnv = "REPRISE_BENCH_VICTIM_RUNS"
	victimOwns    = "all runs are mine"
)

// victim is the main function of the process to be killed: it starts the runs and executes them.
// Its standard input is a pipe; when that ends, the parent is dead.
func victim(dsn string) int {
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	if err := victimStart(context.Background(), dsn); err != nil {
		fmt.Fprintln(os.Stderr, "victim:", err)
		return 1
	}
	fmt.Println(victimOwns)
	select {} // until it is killed
}

func victimStart(ctx context.Context, dsn string) error {
	var runs int
	if _, err := fmt.Sscan(os.Getenv(victimRunsEnv), &runs); err != nil {
		return fmt.Errorf("%s: %w", victimRunsEnv, err)
	}
	d := &database{rig: &rig{}, dsn: dsn}
	nodes, err := d.nodes(ctx, 1, runtime.NodeOptions{Name: "victim", StepsMax: runs})
	if err != nil {
		return err
	}
	if err := nodes.launch(ctx); err != nil {
		return err
	}
	l := load{workers: min(runs, saturated), runs: runs, each: func(ctx context.Context, i int) error {
		_, err := runtime.Start(ctx, nodes.client(0), slowFlow, recoverSteps, nil)
		return err
	}}
	_, err = l.run(ctx)
	return err
}

// launchVictim returns once the child owns all runs.
func launchVictim(dsn string, runs int) (child *exec.Cmd, stdin io.Closer, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), victimEnv+"="+dsn, fmt.Sprintf("%s=%d", victimRunsEnv, runs), "GOGC="+collectorTarget())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || strings.TrimSpace(line) != victimOwns {
		_ = cmd.Process.Kill()
		return nil, nil, fmt.Errorf("the victim said %q: %w", line, errors.Join(err, cmd.Wait()))
	}
	return cmd, in, nil
}

func (b *bench) recovery(ctx context.Context, d *database) error {
	runs := max(b.o.runs, 1)
	child, stdin, err := launchVictim(d.dsn, runs)
	if err != nil {
		return err
	}
	defer stdin.Close()
	// The survivor joins when the other one owns everything, so nothing is left for it to claim.
	survivor, err := d.nodes(ctx, 1, runtime.NodeOptions{Name: "survivor", StepsMax: runs})
	if err != nil {
		_ = child.Process.Kill()
		return errors.Join(err, child.Wait())
	}
	rescued := watchRescue(survivor)
	err = survivor.launch(ctx)
	if err == nil {
		err = halfWay(ctx, d, runs)
	}
	killed := time.Now()
	_ = child.Process.Kill() // fails only if it is gone, which the history would show
	_ = child.Wait()
	if err == nil {
		err = poll(ctx, func() (bool, error) { return rescued.closed() >= runs, nil })
	}
	if err != nil {
		return errors.Join(err, survivor.close())
	}
	first := rescued.first(killed)
	f := figures{
		"first_resumed_seconds": first.at(0).Seconds(), "last_resumed_seconds": first.at(1).Seconds(),
		"all_done_seconds": time.Since(killed).Seconds(), "resumed": float64(len(first)),
	}
	if err := survivor.close(); err != nil {
		return err
	}
	return b.emit(settings{"runs": runs, "steps": recoverSteps, "step_ms": milliseconds(slowStep)}, f, nil)
}

// halfWay waits until the victim has journaled half of the steps.
func halfWay(ctx context.Context, d *database, runs int) error {
	return pollAt(ctx, slowStep/2, func() (bool, error) {
		n, err := d.count(ctx, `SELECT count(*) FROM reprise.events WHERE kind = 2`)
		return n >= runs*recoverSteps/2, err
	})
}

// rescue is what the survivor did with the victim's runs.
type rescue struct {
	mu    sync.Mutex
	moved map[journal.RunID]time.Time // first durable commit
	ended int
}

func watchRescue(survivor *fleet) *rescue {
	r := &rescue{moved: map[journal.RunID]time.Time{}}
	fn := func(commits []driver.Commit, out []driver.Outcome, at time.Time) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for i := range out {
			if out[i].Err != nil {
				continue
			}
			if _, ok := r.moved[commits[i].Run]; !ok {
				r.moved[commits[i].Run] = at
			}
			if commits[i].Next.Kind == driver.NextClose {
				r.ended++
			}
		}
	}
	survivor.members[0].tap.onCommit.Store(&fn)
	return r
}

func (r *rescue) closed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// first returns how long after t each run had its first commit. Its first step takes slowStep of
// that.
func (r *rescue) first(t time.Time) latencies {
	r.mu.Lock()
	defer r.mu.Unlock()
	var l latencies
	for _, at := range r.moved {
		l = append(l, at.Sub(t))
	}
	return l
}
