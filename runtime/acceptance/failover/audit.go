package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// figures is what an audit has counted. The texts show some of what is wrong, each question's in
// its own words.
type figures struct {
	runs, open int
	told       int // starts and results that were acknowledged
	// What was acknowledged and is not in the database, or says something else there: in the tail
	// that a fault takes with it, and before that.
	tail, early loss
	// contradictions are closed runs whose result is not what their history says.
	contradictions int
	// astray are transactional steps with an event and no effect, an effect and no event, or more
	// than one effect.
	astray     int
	failed     int // runs that ended without a result
	steps      int // that were executed
	repeated   int // of these more than once
	overlap    overlap
	bounded    int // runs whose steps hold a limit
	held       held
	takeovers  []time.Duration
	nodes      int
	rejoined   int // memberships beyond a node's first
	refusals   int // calls that clients had to repeat
	violations int
	problems   map[string][]string
}

// loss counts what was acknowledged and is lost.
type loss struct{ starts, results, signals int }

func (l loss) any() bool { return l != loss{} }

const problemsMax = 3 // of one question that are shown

func (g *figures) problem(question, format string, args ...any) {
	if len(g.problems[question]) < problemsMax {
		g.problems[question] = append(g.problems[question], fmt.Sprintf(format, args...))
	}
}

// audit counts. It believes neither the database nor the engine: each fact is held against another
// one that came a different way.
func (f *facts) audit(now time.Time) *figures {
	g := &figures{problems: map[string][]string{}, violations: len(f.violations)}
	for _, v := range f.violations {
		g.problem("violations", "%s", v)
	}
	for _, s := range f.stuck {
		g.problem("open", "%s", s)
	}
	f.auditRuns(g)
	f.auditAcknowledged(g)
	f.auditEffects(g)
	all := bodies(f.entries)
	g.steps = len(all)
	for _, list := range all {
		if len(list) > 1 {
			g.repeated++
		}
	}
	if g.overlap = overlaps(all, now); g.overlap.longest > 0 {
		g.problem("overlap", "%s", g.overlap.example)
	}
	if g.held = holders(all, now); g.held.most > boundedMost {
		g.problem("beyond", "%s", g.held.example)
	}
	g.takeovers = takeovers(all)
	for node, ids := range members(f.entries) {
		g.nodes++
		if g.rejoined += ids - 1; ids > 1 {
			g.problem("rejoined", "%s was a member under %d ids", node, ids)
		}
	}
	return g
}

// auditRuns looks at each run by itself: it has ended, and its result is what its steps have drawn
// and its signals have said.
func (f *facts) auditRuns(g *figures) {
	for key, h := range f.runs {
		if g.runs++; h.run.Workflow == string(bounded) {
			g.bounded++
		}
		switch {
		case !h.run.Status.Closed():
			g.open++
			continue
		case h.run.Status != journal.Completed:
			g.failed++
			g.problem("failed", "run %s (%s) is %s", h.run.ID, key, h.run.Status)
			continue
		}
		var says outcome
		if err := json.Unmarshal(h.run.Terminal.Payload.Data, &says); err != nil {
			g.contradictions++
			g.problem("contradictions", "run %s (%s): result: %v", h.run.ID, key, err)
			continue
		}
		shows := h.shows(len(says.Received))
		if !slices.Equal(says.Drawn, shows.Drawn) || !slices.Equal(says.Received, shows.Received) {
			g.contradictions++
			g.problem("contradictions", "run %s (%s) returned %v, its history shows %v", h.run.ID, key, says, shows)
		}
	}
}

// shows is the outcome as the history has it. A run takes its signals in their order, and may leave
// some.
func (h *history) shows(signals int) (o outcome) {
	for _, e := range h.events {
		var said string
		switch e.Kind {
		case journal.StepCompleted:
			_ = json.Unmarshal(e.Payload.Data, &said) // what is no text equals nothing that was drawn
			o.Drawn = append(o.Drawn, said)
		case journal.SignalReceived:
			_ = json.Unmarshal(e.Payload.Data, &said)
			o.Received = append(o.Received, said)
		}
	}
	o.Received = o.Received[:min(signals, len(o.Received))]
	return o
}

// auditAcknowledged looks for everything that a client was told in the database.
func (f *facts) auditAcknowledged(g *figures) {
	for _, e := range f.entries {
		h, known := f.runs[e.Key]
		known = known && h.run.ID.String() == e.Run
		lost := &g.early
		if !f.cut.IsZero() && e.At.After(f.cut) {
			lost = &g.tail
		}
		before := *lost
		if e.What == started || e.What == resulted {
			g.told++
		}
		switch {
		case e.What == refused:
			g.refusals++
		case e.What == started && !known:
			lost.starts++
		case e.What == resulted && (!known || !h.run.Status.Closed() || !sameResult(h.run.Terminal, e.Value)):
			lost.results++
		case e.What == signalled && !slices.Contains(f.inboxes[e.Run], e.Value):
			lost.signals++
		}
		if lost == &g.early && *lost != before {
			g.problem("lost", "%s: %s %s %s was acknowledged at %s", e.By, e.What, e.Key, e.Value, e.At.Format(clock))
		}
	}
}

// sameResult compares what a client got with what the database has.
func sameResult(terminal *journal.Event, acknowledged string) bool {
	var here, there outcome
	if terminal == nil || json.Unmarshal(terminal.Payload.Data, &here) != nil || json.Unmarshal([]byte(acknowledged), &there) != nil {
		return false
	}
	return slices.Equal(here.Drawn, there.Drawn) && slices.Equal(here.Received, there.Received)
}

// auditEffects holds the rows of transactional steps against their events: both are in one
// transaction, so each has the other, whatever happened to the database.
func (f *facts) auditEffects(g *figures) {
	times := map[effect]int{}
	for _, e := range f.effects {
		times[e]++
	}
	for key, h := range f.runs {
		step := -1
		for _, ev := range h.events {
			if ev.Kind != journal.StepCompleted {
				continue
			}
			step++
			if ev.Name != "effect" {
				continue
			}
			e := effect{Key: key, Step: step}
			_ = json.Unmarshal(ev.Payload.Data, &e.Value) // what is no text has no effect
			if n := times[e]; n != 1 {
				g.astray++
				g.problem("astray", "step %d of %s has an event and %d effects", step, key, n)
			}
			delete(times, e)
		}
	}
	for e, n := range times {
		g.astray++
		g.problem("astray", "step %d of %s has %d effects that its history does not know", e.Step, e.Key, n)
	}
}

// silent tells whether nothing happened that could have gone wrong, or nobody wrote it down.
func (g *figures) silent() bool {
	return g.runs == 0 || g.told == 0 || g.steps == 0 || g.nodes == 0 || g.bounded > 0 && g.held.most < boundedMost
}

// String is the line of a scenario.
func (g *figures) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "runs %d, open %d, failed %d | lost: starts %d, results %d, signals %d", g.runs, g.open, g.failed,
		g.early.starts, g.early.results, g.early.signals)
	if g.tail.any() {
		fmt.Fprintf(&b, " (with the tail %d, %d, %d)", g.tail.starts, g.tail.results, g.tail.signals)
	}
	fmt.Fprintf(&b, " | contradictions %d, effects astray %d | steps %d, repeated %d", g.contradictions, g.astray, g.steps, g.repeated)
	if g.overlap.moves > 0 {
		fmt.Fprintf(&b, ", moved %d, at once %d, overlap %d ms", g.overlap.moves, g.overlap.at, g.overlap.longest.Milliseconds())
	}
	if g.bounded > 0 {
		fmt.Fprintf(&b, " | %d of %d held a limit at once", g.held.most, boundedMost)
	}
	if n := len(g.takeovers); n > 0 {
		fmt.Fprintf(&b, " | %d takeovers: median %.2f s, worst %.2f s", n, g.takeovers[n/2].Seconds(), g.takeovers[n-1].Seconds())
	}
	fmt.Fprintf(&b, " | nodes %d, joined again %d | calls repeated %d | violations %d", g.nodes, g.rejoined, g.refusals, g.violations)
	return b.String()
}

// print shows what is behind the figures that are not as they should be.
func (g *figures) print(out io.Writer, questions []string) {
	for _, q := range questions {
		for _, p := range g.problems[q] {
			fmt.Fprintf(out, "    %s: %s\n", q, p)
		}
	}
}
