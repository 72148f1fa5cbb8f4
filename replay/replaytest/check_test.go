package replaytest_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/replaytest"
	"github.com/reprise-run/reprise/replay/workflow"
)

const (
	review   workflow.Name[int, string]    = "review"
	answered workflow.Signal[verdict]      = "answered"
	lines    workflow.Name[string, string] = "lines"
)

type verdict struct {
	OK bool `json:"ok"`
}

func step(ctx workflow.Context, name string) (string, error) {
	return workflow.Step(ctx, name, func(context.Context) (string, error) { panic("steps are never executed") }, nil)
}

// reviewed asks, waits a day for an answer and files it.
func reviewed(ctx workflow.Context, _ int) (string, error) {
	if _, err := step(ctx, "ask"); err != nil {
		return "", err
	}
	v, ok, err := answered.ReceiveTimeout(ctx, 24*time.Hour)
	if err != nil {
		return "", err
	}
	if !ok {
		return step(ctx, "remind")
	}
	name := "refuse"
	if v.OK {
		name = "file"
	}
	return step(ctx, name)
}

const script = `
run review 7
completed ask "asked"
+3h signal answered {"ok": true}
completed file "filed"
`

func record(t *testing.T, script string) *replaytest.History {
	t.Helper()
	var code replaytest.Registry
	replaytest.Handle(&code, review, reviewed, nil)
	h, err := replaytest.Record(&code, script)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// check replays a history of reviewed with other code.
func check(t *testing.T, h *replaytest.History, fn func(workflow.Context, int) (string, error)) *replaytest.Mismatch {
	t.Helper()
	var code replaytest.Registry
	replaytest.Handle(&code, review, fn, nil)
	err := replaytest.Check(&code, h)
	m, ok := errors.AsType[*replaytest.Mismatch](err)
	if err != nil && !ok {
		t.Fatal(err)
	}
	return m
}

func TestCheck(t *testing.T) {
	h := record(t, script)
	want := `1 RunStarted > step ask
2 StepCompleted ask > timer answered
3 SignalReceived answered > cancel 2, step file
4 StepCompleted file
5 RunCompleted
`
	if diff := cmp.Diff(want, h.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if m := check(t, h, reviewed); m != nil {
		t.Error(m)
	}
}

// TestOpen: code that returns after the last event of a run that is open has lost what the run
// waits for. Of a history that may be the beginning of a longer one nothing is known.
func TestOpen(t *testing.T) {
	waits := func(ctx workflow.Context, _ int) (string, error) {
		if _, err := step(ctx, "ask"); err != nil {
			return "", err
		}
		_, err := answered.Receive(ctx)
		return "", err
	}
	var code replaytest.Registry
	replaytest.Handle(&code, review, waits, nil)
	h, err := replaytest.Record(&code, "run review 7\ncompleted ask \"asked\"\n")
	if err != nil {
		t.Fatal(err)
	}
	returns := func(ctx workflow.Context, _ int) (string, error) { return step(ctx, "ask") }
	if m := check(t, h, returns); m != nil {
		t.Errorf("a beginning: %v", m)
	}
	open := *h
	open.Open = true
	data, err := replaytest.Marshal(&open)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := replaytest.Unmarshal(data)
	if err != nil {
		t.Fatal(err)
	}
	if m := check(t, stored, returns); m == nil || !strings.Contains(m.Error(), "code that waits for more") {
		t.Errorf("an open run: %v", m)
	}
	if m := check(t, stored, waits); m != nil {
		t.Errorf("code that waits: %v", m)
	}
}

// TestMismatch: the report names the event, both sides and the line.
func TestMismatch(t *testing.T) {
	h := record(t, script)
	line := ""
	m := check(t, h, func(ctx workflow.Context, _ int) (string, error) {
		if _, err := step(ctx, "ask"); err != nil {
			return "", err
		}
		if _, _, err := answered.ReceiveTimeout(ctx, time.Hour); err != nil { // another time is fine
			return "", err
		}
		line = here(1)
		return workflow.Step(ctx, "archive", func(context.Context) (string, error) { return "", nil }, nil)
	})
	if m == nil {
		t.Fatal("no mismatch")
	}
	m.File = "review.json"
	want := `review.json: workflow review and its history differ at event 3 of 5, SignalReceived answered
    history has  step file
    code has     step archive
    at           ` + m.Where + `
    the history up to there:
    1 RunStarted > step ask
    2 StepCompleted ask > timer answered
    3 SignalReceived answered > cancel 2, step file
`
	if diff := cmp.Diff(want, m.Error()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if !strings.HasSuffix(m.Where, " ("+line+")") || m.Seq != 3 {
		t.Errorf("event %d at %s, want %s", m.Seq, m.Where, line)
	}
}

func here(plus int) string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line+plus)
}

// TestMismatches: everything that blocks a run is found.
func TestMismatches(t *testing.T) {
	h := record(t, script)
	for name, c := range map[string]struct {
		code func(workflow.Context, int) (string, error)
		seq  journal.Seq
		want string
	}{
		"a step less": {func(workflow.Context, int) (string, error) { return "", nil }, 1, "code has     RunCompleted"},
		"a step more": {func(ctx workflow.Context, n int) (string, error) {
			workflow.StepAsync(ctx, "log", func(context.Context) (int, error) { return 0, nil }, nil)
			return reviewed(ctx, n)
		}, 1, "code has     step log"},
		"the end is missing": {func(ctx workflow.Context, n int) (string, error) {
			if _, err := reviewed(ctx, n); err != nil {
				return "", err
			}
			_, err := answered.Receive(ctx)
			return "", err
		}, 5, "waiting for signal answered"},
		"a panic": {func(ctx workflow.Context, n int) (string, error) {
			_, _ = step(ctx, "ask")
			panic("a bug")
		}, 2, "check_test.go"},
		"another type": {func(ctx workflow.Context, n int) (string, error) {
			_, _ = step(ctx, "ask")
			_, _, err := workflow.Signal[int]("answered").ReceiveTimeout(ctx, time.Hour)
			return "", err
		}, 3, "signal answered: decode into"},
	} {
		m := check(t, h, c.code)
		if m == nil || m.Seq != c.seq || !strings.Contains(m.Error(), c.want) {
			t.Errorf("%s: got %v, want event %d and %q", name, m, c.seq, c.want)
		}
	}
}

// TestNotTheSameTwice: code that depends on what outlives a run fits once, but not in every prefix.
func TestNotTheSameTwice(t *testing.T) {
	h := record(t, script)
	runs := 0
	m := check(t, h, func(ctx workflow.Context, n int) (string, error) {
		runs++
		if runs == 3 {
			_, _ = step(ctx, "ask")
			_, err := answered.Receive(ctx)
			return "", err
		}
		return reviewed(ctx, n)
	})
	if m == nil || m.Seq != 2 || m.Replayed != 3 || !strings.Contains(m.Error(), "depends on something else") {
		t.Errorf("got %+v\n%v", m, m)
	}
}

// TestNotTheSameAsNew: the same, where the prefix has ended already.
func TestNotTheSameAsNew(t *testing.T) {
	h := record(t, script)
	for name, late := range map[string]func(ctx workflow.Context) (string, error){
		"other":  func(ctx workflow.Context) (string, error) { return step(ctx, "other") },
		"none":   func(ctx workflow.Context) (string, error) { _, err := answered.Receive(ctx); return "", err },
		"return": func(ctx workflow.Context) (string, error) { return "", nil },
	} {
		runs := 0
		m := check(t, h, func(ctx workflow.Context, n int) (string, error) {
			if runs++; runs < 4 {
				return reviewed(ctx, n)
			}
			_, _ = step(ctx, "ask")
			_, _, _ = answered.ReceiveTimeout(ctx, time.Hour)
			return late(ctx)
		})
		if m == nil || m.Seq != 3 || m.Replayed != 2 || m.Want != "step file" {
			t.Errorf("%s: got %+v\n%v", name, m, m)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	var code replaytest.Registry
	replaytest.Handle(&code, review, reviewed, nil)
	replaytest.Handle(&code, lines, func(workflow.Context, string) (string, error) { return "", nil }, &replaytest.HandleOptions{Version: 2})
	h := record(t, script)
	gap := &replaytest.History{Run: h.Run, Events: h.Events[1:]}
	other := &replaytest.History{Run: replay.Info{Workflow: "lines", Version: 1}, Events: h.Events}
	for name, c := range map[string]struct {
		h    *replaytest.History
		want string
	}{
		"empty": {&replaytest.History{Run: h.Run}, "no events"},
		"gap":   {gap, "event 2 stands in place 1"},
		"code":  {other, "workflow lines version 1 is not registered; registered are: lines version 2, review version 1"},
	} {
		if err := replaytest.Check(&code, c.h); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("registered twice")
		}
	}()
	replaytest.Handle(&code, review, reviewed, nil)
}

// TestLong: of a long history a part of the prefixes is tried, one of each stretch, not always in
// the same place of it, and the same each time; of a short one, and with EveryPrefix, all are.
func TestLong(t *testing.T) {
	for n, step := range map[int]int{2: 1, 300: 1, 949: 10, 3000: 100} {
		all := slices.Collect(replaytest.Prefixes(n, true))
		if len(all) != n-1 || all[0] != n-1 || all[n-2] != 1 {
			t.Errorf("%d events have %d prefixes", n, len(all))
		}
		some := slices.Collect(replaytest.Prefixes(n, false))
		if !slices.Equal(some, slices.Collect(replaytest.Prefixes(n, false))) {
			t.Errorf("of %d events others are tried each time", n)
		}
		places := map[int]bool{}
		for i, at := range some {
			if end := n - 1 - i*step; at > end || at <= end-step || at < 1 {
				t.Errorf("of %d events prefix %d is not in stretch %d", n, at, i)
			}
			places[at%step] = true
		}
		if len(some) != (n-2+step)/step || len(places) < (step+1)/2 && len(some) > step || len(places) < min(step, 2) {
			t.Errorf("of %d events %d prefixes are tried: %v", n, len(some), some)
		}
	}
}

// TestLongIsSampled: a check does so.
func TestLongIsSampled(t *testing.T) {
	const n = 949 // with its beginning and its end, which are others' business, a tenth of the prefixes
	var b strings.Builder
	b.WriteString("run lines \"x\"\n")
	for range n {
		b.WriteString("completed more \"\"\n")
	}
	var code replaytest.Registry
	replays := 0
	replaytest.Handle(&code, lines, func(ctx workflow.Context, _ string) (string, error) {
		replays++
		for range n {
			if _, err := step(ctx, "more"); err != nil {
				return "", err
			}
		}
		return "done", nil
	}, nil)
	h, err := replaytest.Record(&code, b.String())
	if err != nil {
		t.Fatal(err)
	}
	for _, every := range []bool{false, true} {
		replays, code.EveryPrefix = 0, every
		if err := replaytest.Check(&code, h); err != nil {
			t.Fatal(err)
		}
		if want := 1 + len(slices.Collect(replaytest.Prefixes(len(h.Events), every))); replays != want {
			t.Errorf("every prefix %v: %d replays, want %d", every, replays, want)
		}
	}
}

// reverse is a codec of its own.
type reverse struct{ journal.JSON }

func (reverse) Decode(p journal.Payload, v any) error {
	text := make([]byte, len(p.Data))
	for i, b := range p.Data {
		text[len(text)-1-i] = b
	}
	return journal.JSON{}.Decode(journal.Payload{Data: text}, v)
}

func TestCodec(t *testing.T) {
	code := replaytest.Registry{Codec: reverse{}}
	replaytest.Handle(&code, review, func(_ workflow.Context, n int) (string, error) { return fmt.Sprint(n), nil }, nil)
	h, err := replaytest.Record(&code, "run review 12")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(h.Events[1].Payload.Data); got != `"21"` {
		t.Errorf("output %s", got)
	}
}

// An operator may terminate a run before its first turn. What is behind that one event is refused
// as before.
func TestTerminatedBeforeTheFirstTurn(t *testing.T) {
	var code replaytest.Registry
	replaytest.Handle(&code, review, reviewed, nil)
	h := replaytest.Of(journal.Run{ID: journal.NewRunID(), Workflow: string(review), Version: 1, Generation: 1}, []journal.Event{
		{Seq: 1, Kind: journal.RunTerminated, Time: time.Unix(1, 0), Payload: journal.EncodeFailure(&journal.Failure{Message: "by hand"})},
	})
	if err := replaytest.Check(&code, h); err != nil {
		t.Error(err)
	}
	h.Events = append(h.Events, journal.Event{Seq: 2, Kind: journal.RunStarted, Time: time.Unix(2, 0)})
	if err := replaytest.Check(&code, h); err == nil {
		t.Error("a run that starts behind its end is accepted")
	}
}
