package sim

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/journaltest/faulty"
)

// The faults of a store that is there and does not do what it is asked for: it is slow, it carries
// one thing at a time, it only reads, or it waits for rows that somebody else has locked. One that
// refuses everything is an outage or, for one node, a partition.

// slowness is how many times as long calls take while the store is slow.
const slowness = 100

// readVerbs are the calls that a standby answers.
var readVerbs = []string{"load", "list", "nodes", "begin", "look", "ask", "owned"}

// refusesWrite tells whether the store refuses a call now because it only reads.
func (w *world) refusesWrite(c faulty.Call) bool {
	return w.active(readOnly, 0) && !slices.Contains(readVerbs, c.Verb)
}

// isHeld tells whether a program's transaction has locked the rows of a run now: of every third.
func (w *world) isHeld(run journal.RunID) bool {
	return w.active(heldRows, 0) && hash(w.plan.Seed, "held", run)%3 == 0
}

// slowest is the longest that a call of the process, or its answer, is in flight now.
func (p *process) slowest() time.Duration {
	if p.w.active(slowStore, max(p.place, 0)) {
		return slowness * p.w.plan.Slow
	}
	return p.w.plan.Slow
}

// tooMany tells whether a call has more members than get through now: more than one.
func (p *process) tooMany(c faulty.Call) bool {
	return c.Members > 1 && p.w.active(narrow, max(p.place, 0))
}

// tookLong tells whether a call that fails is one of those, so that its caller divides it.
func (p *process) tookLong(c faulty.Call) bool { return p.tooMany(c) && !p.w.undivided }

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
	if m.IntN(4) == 0 {
		p.Faults = append(p.Faults, fault{
			At: m.between(0, 8*time.Second), Kind: narrow, Node: m.IntN(len(p.Nodes) + 1), For: m.between(time.Second, 8*time.Second),
		})
	}
	if m.IntN(2) == 0 { // of one event or a few
		p.Page = 1 + int(m.between(0, 3000))
	}
	if m.IntN(4) == 0 {
		p.Faults = append(p.Faults, fault{At: m.between(0, 8*time.Second), Kind: heldRows, For: m.between(time.Second, 8*time.Second)})
	}
}

// TestTroubles: all are drawn, and a world in which they last has no write, and calls that take
// long, as long as they do and no longer.
func TestTroubles(t *testing.T) {
	drawn, pages := map[faultKind]int{}, 0
	for seed := range uint64(200) {
		p := generate(seed)
		for _, f := range p.Faults {
			drawn[f.Kind]++
		}
		if p.Page > 0 {
			pages++
		}
	}
	if drawn[slowStore] < 20 || drawn[readOnly] < 20 || drawn[narrow] < 20 || drawn[heldRows] < 20 || pages < 50 {
		t.Errorf("drawn: %v, and %d with small pages", drawn, pages)
	}
	synctest.Test(t, func(t *testing.T) {
		p := &plan{Slow: time.Millisecond, Nodes: []nodePlan{{}, {}}, Faults: []fault{
			{At: time.Second, Kind: readOnly, For: time.Second}, {At: time.Second, Kind: slowStore, Node: 2, For: time.Second},
			{At: time.Second, Kind: narrow, Node: 2, For: time.Second},
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
			for _, members := range []int{1, 2} {
				c := faulty.Call{Verb: "load", Nth: 1, Members: members}
				if got := nodes[1].decide(c) != faulty.None; got != (lasts && members > 1) || got != nodes[1].tooMany(c) || nodes[0].tooMany(c) {
					t.Errorf("after %s: a load of %d takes too long: %v", w.elapsed(), members, got)
				}
			}
			if a, b := nodes[0].slowest(), nodes[1].slowest(); a != p.Slow || (b > 50*p.Slow) != lasts {
				t.Errorf("after %s: calls take up to %s and %s", w.elapsed(), a, b)
			}
			time.Sleep(time.Second)
		}
	})
}
