package sim

import (
	"testing"
	"time"
)

// TestPausesItself: a run that pauses itself starts no step between the commit that says so and its
// answer (J11): neither one that waits for the slot of the step that has paused it, nor one that has
// this slot and waits for its transaction.
func TestPausesItself(t *testing.T) {
	pauses := 0
	for i := range 40 {
		w := simulate(t, &plan{
			Seed: uint64(i), Nodes: []nodePlan{{StepsMax: 1 + i%2, Lanes: 1}}, Lease: 2 * time.Second, Poll: time.Second, Drain: time.Second,
			Slow: time.Duration(1+i) * 500 * time.Microsecond,
			Runs: []runPlan{{Program: []instr{{ID: 1, Do: doEvery, Body: []instr{
				{ID: 2, Do: doStep, For: 18 * time.Millisecond, Fail: 3, Max: 1, Sort: sort{Beat: i%4 > 1, Waits: true}},
				{ID: 3, Do: doStep, For: 50 * time.Millisecond, Sort: sort{Tx: i%3 > 0}},
				{ID: 4, Do: doStep, For: time.Duration(i) * time.Millisecond, Sort: sort{Tx: i%3 > 0}},
			}}}}},
		}, nil)
		for _, b := range w.broken {
			t.Errorf("plan %d: %s", i, b)
		}
		pauses += w.pausedSelf
	}
	if pauses < 40 {
		t.Errorf("runs have paused themselves %d times", pauses)
	}
}
