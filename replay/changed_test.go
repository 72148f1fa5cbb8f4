package replay_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
)

// changing is code of two turns, in which a change may be asked about at one of some places. Each
// place adds a step.
type changing struct {
	asks  string // where it asks: "" for nowhere
	fixed bool   // it takes the new branch without asking
}

var changePlaces = []string{"first", "between", "second turn", "end"}

func (v changing) define() *replay.Definition {
	return define(func(c ctx) (string, error) {
		for _, place := range changePlaces {
			taken := false
			if v.asks == place {
				taken = workflow.Changed(c, "new")
				say(c, "%s: %v", place, taken)
			}
			if taken || v.fixed && place == "first" {
				async(c, "added")
			}
			switch place {
			case "first":
				async(c, "one")
			case "between":
				if _, err := step(c, "two"); err != nil {
					return "", err
				}
			case "second turn":
				_, _ = step(c, "three")
			}
		}
		return "", nil
	})
}

// record returns the first events of a run of the code.
func (v changing) record(t *testing.T, events int) []journal.Event {
	t.Helper()
	r := newRig(v.define())
	defer r.m.Close()
	mustStep(t, r, started())
	for len(r.history) < events && !r.m.Finished() {
		p := r.m.Pending()
		mustStep(t, r, completed(p[len(p)-1].Cmd, p[len(p)-1].Name, `""`)) // the code waits for the newest
	}
	return r.history
}

// replays returns what the code says of a history, or how they part.
func (v changing) replays(history []journal.Event) (string, error) {
	r := newRig(v.define())
	defer r.m.Close()
	for i := range history {
		ev := history[i]
		if err := r.m.Replay(&ev); err != nil {
			return "", err
		}
	}
	return strings.TrimSpace(r.said["said"]), nil
}

// TestChangedMatrix: code that asks at a place or does not, against histories of code that did or
// did not, at the same or another place, of each length.
func TestChangedMatrix(t *testing.T) {
	versions := append([]string{""}, changePlaces...)
	for _, wrote := range versions {
		for _, reads := range versions {
			for events := 1; events <= 3; events++ {
				history := changing{asks: wrote}.record(t, events)
				said, err := changing{asks: reads}.replays(history)
				name := fmt.Sprintf("written by code that asks %q, read by code that asks %q, %d events", wrote, reads, events)
				if want := changeOutcome(wrote, reads, events); (err == nil) != want.fits || err == nil && said != want.said {
					t.Errorf("%s: said %q, %v; want %+v", name, said, err, want)
				}
				if _, ok := errors.AsType[*replay.DivergenceError](err); err != nil && !ok {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
	}
}

type changeResult struct {
	fits bool
	said string
}

// changeOutcome is the table. place is the turn in which code asks: the first two places are in the
// first one.
func changeOutcome(wrote, reads string, events int) changeResult {
	turn := map[string]int{"first": 1, "between": 1, "second turn": 2, "end": 3}
	reached := func(place string) bool { return place != "" && turn[place] <= events }
	switch {
	case wrote == reads && reached(reads):
		return changeResult{true, reads + ": true"}
	case reached(wrote): // the step behind the marker is missing or elsewhere
		return changeResult{fits: false}
	case reached(reads):
		return changeResult{true, reads + ": false"}
	}
	return changeResult{fits: true}
}

// TestChangedRemoved: when no run needs the old branch any more, the question is taken out and the
// new branch stays.
func TestChangedRemoved(t *testing.T) {
	asked := changing{asks: "first"}.record(t, 2)
	if _, err := (changing{fixed: true}).replays(asked); err != nil {
		t.Errorf("a history with the change: %v", err)
	}
	old := changing{}.record(t, 2)
	_, err := changing{fixed: true}.replays(old)
	d, ok := errors.AsType[*replay.DivergenceError](err)
	if !ok || d.Seq != 1 || d.Want != "step one" || d.Got != "step added" || !strings.Contains(d.Where, "workflows_test.go:") {
		t.Errorf("a history without it: %v", err)
	}
	// What comes then has the numbers that it would have had: they count the change.
	r := newRig(changing{fixed: true}.define())
	defer r.m.Close()
	for i := range asked {
		if err := r.m.Replay(&asked[i]); err != nil {
			t.Fatal(err)
		}
	}
	if p := r.m.Pending(); len(p) != 3 || p[0].Cmd != 2 || p[2].Cmd != 5 {
		t.Errorf("pending %+v", p)
	}
}

// TestChangedMovedBehind: a question that moved behind what was asked for later keeps its answer,
// as long as the code does the same otherwise.
func TestChangedMovedBehind(t *testing.T) {
	code := func(first bool) *replay.Definition {
		return define(func(c ctx) (string, error) {
			if first {
				workflow.Changed(c, "new")
			}
			_, _ = step(c, "one")
			say(c, "%v", workflow.Changed(c, "new"))
			return step(c, "two")
		})
	}
	r := newRig(code(true))
	defer r.m.Close()
	mustStep(t, r, started())
	mustStep(t, r, completed(2, "one", `""`))
	again := newRig(code(false))
	defer again.m.Close()
	for i := range r.history {
		if err := again.m.Replay(&r.history[i]); err != nil {
			t.Fatal(err)
		}
	}
	if again.said["said"] != "true\n" {
		t.Errorf("it says %q", again.said["said"])
	}
}

// TestChangedInLoop: a run that is in the middle of a loop when the code changes takes the new
// branch from its next turn on, if each turn has its scope, and stays with the old one if not.
func TestChangedInLoop(t *testing.T) {
	loop := func(asks, scoped bool) *replay.Definition {
		return define(func(c ctx) (string, error) {
			for range 4 {
				scope := c
				if scoped {
					scope = workflow.ChangeScope(c)
				}
				name := "old"
				if asks && workflow.Changed(scope, "new") {
					name = "new"
				}
				if asks && (name == "new") != workflow.Changed(scope, "new") {
					return "", errors.New("the second answer is another")
				}
				if _, err := step(scope, name); err != nil {
					return "", err
				}
			}
			return "", nil
		})
	}
	for _, scoped := range []bool{false, true} {
		old := newRig(loop(false, scoped))
		mustStep(t, old, started())
		mustStep(t, old, completed(1, "old", `""`))
		old.m.Close()
		r := newRig(loop(true, scoped))
		for i := range old.history {
			if err := r.m.Replay(&old.history[i]); err != nil {
				t.Fatal(err)
			}
		}
		r.history = old.history
		var names []string
		for !r.m.Finished() {
			p := r.m.Pending()[0]
			names = append(names, p.Name)
			mustStep(t, r, completed(p.Cmd, p.Name, `""`))
		}
		want := "[old old old]"
		if scoped {
			want = "[old new new]"
		}
		if fmt.Sprint(names) != want {
			t.Errorf("scoped %v: %v, want %s", scoped, names, want)
		}
		r.m.Close()
		checkFits(t, loop(true, scoped), r.history)
		if scoped {
			if err := replayErr(loop(false, true), r.history); err == nil {
				t.Error("code that never asks takes the new branch's history")
			}
		}
	}
}

func replayErr(def *replay.Definition, history []journal.Event) error {
	r := newRig(def)
	defer r.m.Close()
	for i := range history {
		ev := history[i]
		if err := r.m.Replay(&ev); err != nil {
			return err
		}
	}
	return nil
}

func checkFits(t *testing.T, def *replay.Definition, history []journal.Event) {
	t.Helper()
	if err := replayErr(def, history); err != nil {
		t.Error(err)
	}
}

// TestChangedSeveral: questions may be taken out, or asked in another order, as long as nothing
// stands between them.
func TestChangedSeveral(t *testing.T) {
	code := func(ids ...string) *replay.Definition {
		return define(func(c ctx) (string, error) {
			for _, id := range ids {
				say(c, "%s %v", id, workflow.Changed(c, id))
			}
			return step(c, "work")
		})
	}
	r := newRig(code("a", "b", "c"))
	defer r.m.Close()
	mustStep(t, r, started())
	for asks, want := range map[string]string{
		"a b c": "a true b true c true", "c b a": "c true b true a true", "b": "b true", "a d c": "a true d false c true", "": "",
	} {
		again := newRig(code(strings.Fields(asks)...))
		if err := again.m.Replay(&r.history[0]); err != nil {
			t.Errorf("%s: %v", asks, err)
		} else if got := strings.Join(strings.Fields(again.said["said"]), " "); got != want {
			t.Errorf("%s: %s", asks, got)
		}
		if p := again.m.Pending(); len(p) != 1 || p[0].Cmd != 4 {
			t.Errorf("%s: pending %+v", asks, p)
		}
		again.m.Close()
	}
}

// TestDivergenceOfDetail: the key of a child and the receiver of a signal are compared, and every
// kind with every other one. The error has the event, both commands and the line.
func TestDivergenceOfDetail(t *testing.T) {
	line := ""
	codes := map[string]func(ctx){
		"step a":           func(c ctx) { async(c, "a") },
		"child kid a":      func(c ctx) { line = here(0); workflow.CallAsync(c, kidName, "", &workflow.ChildOptions{Key: "a"}) },
		"child kid b":      func(c ctx) { line = here(0); workflow.CallAsync(c, kidName, "", &workflow.ChildOptions{Key: "b"}) },
		"child kid":        func(c ctx) { line = here(0); workflow.CallAsync(c, kidName, "", nil) },
		"child other":      func(c ctx) { line = here(0); workflow.CallAsync(c, workflow.Name[int, int]("other"), 1, nil) },
		"send number 0100": func(c ctx) { line = here(0); number.SendAsync(c, journal.RunID{1}, 1) },
		"send number 0200": func(c ctx) { line = here(0); number.SendAsync(c, journal.RunID{2}, 1) },
		"record a":         func(c ctx) { line = here(0); workflow.SideEffect(c, "a", func() int { return 1 }) },
		"record b":         func(c ctx) { line = here(0); workflow.SideEffectIfChanged(c, "b", func() int { return 1 }, nil) },
		"timer":            func(c ctx) { line = here(0); workflow.NewTimer(c, time.Hour) },
	}
	def := func(fn func(ctx)) *replay.Definition {
		return define(func(c ctx) (string, error) {
			_, _ = step(c, "before")
			fn(c)
			return approved.Receive(c)
		})
	}
	for wrote, old := range codes {
		r := newRig(def(old))
		mustStep(t, r, started())
		mustStep(t, r, completed(1, "before", `""`))
		r.m.Close()
		for reads, code := range codes {
			line = "workflows_test.go:" // of async
			err := replayErr(def(code), r.history)
			if reads == wrote {
				if err != nil {
					t.Errorf("%s: %v", wrote, err)
				}
				continue
			}
			d, ok := errors.AsType[*replay.DivergenceError](err)
			if !ok || d.Seq != 2 || !strings.HasPrefix(d.Want, wrote) || !strings.HasPrefix(d.Got, reads) || !strings.Contains(d.Where, line) ||
				!strings.Contains(err.Error(), "event 2") {
				t.Errorf("history has %s, code has %s: %v", wrote, reads, err)
			}
		}
	}
}

// TestRecordDamaged: a record that cannot be read, or that repeats a value that is not there, stops
// the machine.
func TestRecordDamaged(t *testing.T) {
	def := define(func(c ctx) (string, error) {
		n := workflow.SideEffectIfChanged(c, "config", func() int { return 1 }, func(a, b int) bool { return a == b })
		say(c, "config %d", n)
		return approved.Receive(c)
	})
	r := newRig(def)
	mustStep(t, r, started())
	r.m.Close()
	for detail, want := range map[string]string{"=": "no record config before it", "?": "recorded value config", "IiI=": "side effect config"} {
		history := []journal.Event{r.history[0]}
		history[0].Issued, history[0].Link = []journal.Issued{{Kind: journal.CommandRecord, Name: "config", Detail: detail}}, 0
		err := replayErr(def, history)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("detail %q: %v", detail, err)
		}
		if _, undecoded := errors.AsType[*replay.DecodeError](err); undecoded != (detail != "=") {
			t.Errorf("detail %q: %T", detail, err)
		}
	}
}

// TestReservedChange: the engine's own marks cannot be mistaken for a change of the code.
func TestReservedChange(t *testing.T) {
	r := newRig(define(func(c ctx) (string, error) {
		workflow.Changed(c, "~continue")
		return "", nil
	}))
	defer r.m.Close()
	if _, err := r.step(started()); err == nil || !strings.Contains(err.Error(), `"~continue": ids that start with ~ are reserved`) {
		t.Errorf("got %v", err)
	}
}

// TestDivergenceOfCancel: code that cancels another command than the history has does not fit it.
func TestDivergenceOfCancel(t *testing.T) {
	stops := func(which int) *replay.Definition {
		return define(func(c ctx) (string, error) {
			timers := []workflow.Timer{workflow.NewTimer(c, time.Hour), workflow.NewTimer(c, time.Hour)}
			timers[which].Stop()
			return approved.Receive(c)
		})
	}
	r := newRig(stops(0))
	defer r.m.Close()
	mustStep(t, r, started())
	if err := replayErr(stops(0), r.history); err != nil {
		t.Error(err)
	}
	d, ok := errors.AsType[*replay.DivergenceError](replayErr(stops(1), r.history))
	if !ok || d.Want != "cancel 1" || d.Got != "cancel 2" {
		t.Errorf("stopping another timer: %v", d)
	}
}
