package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// scenario is one course of events, and what must hold behind it.
type scenario struct {
	name, about string
	play        play
	set         func(*options) // what it wants other than the usual; flags come after it
	lags        []time.Duration
	expect      expectation
}

// expectation is what a scenario allows beyond what all of them promise.
type expectation struct {
	tail    bool // what was acknowledged after the cut may be lost
	atOnce  bool // a step may run on two nodes at once: its process could not know better
	beyond  bool // more steps may hold a limit than it allows: the database has lost grants (J14)
	rejoins bool // nodes may be declared dead, because they could not renew
	prompt  bool // kills are measured against takeoverMedian and takeoverWorst
}

// What a takeover after kill -9 may take.
const (
	takeoverMedian = time.Second
	takeoverWorst  = 2500 * time.Millisecond
)

// scenarios is what there is, in the order of `all`.
var scenarios = []scenario{
	{name: "async", about: "fail-over to a standby that has not received the last -lag", play: playAsync,
		lags: []time.Duration{0, 200 * time.Millisecond, 3 * time.Second}, expect: expectation{tail: true, atOnce: true, beyond: true, rejoins: true}},
	{name: "sync", about: "fail-over to a synchronous standby", play: playSync, expect: expectation{atOnce: true, rejoins: true}},
	{name: "standby-away", about: "a synchronous standby is away for -away, calls are repeated, then the primary dies", play: playStandbyAway,
		set: func(o *options) { o.away = 40 * time.Second }, expect: expectation{atOnce: true, rejoins: true}},
	{name: "commit-off", about: "the role has synchronous_commit=off, and the server crashes", play: playCommitOff,
		set: func(o *options) { o.times = 2 }, expect: expectation{atOnce: true, rejoins: true}},
	{name: "restore", about: "a dump that is -lag old is put in place while nodes live", play: playRestore,
		set: func(o *options) { o.lag = 3 * time.Second }, expect: expectation{tail: true, atOnce: true, beyond: true, rejoins: true}},
	{name: "restore-restarted", about: "the same, with nodes that were restarted since the dump", play: playRestoreRestarted,
		set: func(o *options) { o.lag = 3 * time.Second }, expect: expectation{tail: true, atOnce: true, beyond: true, rejoins: true}},
	{name: "half-open", about: "a node's connections stand still for -away", play: playFault(halfOpen, released),
		expect: expectation{rejoins: true}},
	{name: "dropped", about: "a node's connections are lost, and neither end hears of it", play: playFault(dropped, released),
		expect: expectation{rejoins: true}},
	{name: "keepalives", about: "the same, and the server ends them after 5 s", play: playFault(keepalives, released),
		expect: expectation{rejoins: true}},
	{name: "half-ended", about: "the server's half of a node's connections ends, the node's half is silent", play: playFault(halfEnded, released),
		expect: expectation{rejoins: true}},
	{name: "stopped", about: "a node's process is stopped for -away", play: playFault(stopped, continued),
		expect: expectation{rejoins: true, atOnce: true, beyond: true}},
	{name: "slow-login", about: "the nodes' listeners are cut off, and logging in takes 1.5 s", play: playFault(slow, quick), set: short},
	{name: "limit", about: "the nodes' listeners are cut off, and the server lets nobody in", play: playFault(limited, unlimited), set: short},
	{name: "terminated", about: "all sessions are terminated, -times times", play: playTerminated, set: func(o *options) { o.times = 5 }},
	{name: "kill", about: "nodes are killed in the middle of steps, -times times", play: playKills,
		set: func(o *options) { o.times, o.runs, o.takes = 10, 24, 3*time.Second }, expect: expectation{prompt: true}},
	{name: "rolling", about: "all nodes are restarted in turns, -times times", play: playRolling, set: func(o *options) { o.times = 20 }},
}

// short is for faults in which nothing may move: the steps need not outlast a lease.
func short(o *options) { o.away, o.takes = 12*time.Second, 16*time.Second }

// usual are the options of a scenario that says nothing else.
func usual() options {
	return options{
		away: 20 * time.Second, lease: 10 * time.Second, patience: 90 * time.Second,
		takes: 30 * time.Second, gap: 700 * time.Millisecond, runs: 100, times: 1,
	}
}

func scenarioOf(name string) (scenario, error) {
	i := slices.IndexFunc(scenarios, func(sc scenario) bool { return sc.name == name })
	if i < 0 {
		return scenario{}, fmt.Errorf("there is no scenario %q; -list shows them", name)
	}
	return scenarios[i], nil
}

// perform plays a scenario and prints its line. An error says what does not hold.
func perform(ctx context.Context, sc scenario, o options, out, notes io.Writer) error {
	began := time.Now()
	s, err := newStage(o, notes)
	if err != nil {
		return err
	}
	f, err := sc.play(ctx, s)
	var g *figures
	if f != nil {
		g = f.audit(time.Now())
		err = errors.Join(err, sc.expect.check(g))
	}
	word := "ok  "
	if err != nil {
		word = "FAIL"
	}
	title := sc.name
	if sc.expect.tail {
		title += fmt.Sprintf(" -lag %s", o.lag)
	}
	if g == nil {
		fmt.Fprintf(out, "%s %s: did not come to its end\n", word, title)
	} else {
		fmt.Fprintf(out, "%s %s: %s | calm after %.1f s, all %.1f s\n", word, title, g, s.calm.Seconds(), time.Since(began).Seconds())
		g.print(out, sc.expect.questions(g))
	}
	keep := o.keep || err != nil
	if keep {
		fmt.Fprintln(out, "    logs and diaries are in", s.dir)
	}
	return errors.Join(err, s.Close(keep))
}

// questions lists those whose answers are not as they should be.
func (e *expectation) questions(g *figures) (list []string) {
	for _, q := range []struct {
		name string
		bad  bool
	}{
		{"silence", g.silent()},
		{"open", g.open > 0},
		{"failed", g.failed > 0},
		{"lost", g.early.any() || g.tail.any() && !e.tail},
		{"contradictions", g.contradictions > 0},
		{"astray", g.astray > 0},
		{"overlap", g.overlap.at > 0 && !e.atOnce},
		{"beyond", g.held.most > boundedMost && !e.beyond},
		{"rejoined", g.rejoined > 0 && !e.rejoins},
		{"takeovers", e.prompt && !g.prompt()},
		{"violations", g.violations > 0},
	} {
		if q.bad {
			list = append(list, q.name)
		}
	}
	return list
}

// prompt tells whether killed nodes were replaced in time.
func (g *figures) prompt() bool {
	n := len(g.takeovers)
	return n > 0 && g.takeovers[n/2] <= takeoverMedian && g.takeovers[n-1] <= takeoverWorst
}

func (e *expectation) check(g *figures) error {
	if bad := e.questions(g); len(bad) > 0 {
		return fmt.Errorf("not as it should be: %s", strings.Join(bad, ", "))
	}
	return nil
}
