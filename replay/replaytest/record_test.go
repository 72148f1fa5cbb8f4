package replaytest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/replay/replaytest"
	"github.com/reprise-run/reprise/replay/workflow"
)

// loop takes everything that a script can say.
func loop(ctx workflow.Context, _ string) (string, error) {
	for {
		_, ok, err := answered.ReceiveTimeout(ctx, time.Hour)
		if err != nil {
			return "", err
		}
		if !ok {
			if _, err := step(ctx, "a long name"); err != nil {
				return "", err
			}
		}
	}
}

func recordLoop(script string) (*replaytest.History, error) {
	var code replaytest.Registry
	replaytest.Handle(&code, lines, func(ctx workflow.Context, in string) (string, error) {
		return loop(ctx, in)
	}, &replaytest.HandleOptions{Version: 3})
	return replaytest.Record(&code, script)
}

func TestRecord(t *testing.T) {
	var code replaytest.Registry
	replaytest.Handle(&code, review, reviewed, nil)
	h, err := replaytest.Record(&code, `
		# nobody answers
		run review 7
		+2s completed ask "asked"
		fired answered
		failed remind *smtp.Error! mailbox is full
	`)
	if err != nil {
		t.Fatal(err)
	}
	want := `1 RunStarted > step ask
2 StepCompleted ask > timer answered
3 TimerFired answered > step remind
4 StepFailed remind: mailbox is full
5 RunFailed: mailbox is full
`
	if diff := cmp.Diff(want, h.String()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if took := h.Events[2].Time.Sub(h.Events[0].Time); took != 24*time.Hour+2*time.Second {
		t.Errorf("the timer fired after %s", took)
	}
	if err := replaytest.Check(&code, h); err != nil {
		t.Error(err)
	}
}

func TestRecordClosings(t *testing.T) {
	for script, want := range map[string]string{
		"run lines/3 \"x\"\nsignal answered {\"ok\": true}\ncancel no more": `3 CancelRequested: no more > cancel 3
4 RunCancelled: cancelled: no more
`,
		"run lines/3 \"x\"\nsignal answered\nterminated by hand": `3 RunTerminated: by hand
`,
	} {
		h, err := recordLoop(script)
		if err != nil {
			t.Fatal(err)
		}
		if got := h.String(); !strings.HasSuffix(got, want) {
			t.Errorf("%s\nended with\n%s", script, got)
		}
	}
}

func TestRecordRefuses(t *testing.T) {
	const run = "run lines/3 \"x\"\n"
	for script, want := range map[string]string{
		"":                        "script is empty",
		"signal answered":         "line 1 of the script, \"signal answered\": a script begins with run",
		run + run:                 "begins with run, once",
		"run":                     "a name is missing",
		"run lines":               "workflow lines version 1 is not registered",
		"run lines/3 {":           "not JSON",
		run + "dance":             "no verb",
		run + "+x fired":          "no duration",
		run + "completed pay":     `no step "pay" is open; the run waits for`,
		run + "completed":         "a name is missing",
		run + "fired other":       "the next timer is not",
		run + "signal \"answered": "invalid syntax",
		run + "signal answered {": "not JSON",
		run + "terminated\nfired": "the next timer is not",
	} {
		if _, err := recordLoop(script); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nerror %v, want one with %q", script, err, want)
		}
	}
	if h, err := recordLoop(run + "fired\n+1m completed \"a long name\" \"\""); err != nil || len(h.Events) != 3 {
		t.Errorf("a name in quotes: %v", err)
	}
	if h, err := recordLoop(run + "signal answered 17"); err != nil || !strings.HasSuffix(h.String(), "aside answered 1\n") {
		t.Errorf("a signal that does not decode: %v", err)
	}
}

// TestFiles: a history that is kept is never changed.
func TestFiles(t *testing.T) {
	h := record(t, script)
	name := filepath.Join(t.TempDir(), "a", "b.json")
	for range 2 {
		if err := replaytest.WriteFile(name, h); err != nil {
			t.Fatal(err)
		}
	}
	again, err := replaytest.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h, again); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	h.Events = h.Events[:2]
	if err := replaytest.WriteFile(name, h); err == nil {
		t.Error("another history took the file")
	}
	if kept, err := replaytest.Keep(name, h); kept || err != nil {
		t.Errorf("another history is kept in its place: %v, %v", kept, err)
	}
	if third, err := replaytest.ReadFile(name); err != nil || len(third.Events) == 2 {
		t.Errorf("the file is another one: %v", err)
	}
	if kept, err := replaytest.Keep(name+".new", h); !kept || err != nil {
		t.Errorf("a history is not kept: %v, %v", kept, err)
	}
	if third, err := replaytest.ReadFile(name + ".new"); err != nil || len(third.Events) != 2 {
		t.Errorf("the new file: %v", err)
	}
	if err := os.WriteFile(name, []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := replaytest.ReadFile(name); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("error %v", err)
	}
}
