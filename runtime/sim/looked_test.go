package sim

import (
	"testing"
	"time"
)

// TestLooks: a query of a run that waits for a place sees a signal that has come, also if the code
// starts a child then. Of code that asks for what only an owner decides it sees what is before
// that, and only that is excused, of a query that has waited for an owner. A first turn that asks
// for it has nothing before.
func TestLooks(t *testing.T) {
	for name, c := range map[string]struct {
		then           instr
		looks, excuses int
	}{
		"a child":                          {instr{ID: 3, Do: doCall, Kid: kid{Delay: time.Millisecond}}, 2, 0},
		"the time":                         {instr{ID: 3, Do: doSleep, For: time.Millisecond}, 2, 1},
		"a side effect":                    {instr{ID: 3, Do: doRecord}, 2, 1},
		"the next's time":                  {instr{ID: 3, Do: doContinue, Body: []instr{{ID: 4, Do: doSleep, For: time.Millisecond}}}, 2, 1},
		"the next's receive":               {instr{ID: 3, Do: doContinue, Body: []instr{{ID: 4, Do: doReceive, Name: "b"}}}, 2, 0},
		"a side effect, before the signal": {instr{ID: 3, Do: doRecord}, 1, 0},
	} {
		program := []instr{{ID: 2, Do: doReceive, Name: "a"}, c.then}
		if c.looks == 1 { // the first query has no answer
			program[0], program[1] = program[1], program[0]
		}
		w := simulate(t, &plan{
			Seed: 1, Nodes: []nodePlan{{StepsMax: 1, Lanes: 1}}, Lease: time.Second, Poll: time.Second, Drain: time.Second, Slow: time.Millisecond, Long: 9,
			Runs: []runPlan{
				{At: time.Second, Program: []instr{{ID: 1, Do: doStep, For: 4 * time.Second}}},
				{At: 2 * time.Second, With: sendSignal, Program: program, Sends: []send{{At: 0, Do: sendQuery, Via: 1}}},
			},
		}, nil)
		if len(w.broken) > 0 || w.looks != c.looks || w.excuses != c.excuses {
			t.Errorf("the code asks for %s: %d answers, %d of them before the signal, want %d and %d; %v", name, w.looks, w.excuses, c.looks, c.excuses, w.broken)
		}
	}
}
