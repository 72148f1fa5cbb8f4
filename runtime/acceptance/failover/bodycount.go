package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// execution is one execution of a step's body.
type execution struct {
	by         string
	begin, end time.Time
	killed     bool // its process was killed: the end is the kill
}

// stepOf names a step of a run.
type stepOf struct {
	key  string
	step int
}

// bodies lists the executions of each step, in the order of their beginnings. One without an end
// ended when its process was killed; if it was not killed, it has no end.
func bodies(entries []entry) map[stepOf][]execution {
	type birth struct {
		stepOf
		execution
	}
	kills := map[string]time.Time{}
	births := map[string]*birth{}
	for _, e := range entries {
		switch e.What {
		case begun:
			births[e.Exec] = &birth{stepOf{e.Key, e.Step}, execution{by: e.By, begin: e.At}}
		case killed:
			kills[e.Value] = e.At
		}
	}
	for _, e := range entries {
		if b := births[e.Exec]; b != nil && (e.What == ended || e.What == cancelled) {
			b.end = e.At
		}
	}
	all := map[stepOf][]execution{}
	for _, b := range births {
		if at, ok := kills[b.by]; ok && b.end.IsZero() {
			b.end, b.killed = at, true
		}
		all[b.stepOf] = append(all[b.stepOf], b.execution)
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b execution) int { return a.begin.Compare(b.begin) })
	}
	return all
}

// overlap is how long a step ran on two nodes at once. Where a step moved and the old node had
// ended before the new one began it is below zero.
type overlap struct {
	moves   int           // of a step from a node to another one
	at      int           // of these with an overlap above zero
	longest time.Duration // of all moves; no less than what was seen if an execution has no end
	example string        // the step with the longest
}

// overlaps compares each execution with those of other nodes that began before it.
func overlaps(all map[stepOf][]execution, now time.Time) overlap {
	var o overlap
	for s, list := range all {
		for i, later := range list {
			for _, earlier := range list[:i] {
				if earlier.by == later.by {
					continue
				}
				end := earlier.end
				if end.IsZero() {
					end = now
				}
				length := end.Sub(later.begin)
				if o.moves++; o.moves == 1 || length > o.longest {
					o.longest = length
					o.example = fmt.Sprintf("step %d of %s: on %s until %s, on %s from %s", s.step, s.key,
						earlier.by, end.Format(clock), later.by, later.begin.Format(clock))
				}
				if length > 0 {
					o.at++
				}
			}
		}
	}
	return o
}

// held is how many steps of bounded ran at once, at most.
type held struct {
	most    int
	example string // who they were, at that moment
}

// holders finds the moment at which most steps of bounded ran.
func holders(all map[stepOf][]execution, now time.Time) (h held) {
	type change struct {
		at   time.Time
		step stepOf
		by   string
		n    int // 1 for a beginning, -1 for an end
	}
	var changes []change
	for s, list := range all {
		if !strings.HasPrefix(s.key, string(bounded)+"/") {
			continue
		}
		for _, e := range list {
			end := e.end
			if end.IsZero() {
				end = now
			}
			changes = append(changes, change{e.begin, s, e.by, 1}, change{end, s, e.by, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.n, b.n)) })
	var present []string
	for _, c := range changes {
		who := fmt.Sprintf("step %d of %s on %s", c.step.step, c.step.key, c.by)
		if c.n < 0 {
			present = slices.Delete(present, slices.Index(present, who), slices.Index(present, who)+1)
			continue
		}
		if present = append(present, who); len(present) > h.most {
			h = held{len(present), fmt.Sprintf("at %s: %s", c.at.Format(clock), strings.Join(present, ", "))}
		}
	}
	return h
}

// clock shows a time of an entry.
const clock = "15:04:05.000"

// takeovers returns, for each process that was killed inside of bodies, how long it took until the
// last of them had begun somewhere else, sorted.
func takeovers(all map[stepOf][]execution) []time.Duration {
	last := map[string]time.Duration{}
	for _, list := range all {
		for i, e := range list[:len(list)-1] {
			if e.killed {
				last[e.by] = max(last[e.by], list[i+1].begin.Sub(e.end))
			}
		}
	}
	times := make([]time.Duration, 0, len(last))
	for _, d := range last {
		times = append(times, d)
	}
	slices.SortFunc(times, cmp.Compare[time.Duration])
	return times
}

// members returns how many ids each node had. More than one says that it was declared dead.
func members(entries []entry) map[string]int {
	ids := map[string]int{}
	for _, e := range entries {
		if e.What == joined {
			ids[e.By]++
		}
	}
	return ids
}
