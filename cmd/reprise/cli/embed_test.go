package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
	"github.com/reprise-run/reprise/replay/replaytest"
	"github.com/reprise-run/reprise/ui/record"
)

// embedded executes the command as a part of a program that has the code of the demonstration.
func embedded(t *testing.T, store string, code int, args ...string) said {
	t.Helper()
	got := finishAs(t, "embedded", store, args...)
	if got.code != code {
		t.Fatalf("shop %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got.code, code, got.out, got.err)
	}
	return got
}

// finishAs executes the command as a part of another program.
func finishAs(t *testing.T, program, store string, args ...string) said {
	t.Helper()
	cmd := command(t, store, args...)
	cmd.Env = append(cmd.Env, programEnv+"="+program)
	return finish(t, cmd)
}

// TestEmbedded: a program with code has the verbs that need it.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	store := filepath.Join(t.TempDir(), "runs.db")
	plant(t, store)
	wantText(t, "query", embedded(t, store, cli.ExitDone, "run", "query", "key=demo:signal", "stage").out, `"labelled"`)
	checkJSONText(t, s, "query", "answer", false, embedded(t, store, cli.ExitDone, "run", "query", "key=demo:signal", "stage", "-o", "json").out)
	wantText(t, "no handler", embedded(t, store, cli.ExitFailed, "run", "query", "key=demo:signal", "nothing").err, "nothing", "stage")
	wantText(t, "replay", embedded(t, store, cli.ExitDone, "run", "replay", "key=demo:signal").out, "fits")
	checkJSONText(t, s, "replay", "replayed", false, embedded(t, store, cli.ExitDone, "run", "replay", "key=demo:failed", "-o", "json").out)
	got := finishAs(t, "changed", store, "run", "replay", "key=demo:signal")
	if got.code != cli.ExitRefused {
		t.Errorf("the replay of changed code ends with %d:\n%s", got.code, got.out)
	}
	wantText(t, "a replay of changed code", got.err, "code and history differ", "step label", "step weigh", "repair the code")
	got = finishAs(t, "changed", store, "run", "query", "key=demo:child", "stage")
	wantText(t, "a query of changed code", got.out, `"not weighed"`)
	wantText(t, "a query of changed code", got.err, "as of event 1", "step weigh")
	var earlier record.Answer
	text := finishAs(t, "changed", store, "run", "query", "key=demo:child", "stage", "-o", "json").out
	checkJSONText(t, s, "a query of changed code", "answer", false, text)
	if err := json.Unmarshal([]byte(text), &earlier); err != nil || earlier.AsOf != 1 || !strings.Contains(earlier.Behind, "step weigh") {
		t.Errorf("the answer is as of event %d, behind %q, %v", earlier.AsOf, earlier.Behind, err)
	}
}

// TestKeep: the command keeps a history that tests replay, and never puts another one in its place.
func TestKeep(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, store string) {
		plant(t, store)
		file := filepath.Join(t.TempDir(), "histories", "signal.json")
		keep := func(run string, args ...string) said {
			return finish(t, command(t, store, append([]string{"run", "keep", run, file}, args...)...))
		}
		checkJSONText(t, readSchema(t), "keep", "kept", false, keep("key=demo:signal", "-o", "json").out)
		h, err := replaytest.ReadFile(file)
		if err != nil || len(h.Events) == 0 || h.Run.Workflow != "demo.parcel" {
			t.Fatalf("the file holds %+v, %v", h, err)
		}
		wantText(t, "the same once more", keep("key=demo:signal").out, "are in "+file)
		got := keep("key=demo:failed")
		if got.code != cli.ExitRefused {
			t.Errorf("another history ends with %d", got.code)
		}
		wantText(t, "another history", got.err, "holds another history", "write the new one to another file")
		if again, err := replaytest.ReadFile(file); err != nil || again.String() != h.String() {
			t.Errorf("the file is another one: %v", err)
		}
	})
}

// TestCompletion: what the store has is offered, and a store that cannot be read offers nothing.
func TestCompletion(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, store string) {
		runs := plant(t, store)
		for args, has := range map[string]string{
			"run show ":                       runs["signal"],
			"run why ":                        "key=demo:blocked\tdemo.parcel, blocked",
			"run start ":                      "demo.customs",
			"run start x --queue ":            "default",
			"run list --workflow ":            "demo.parcel",
			"run list --label ":               "demo=timer",
			"run list --status ":              "terminated",
			"run list -o ":                    "jsonl",
			"run list --parent ":              runs["child"],
			"run ":                            "history\tPrint",
			"run signal ":                     runs["signal"],
			"run start x --reuse ":            "allow-if-failed",
			"run list --state ":               "quarantined",
			"run start --on-failure ":         "demo.customs",
			"run reset key=demo:completed ":   "step:label\tbefore event 2, StepCompleted",
			"run reset key=demo:completed e":  "event:3\tRunCompleted",
			"run fork key=demo:completed ":    "fits",
			"run edit key=demo:retry ":        "step:label\tit has no outcome",
			"run edit key=demo:completed eve": "event:2\tStepCompleted label",
		} {
			got := reprise(t, store, cli.ExitDone, append([]string{"__complete"}, strings.Split(args, " ")...)...)
			wantText(t, args, got.out, has)
		}
		// What was typed is looked for among all runs, not among the newest alone.
		oldest := runs["completed"]
		for range 60 {
			reprise(t, store, cli.ExitDone, "run", "start", "flow")
		}
		for typed, has := range map[string]string{oldest[:30]: oldest, "key=demo:com": "key=demo:completed"} {
			got := reprise(t, store, cli.ExitDone, "__complete", "run", "show", typed)
			if wantText(t, typed, got.out, has); strings.Contains(got.out, runs["signal"]) {
				t.Errorf("%s is completed to what does not begin so: %s", typed, got.out)
			}
		}
		for _, typed := range []string{"key=nobody", "zzz", "0x", "step:nothing"} {
			if got := reprise(t, store, cli.ExitDone, "__complete", "run", "show", typed); !strings.HasPrefix(got.out, ":") {
				t.Errorf("%s is completed to %s", typed, got.out)
			}
		}
		got := reprise(t, filepath.Join(t.TempDir(), "none.db"), cli.ExitDone, "__complete", "run", "show", "")
		if !strings.HasPrefix(got.out, ":") {
			t.Errorf("without a store %q is offered", got.out)
		}
	})
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		wantText(t, shell, reprise(t, "", cli.ExitDone, "completion", shell).out, "reprise")
	}
}

// TestManualPages: one for each verb.
func TestManualPages(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "man1")
	reprise(t, "", cli.ExitDone, "man", folder)
	text, err := os.ReadFile(filepath.Join(folder, "reprise-run-why.1"))
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, "reprise-run-why.1", string(text), ".TH", "who has to do what")
}

// TestMigrationsToRead: the SQL of both stores, with the schema's name.
func TestMigrationsToRead(t *testing.T) {
	t.Parallel()
	wantText(t, "sql", reprise(t, "", cli.ExitDone, "migrate", "sql", "--schema", "orders").out, "-- 0001_initial.sql", `"orders".tasks`)
	wantText(t, "sql", reprise(t, "", cli.ExitDone, "migrate", "sql", "--sqlite").out, "-- 0001_initial.sql", "reprise_tasks")
}

// TestDemoPlantsOnce: never among runs of somebody's.
func TestDemoPlantsOnce(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "runs.db")
	plant(t, store)
	wantText(t, "demo", reprise(t, store, cli.ExitRefused, "demo").err, "holds runs already")
}
