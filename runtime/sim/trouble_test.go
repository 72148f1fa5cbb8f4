package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal/journaltest/faulty"
)

// The faults of a store that is there and does not do what it is asked for: it is slow, or it only
// reads. One that refuses everything is an outage or, for one node, a partition; rows that are held
// are part of a lossy network.

// slowness is how many times as long calls take while the store is slow.
const slowness = 100

// readVerbs are the calls that a standby answers.
var readVerbs = []string{"load", "list", "nodes", "begin", "look", "ask", "owned"}

// refusesWrite tells whether the store refuses a call now because it only reads.
func (w *world) refusesWrite(c faulty.Call) bool {
	return w.active(readOnly, 0) && !slices.Contains(readVerbs, c.Verb)
}

// slowest is the longest that a call of the process, or its answer, is in flight now.
func (p *process) slowest() time.Duration {
	if p.w.active(slowStore, max(p.place, 0)) {
		return slowness * p.w.plan.Slow
	}
	return p.w.plan.Slow
}

// troubles adds such faults to a plan. They come from a generator of their own, so that the rest of
// the plan is what its seed made of it before there were any.
func (p *plan) troubles() {
	m := &maker{Rand: rand.New(rand.NewPCG(p.Seed, 0x510))}
	if m.IntN(4) == 0 {
		p.Faults = append(p.Faults, fault{
			At: m.between(0, 8*time.Second), Kind: slowStore, Node: m.IntN(len(p.Nodes) + 1), For: m.between(time.Second, 6*time.Second),
		})
	}
	if m.IntN(6) == 0 {
		f := fault{At: m.between(0, 8*time.Second), Kind: readOnly, For: m.between(time.Millisecond, 3*time.Second)}
		if m.IntN(3) == 0 { // the nodes lose their leases
			f.For += p.Lease
		}
		p.Faults = append(p.Faults, f)
	}
}

// TestTroubles: both are drawn, and a world in which they last has no write, and calls that take
// long, as long as they do and no longer.
func TestTroubles(t *testing.T) {
	drawn := map[faultKind]int{}
	for seed := range uint64(200) {
		for _, f := range generate(seed).Faults {
			drawn[f.Kind]++
		}
	}
	if drawn[slowStore] < 20 || drawn[readOnly] < 20 {
		t.Errorf("drawn: %v", drawn)
	}
	synctest.Test(t, func(t *testing.T) {
		p := &plan{Slow: time.Millisecond, Nodes: []nodePlan{{}, {}}, Faults: []fault{
			{At: time.Second, Kind: readOnly, For: time.Second}, {At: time.Second, Kind: slowStore, Node: 2, For: time.Second},
		}}
		w := &world{plan: p, began: time.Now()}
		nodes := []*process{{w: w, place: 1, name: "a"}, {w: w, place: 2, name: "b"}}
		for _, lasts := range []bool{false, true, false} {
			for _, verb := range []string{"commit", "start", "send", "claim", "renew", "join", "load", "list", "ask"} {
				want := faulty.None
				if lasts && !slices.Contains(readVerbs, verb) {
					want = faulty.Before
				}
				if got := nodes[0].decide(faulty.Call{Verb: verb, Nth: 1}); got != want {
					t.Errorf("after %s: a %s has the fault %s, want %s", w.elapsed(), verb, got, want)
				}
			}
			if a, b := nodes[0].slowest(), nodes[1].slowest(); a != p.Slow || (b > 50*p.Slow) != lasts {
				t.Errorf("after %s: calls take up to %s and %s", w.elapsed(), a, b)
			}
			time.Sleep(time.Second)
		}
	})
}
