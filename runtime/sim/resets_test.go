package sim

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

var (
	resets     = flag.Int("resets", resetsDefault, "how many random programs are reset to each of their events")
	resetsFrom = flag.Uint64("resets-from", 1, "the seed of the first")
)

const (
	// resetEvery is how long a run has between two resets: most come to their end.
	resetEvery = 15 * time.Second
	// resetsAtOnce is how many resets a simulation has, so that none takes long.
	resetsAtOnce = 8
)

// TestResets: whatever the point to which a run is reset, each generation replays clean, and no step
// runs again whose outcome is before the point (J13). That is what checkReplay and checkAttempts
// say. Nothing else happens to these runs, so each attempt of a step is executed exactly once under
// its key too.
func TestResets(t *testing.T) {
	began, counts, programs := time.Now(), tally{}, 0
	for i := range uint64(*resets) {
		seed := *resetsFrom + i
		w := simulate(t, resettable(seed), nil)
		events := w.tape.eventsOf(w.runs[0].id)
		for first := 0; first < events; first += resetsAtOnce {
			p := resettable(seed)
			for n := first; n < min(first+resetsAtOnce, events); n++ {
				at := resetEvery * time.Duration(1+n-first)
				p.Runs[0].Sends = append(p.Runs[0].Sends, send{At: at, Do: sendReset, Back: backPlan{Point: atEvent, Number: n, Proof: n%2 == 0}})
			}
			w := simulate(t, p, nil)
			w.executedOnce()
			counts.add(w)
			for _, b := range w.broken {
				t.Errorf("seed %d, events from %d: %s", seed, first+1, b)
			}
			if t.Failed() {
				t.Fatalf("as -plan reads it:\n%s", planText(t, p))
			}
		}
		programs++
	}
	if made := counts["rewinds: reset"]; made < 3*programs {
		t.Errorf("%d programs have been reset %d times", programs, made)
	}
	t.Logf("%d programs, %s, of\n%s", programs, time.Since(began).Round(time.Millisecond), counts)
}

// resettable is the first run of a seed's plan and what clients send it, with all signals that its
// program waits for, and without faults and operators.
func resettable(seed uint64) *plan {
	p := generate(seed)
	p.Runs, p.Jobs, p.Faults = p.Runs[:1], nil, nil
	r := &p.Runs[0]
	r.Timeout = 0
	r.Sends = slices.DeleteFunc(r.Sends, func(s send) bool {
		return !slices.Contains([]sendKind{sendSignal, sendUpdate, sendQuery, sendCancel}, s.Do)
	})
	wants := receives(r.Program)
	for _, name := range signalNames {
		for range wants[name] {
			r.Sends = append(r.Sends, send{At: 10 * time.Second, Do: sendSignal, Signal: name})
		}
	}
	return p
}

// eventsOf is how many events the last generation of a run has.
func (t *tape) eventsOf(run journal.RunID) (n int) {
	for _, c := range t.commitsOf(run) {
		if n = int(c.NewHead().Seq); c.Continue != nil {
			n = 0
		}
	}
	return n
}

// executedOnce checks that no attempt of a step was executed a second time, but behind a retry, which
// children have that go on with a run that is reset. Only where no node dies and nothing is lost.
func (w *world) executedOnce() {
	type attempt struct {
		run journal.RunID
		key string
		n   int
	}
	known := map[attempt]*execution{}
	for _, e := range w.executions {
		at := attempt{e.run, e.key, e.attempt}
		if first := known[at]; first != nil && !w.tape.retried(e.run, first.gen, e.gen) {
			w.breaks("once", "step %s of run %s: attempt %d is executed in generation %d at %s and in generation %d at %s", e.step, w.number(e.run), e.attempt, first.gen, first.began, e.gen, e.began)
		}
		known[at] = e
	}
}

// retried tells whether a run was retried behind one generation and before the end of another.
func (t *tape) retried(run journal.RunID, behind, through journal.Generation) bool {
	return slices.ContainsFunc(t.backs, func(b goneBack) bool {
		return b.made == run && b.a.Kind == driver.AdminRetry && b.a.Rewind.Generation >= behind && b.a.Rewind.Generation < through
	})
}
