package sim

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-run/reprise/journal/driver"
)

// tally counts what simulations consisted of: a simulator that does nothing finds nothing.
type tally map[string]int

func (t tally) add(w *world) {
	t["runs"] += len(w.runs)
	for _, r := range w.runs {
		if r.id.IsZero() {
			t["runs not started"]++
		}
		if r.terminated {
			t["terminations tried"]++
		}
		if r.of != 0 {
			t["runs that are children"]++
		}
		for _, a := range r.calls {
			t["updates "+string(a.how)]++
		}
		t["signals accepted"] += len(r.acknowledged())
		t["signals refused"] += len(r.refused())
	}
	for i := range w.tape.commits {
		c := &w.tape.commits[i]
		t["commits"]++
		if c.Next.Kind == driver.NextBlock {
			t["blocks of runs that cannot be read"]++
		}
		t["events"] += len(c.Events)
		if last := c.Terminal(); last != nil {
			t[last.Kind.String()]++
		}
		for k := range c.Events {
			t["event "+c.Events[k].Kind.String()]++
		}
	}
	t["claims"] += len(w.tape.grants)
	t["executions"] += len(w.executions)
	for _, e := range w.executions {
		if e.attempt > 1 {
			t["executions again"]++
		}
	}
	t["lives of nodes"] += len(w.all)
	for i := range w.plan.Faults {
		t["fault "+string(w.plan.Faults[i].Kind)]++
	}
	for _, p := range w.all {
		if p.dead.Load() {
			t["deaths"]++
		}
	}
	for i := range w.tape.backs {
		a := &w.tape.backs[i].a
		t["rewinds: "+a.Kind.String()]++
		if t["results given to steps"] += len(a.Rewind.Given); a.Fork != nil {
			t["results given to steps"] += len(a.Fork.Results)
		}
	}
	t["pauses of scopes that all heed"] += w.pausedScopes
	for _, j := range w.working {
		t[fmt.Sprintf("jobs: runs done by %s", j.plan.Verb)] += j.progress.Done
	}
	t["drained nodes"] += w.drained
	t["bodies that hold a limit"] += w.bounded
	t["bodies whose runs hold a limit"] += w.placed
	t["starts that found a limit full"] += w.refused
	t["runs that a full limit has cancelled"] += w.pushed
	t["rewinds beside a commit"] += w.backsBeside
	t["pauses beside a commit"] += w.pausedBeside
	t["pauses of runs by themselves"] += w.pausedSelf
	for i := range w.plan.Runs {
		for _, s := range w.plan.Runs[i].Sends {
			if s.Do == sendPause && s.Pause.Nth == 0 {
				t["pauses"]++
			}
			if s.Do == sendLabel || s.Do == sendPriority {
				t["edits"]++
			}
		}
	}
	for i := range w.tape.commits {
		if w.tape.commits[i].Hold {
			t["answers to pauses that keep the run"]++
		}
	}
	t["queries answered"] += w.looks
	t["queries answered with what is decided"] += w.excuses
	for i := range w.tape.commits {
		t["replies"] += len(w.tape.commits[i].Replies)
	}
	if w.settled {
		t["seeds that needed further signals"]++
	}
}

// String lists the counts.
func (t tally) String() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(t)) {
		fmt.Fprintf(&b, "%8d %s\n", t[name], name)
	}
	return b.String()
}
