package sim

import (
	"slices"
	"testing"
	"time"
)

// withRoom is for how much of a time, given by the store's clock, some node could have taken up one
// more run. A node that executes as many steps as it may at once claims nothing (actor's room): a run
// that comes due then waits until a step ends, by right, and the next in line until the next one
// ends. How long a line takes follows from its steps, of which one may take seven seconds (see
// maker.step) and which run again when a drain has interrupted them, so no number bounds it. What is
// bounded is how long a run waits although there is a place for it, and that is what checkLate and
// attended hold against lateMax. A node without a limit has a place always. The time is one of the
// calm, in which nodes neither come nor go.
func (w *world) withRoom(from, to time.Time) (sum time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	begin, end := w.elapsedAt(from), w.elapsedAt(to)
	if begin >= end { // it is not due yet
		return 0
	}
	marks := []time.Duration{begin, end}
	for _, e := range w.executions {
		for _, at := range []time.Duration{e.began, e.over} {
			if at > begin && at < end {
				marks = append(marks, at)
			}
		}
	}
	slices.Sort(marks)
	for i, at := range marks[1:] {
		if w.hasRoom(marks[i]) {
			sum += at - marks[i]
		}
	}
	return sum
}

// hasRoom tells whether some node had a free slot at a moment of the calm. The caller holds mu.
func (w *world) hasRoom(at time.Duration) bool {
	for place, n := range w.plan.Nodes {
		p := w.nodes[place+1]
		if p == nil { // it has not come back, and somebody else would say so
			continue
		}
		busy := 0
		for _, e := range w.executions {
			if e.process == p.name && e.began <= at && (e.over == 0 || e.over > at) {
				busy++
			}
		}
		if n.StepsMax == 0 || busy < n.StepsMax {
			return true
		}
	}
	return false
}

// elapsedAt is when, since the world began, the store's clock shows a time of the calm.
func (w *world) elapsedAt(t time.Time) time.Duration {
	calm := w.plan.calm() // behind it the clock makes no leap
	return calm + time.Duration(float64(t.Sub(w.storeTime(calm)))/(1+float64(w.plan.Clock.Gain)/1e6))
}

// TestWithRoom: of a time counts what some node has a free slot for, on a clock that gains.
func TestWithRoom(t *testing.T) {
	one, two := &process{name: "1.1"}, &process{name: "2.3"}
	w := &world{
		began: time.Now(), nodes: map[int]*process{1: one, 2: two},
		plan: &plan{Clock: clockPlan{Ahead: time.Hour, Gain: 20_000}, Nodes: []nodePlan{{StepsMax: 1}, {StepsMax: 2}}, Faults: []fault{{Kind: leap, For: time.Minute}}},
		executions: []*execution{
			{process: "1.1", began: 10 * time.Second}, // and does not end
			{process: "2.2", began: 20 * time.Second}, // of a life that is over
			{process: "2.3", began: 20 * time.Second, over: 50 * time.Second},
			{process: "2.3", began: 30 * time.Second, over: 40 * time.Second},
			{process: "2.3", began: 41 * time.Second, over: 42 * time.Second},
		},
	}
	between := func(from, to time.Duration) time.Duration {
		return w.withRoom(w.storeTime(from), w.storeTime(to)).Round(time.Millisecond)
	}
	for _, c := range []struct{ from, to, want time.Duration }{
		{0, 30 * time.Second, 30 * time.Second}, {30 * time.Second, 40 * time.Second, 0}, {35 * time.Second, 39 * time.Second, 0},
		{25 * time.Second, 45 * time.Second, 9 * time.Second}, {50 * time.Second, time.Minute, 10 * time.Second},
		{time.Minute, 50 * time.Second, 0},
	} {
		if got := between(c.from, c.to); got != c.want {
			t.Errorf("from %s to %s nodes have room for %s, want %s", c.from, c.to, got, c.want)
		}
	}
	w.plan.Nodes[0].StepsMax = 0
	if got := between(30*time.Second, 40*time.Second); got != 10*time.Second {
		t.Errorf("a node without a limit has room for %s of ten seconds", got)
	}
}
