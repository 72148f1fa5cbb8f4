package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// noon is when the facts of these tests begin.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func at(ms int) time.Time { return noon.Add(time.Duration(ms) * time.Millisecond) }

// soundFacts are those of two runs that went as they should: a chain that moved when its node was
// killed, and a receiver. What was acknowledged before 1 s must be in the database.
func soundFacts(t *testing.T) *facts {
	t.Helper()
	text := func(v any) journal.Payload {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return journal.Payload{Data: data}
	}
	a := journal.Run{ID: journal.NewRunID(), Key: "a", Status: journal.Completed}
	a.Terminal = &journal.Event{Kind: journal.RunCompleted, Payload: text(outcome{Drawn: []string{"x", "y"}})}
	b := journal.Run{ID: journal.NewRunID(), Key: "b", Status: journal.Completed}
	b.Terminal = &journal.Event{Kind: journal.RunCompleted, Payload: text(outcome{Drawn: []string{"z"}, Received: []string{"b#0"}})}
	step := func(name, drawn string) journal.Event {
		return journal.Event{Kind: journal.StepCompleted, Name: name, Payload: text(drawn)}
	}
	return &facts{
		runs: map[string]history{
			"a": {a, []journal.Event{{Kind: journal.RunStarted}, step("effect", "x"), step("draw", "y"), *a.Terminal}},
			"b": {b, []journal.Event{
				{Kind: journal.RunStarted}, {Kind: journal.SignalReceived, Payload: text("b#0")}, step("draw", "z"),
				{Kind: journal.SignalReceived, Payload: text("late")}, *b.Terminal,
			}},
		},
		inboxes: map[string][]string{b.ID.String(): {"b#0", "late"}},
		effects: []effect{{"a", 0, "x"}},
		cut:     at(1000),
		entries: []entry{
			{At: at(0), By: "n1", What: joined, Value: "1"}, {At: at(0), By: "n2", What: joined, Value: "2"},
			{At: at(10), By: "c", What: started, Key: "a", Run: a.ID.String()},
			{At: at(20), By: "n1", What: begun, Key: "a", Exec: "lost"},
			{At: at(30), By: "stage", What: killed, Value: "n1"},
			{At: at(700), By: "n2", What: begun, Key: "a", Exec: "x"}, {At: at(701), By: "n2", What: ended, Key: "a", Exec: "x"},
			{At: at(702), By: "n2", What: begun, Key: "a", Step: 1, Exec: "y"}, {At: at(703), By: "n2", What: ended, Key: "a", Step: 1, Exec: "y"},
			{At: at(710), By: "c", What: resulted, Key: "a", Run: a.ID.String(), Value: string(a.Terminal.Payload.Data)},
			{At: at(720), By: "c", What: started, Key: "b", Run: b.ID.String()},
			{At: at(730), By: "c", What: signalled, Key: "b", Run: b.ID.String(), Value: "b#0"},
			{At: at(740), By: "n2", What: begun, Key: "b", Exec: "z"}, {At: at(741), By: "n2", What: ended, Key: "b", Exec: "z"},
		},
	}
}

func TestAuditOfSoundFacts(t *testing.T) {
	t.Parallel()
	g := soundFacts(t).audit(at(5000))
	strict := expectation{prompt: true}
	if err := strict.check(g); err != nil {
		t.Errorf("%v: %s", err, g)
	}
	const want = "runs 2, open 0, failed 0 | lost: starts 0, results 0, signals 0 | contradictions 0, effects astray 0 | " +
		"steps 3, repeated 1, moved 1, at once 0, overlap -670 ms | 1 takeovers: median 0.67 s, worst 0.67 s | " +
		"nodes 2, joined again 0 | calls repeated 0 | violations 0"
	if got := g.String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestAuditFindsWhatIsBroken breaks one fact at a time, and the question that it answers says so.
// Some break two, because they are told in two ways.
func TestAuditFindsWhatIsBroken(t *testing.T) {
	t.Parallel()
	set := func(f *facts, key string, change func(*history)) {
		h := f.runs[key]
		h.events = slices.Clone(h.events)
		change(&h)
		f.runs[key] = h
	}
	hold := func(f *facts) { // as many as may; one more begins when the first one ends
		for i := range boundedMost + 1 {
			key := fmt.Sprint(bounded, "/", i)
			begin := entry{At: at(800 + i), By: "n2", What: begun, Key: key, Exec: key}
			f.entries = append(f.entries, begin, entry{At: at(800 + boundedMost + i), By: "n2", What: ended, Exec: key})
		}
	}
	for _, c := range []struct {
		name  string
		wreck func(*facts)
		want  string
	}{
		{"nobody has written anything down", func(f *facts) { f.entries = nil }, "silence takeovers"},
		{"a run stands still", func(f *facts) {
			set(f, "b", func(h *history) { h.run.Status, h.run.Terminal = journal.Open, nil })
		}, "open"},
		{"a run has failed", func(f *facts) { set(f, "b", func(h *history) { h.run.Status = journal.Failed }) }, "failed"},
		{"a start is lost", func(f *facts) { delete(f.runs, "b") }, "lost"},
		{"a key has another run", func(f *facts) { set(f, "b", func(h *history) { h.run.ID = journal.NewRunID() }) }, "lost"},
		{"a signal is lost", func(f *facts) { clear(f.inboxes) }, "lost"},
		{"a result is lost", func(f *facts) {
			set(f, "a", func(h *history) { h.run.Status, h.run.Terminal = journal.Open, nil })
		}, "open lost"},
		{"a result has changed since it was acknowledged", func(f *facts) {
			i := slices.IndexFunc(f.entries, func(e entry) bool { return e.What == resulted })
			f.entries[i].Value = strings.Replace(f.entries[i].Value, "y", "w", 1)
		}, "lost"},
		{"a result is not what the steps have drawn", func(f *facts) {
			set(f, "a", func(h *history) { h.events[2].Payload.Data = []byte(`"w"`) })
		}, "contradictions"},
		{"a result names a signal that the history shows as another", func(f *facts) {
			set(f, "b", func(h *history) { h.events[1].Payload.Data = []byte(`"b#1"`) })
		}, "contradictions"},
		{"an effect is missing", func(f *facts) { f.effects = nil }, "astray"},
		{"an effect is there twice", func(f *facts) { f.effects = append(f.effects, f.effects[0]) }, "astray"},
		{"an effect belongs to no event", func(f *facts) { f.effects = append(f.effects, effect{"a", 0, "lost"}) }, "astray"},
		{"a step runs on two nodes", func(f *facts) {
			f.entries = append(f.entries, entry{At: at(735), By: "n3", What: begun, Key: "b", Exec: "w"}, entry{At: at(900), By: "n3", What: cancelled, Exec: "w"})
		}, "overlap"},
		{"a step that has no end is repeated", func(f *facts) {
			f.entries = append(f.entries, entry{At: at(735), By: "n3", What: begun, Key: "b", Exec: "w"})
		}, "overlap"},
		{"more hold a limit than it allows", func(f *facts) {
			hold(f)
			f.entries = append(f.entries, entry{At: at(801), By: "n1", What: begun, Key: "bounded/9", Exec: "9"}, entry{At: at(820), By: "n1", What: ended, Exec: "9"})
		}, "beyond"},
		{"as many hold a limit as it allows", hold, ""},
		{"nobody holds a limit that is there", func(f *facts) { set(f, "b", func(h *history) { h.run.Workflow = string(bounded) }) }, "silence"},
		{"a node was declared dead", func(f *facts) {
			f.entries = append(f.entries, entry{At: at(900), By: "n2", What: joined, Value: "3"})
		}, "rejoined"},
		{"a takeover takes long", func(f *facts) {
			i := slices.IndexFunc(f.entries, func(e entry) bool { return e.Exec == "x" })
			f.entries[i].At, f.entries[i+1].At = at(1100), at(1101)
		}, "takeovers"},
		{"the checker finds something", func(f *facts) { f.violations = []string{"J1"} }, "violations"},
	} {
		f := soundFacts(t)
		c.wreck(f)
		strict := expectation{prompt: true}
		g := f.audit(at(5000))
		if got := strings.Join(strict.questions(g), " "); got != c.want {
			t.Errorf("%s: the audit says %q, want %q", c.name, got, c.want)
		}
		g.print(io.Discard, strict.questions(g))
	}
}

// TestAuditOfATail: what was acknowledged after the cut may be lost, what was before may not.
func TestAuditOfATail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cut  time.Time
		want string
	}{{time.Time{}, "lost"}, {at(800), "lost"}, {at(715), ""}} {
		f := soundFacts(t)
		delete(f.runs, "b")
		clear(f.inboxes)
		f.cut = c.cut
		e := expectation{tail: true}
		g := f.audit(at(5000))
		if got := strings.Join(e.questions(g), " "); got != c.want {
			t.Errorf("cut at %v: the audit says %q, want %q: %s", c.cut, got, c.want, g)
		}
	}
}

func TestLogClock(t *testing.T) {
	t.Parallel()
	c := &logClock{done: make(chan struct{})}
	close(c.done)
	for i, text := range []string{"0/10", "0/20", "1/0"} {
		end, err := parsePosition(text)
		if err != nil {
			t.Fatal(err)
		}
		c.readings = append(c.readings, reading{at(i), end})
	}
	for _, want := range []struct {
		end position
		at  time.Time
	}{{0x1f, at(0)}, {0x20, at(1)}, {0xffffffff, at(1)}, {1 << 32, at(2)}, {0, time.Time{}}} {
		if got := c.before(want.end); !got.Equal(want.at) {
			t.Errorf("before(%x) = %v, want %v", want.end, got, want.at)
		}
	}
	if _, err := parsePosition("0"); err == nil {
		t.Error("a position without its second half is taken")
	}
}

// TestCourses: flags come after what a scenario sets, and a lag that is given is the only one.
func TestCourses(t *testing.T) {
	t.Parallel()
	sc, err := scenarioOf("async")
	if err != nil {
		t.Fatal(err)
	}
	if got := sc.courses(options{}, nil); len(got) != 3 || got[2].lag != 3*time.Second {
		t.Errorf("async is played with %+v, want three lags", got)
	}
	given := options{lag: time.Second, runs: 5}
	if got := sc.courses(given, map[string]bool{"lag": true, "runs": true}); len(got) != 1 || got[0].lag != time.Second || got[0].runs != 5 {
		t.Errorf("async with flags is played with %+v", got)
	}
	if _, err := scenarioOf("nothing"); err == nil {
		t.Error("there is a scenario called nothing")
	}
	names := map[string]bool{}
	for _, sc := range scenarios {
		if names[sc.name] || sc.play == nil || sc.about == "" {
			t.Errorf("scenario %q has a name twice, no course or no text", sc.name)
		}
		names[sc.name] = true
	}
	var out strings.Builder
	if err := run(t.Context(), []string{"-list"}, &out); err != nil || strings.Count(out.String(), "\n") != len(scenarios) {
		t.Errorf("-list: %v, %s", err, out.String())
	}
	for _, args := range [][]string{{"-scenario", "nothing"}, {"-lag", "x"}} {
		if err := run(t.Context(), args, io.Discard); err == nil {
			t.Errorf("%s is accepted", fmt.Sprint(args))
		}
	}
}
