package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestReplay measures how exact a replay is: see the package's story.
func TestReplay(t *testing.T) {
	same := 0
	for seed := uint64(1); seed <= replays; seed++ {
		a, b := simulate(t, generate(seed), nil).digest(), simulate(t, generate(seed), nil).digest()
		if a == b {
			same++
		} else if *verbose {
			t.Logf("seed %d:\n%s\n---\n%s", seed, a, b)
		}
	}
	t.Logf("%d of %d seeds did the same twice, to the nanosecond", same, replays)
	if same < replaysMin {
		t.Errorf("want at least %d", replaysMin)
	}
}

// digest is what happened, without run ids, which are drawn anew each time.
func (w *world) digest() string {
	var b strings.Builder
	for i := range w.tape.commits {
		c := &w.tape.commits[i]
		fmt.Fprintf(&b, "%s %s: run %s fence %d turn %d next %d\n", c.at, c.process, w.number(c.Run), c.Fence, c.Turn, c.Next.Kind)
		for k := range c.Events {
			ev := &c.Events[k]
			fmt.Fprintf(&b, "  %d %s %s %s\n", ev.Seq, ev.Kind, ev.Name, ev.Time)
		}
	}
	for _, e := range slices.Clone(w.executions) {
		fmt.Fprintf(&b, "%s %s: run %s %s\n", e.began, e.process, w.number(e.run), e.step)
	}
	return b.String()
}
