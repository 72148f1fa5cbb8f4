package cli_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
)

// TestRetryAndReset: runs go back and on, a dry run says how, and what is refused says why. This
// process has no code, so a reset that keeps events must say that it goes without a proof.
func TestRetryAndReset(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	onBoth(t, func(t *testing.T, store string) {
		id := plant(t, store)["failed"]
		key := "key=demo:failed"
		dry := reprise(t, store, cli.ExitDone, "run", "retry", key, "--dry-run").out
		wantText(t, "a dry run", dry, "nothing; generation 2 begins with", "RUNS AGAIN", "certainly", "no such address")
		if d := show(t, store, id); d.Run.Status != "failed" {
			t.Errorf("after a dry run the run is %s", d.Run.Status)
		}
		var plan struct {
			Done  string
			Steps []struct{ Step, Again string }
		}
		if err := json.Unmarshal([]byte(checkJSON(t, s, store, cli.ExitDone, "run", "retry", id, "--dry-run")), &plan); err != nil || plan.Done != "nothing" || len(plan.Steps) != 1 || plan.Steps[0].Again != "certainly" {
			t.Errorf("a dry run as JSON: %+v, %v", plan, err)
		}
		checkJSON(t, s, store, cli.ExitDone, "run", "retry", key, "--reason", "the address is right now")
		if d := show(t, store, id); d.Run.Status != "open" || d.Run.State != "ready" {
			t.Errorf("the run is %s and %s", d.Run.Status, d.Run.State)
		}
		wantText(t, "the history", reprise(t, store, cli.ExitDone, "run", "history", id).out, "RunStarted")
		wantText(t, "a second retry", reprise(t, store, cli.ExitRefused, "run", "retry", id).err, "open")
		wantText(t, "a retry of a completed run", reprise(t, store, cli.ExitRefused, "run", "retry", "key=demo:completed").err, "has completed", "run history RUN")

		wantText(t, "a reset without proof", reprise(t, store, cli.ExitUsage, "run", "reset", id, "event:1").err, "--unproven")
		wantText(t, "a reset to nowhere", reprise(t, store, cli.ExitUsage, "run", "reset", id, "nowhere").err, "event:NUMBER")
		wantText(t, "a reset to what is not there", reprise(t, store, cli.ExitRefused, "run", "reset", id, "step:never", "--unproven").err, `no step "never"`, "run history RUN")
		wantText(t, "an input for kept events", reprise(t, store, cli.ExitUsage, "run", "reset", id, "event:1", "--unproven", "--input", "1").err, "events that are kept")
		checkJSON(t, s, store, cli.ExitDone, "run", "reset", id, "event:1", "--unproven", "--no-messages", "--message", "scanned", "--keep-children")
		checkJSON(t, s, store, cli.ExitDone, "run", "reset", id, "start", "--input", `{"to": "2 Main Street"}`, "--reason", "moved")
		wantText(t, "the input", reprise(t, store, cli.ExitDone, "run", "show", id).out, "2 Main Street")
		wantText(t, "what went back", reprise(t, store, cli.ExitDone, "run", "show", id).out, "went back", "reset, ", "generation 4 begins anew (moved)", "retry, ")
		checkJSON(t, s, store, cli.ExitDone, "run", "show", id)
		wantText(t, "the branch", reprise(t, store, cli.ExitDone, "run", "history", id, "--generation", "1").out, "StepFailed", "RunFailed")
		checkJSON(t, s, store, cli.ExitDone, "run", "history", id, "--generation", "2")
		wantText(t, "no generation", reprise(t, store, cli.ExitNotFound, "run", "history", id, "--generation", "9").err, "generation 9", "the present one is 4")
		wantText(t, "no number", reprise(t, store, cli.ExitUsage, "run", "history", id, "--generation", "0").err, "numbered from 1")
		wantText(t, "the audit", checkJSON(t, s, store, cli.ExitDone, "audit", "--run", id), "retry", "the address is right now", "reset", "moved", "generation 4 begins anew")
		for _, args := range []string{"retry", "reset"} {
			args := append([]string{"run", args, "0190a000-0000-7000-8000-000000000001"}, map[string][]string{"reset": {"start"}}[args]...)
			wantText(t, strings.Join(args, " "), reprise(t, store, cli.ExitNotFound, args...).err, "not found")
		}
	})
}

// TestForkOfARun: a fork begins where it is told, with results that it is told, and the run stays.
func TestForkOfARun(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	onBoth(t, func(t *testing.T, store string) {
		id := plant(t, store)["failed"]
		var history []struct {
			Seq  int
			Kind string
		}
		if err := json.Unmarshal([]byte(reprise(t, store, cli.ExitDone, "run", "history", id, "-o", "json").out), &history); err != nil {
			t.Fatal(err)
		}
		failed := ""
		for _, e := range history {
			if e.Kind == "StepFailed" {
				failed = fmt.Sprint(e.Seq)
			}
		}
		fork := []string{"run", "fork", id, "event:" + failed, "--unproven", "--result", failed + `="done"`, "--key", "demo:fork"}
		wantText(t, "a dry run", reprise(t, store, cli.ExitDone, append(fork, "--dry-run")...).out, "would begin with", "NEW RESULT", `"done"`, "no such address")
		var made struct {
			Run string
			Of  struct{ Run, Done string }
		}
		if err := json.Unmarshal([]byte(checkJSON(t, s, store, cli.ExitDone, append(fork, "--queue", "other", "--workflow-version", "3", "--reason", "by hand")...)), &made); err != nil || made.Of.Run != id || made.Of.Done != "forked" {
			t.Errorf("a fork as JSON: %+v, %v", made, err)
		}
		if d := show(t, store, id); d.Run.Status != "failed" {
			t.Errorf("the run is %s", d.Run.Status)
		}
		if d := show(t, store, made.Run); d.Run.Status != "open" || d.Run.Key != "demo:fork" {
			t.Errorf("the fork: %+v", d.Run)
		}
		for run, text := range map[string]string{id: made.Run, made.Run: id} {
			wantText(t, "the audit", checkJSON(t, s, store, cli.ExitDone, "audit", "--run", run), `"fork"`, "by hand", text, "results are given for step")
		}
		wantText(t, "a key that is taken", reprise(t, store, cli.ExitRefused, fork...).err, "demo:fork", made.Run)
		wantText(t, "a fork without proof", reprise(t, store, cli.ExitUsage, "run", "fork", id, "event:1").err, "--unproven")
		wantText(t, "no result", reprise(t, store, cli.ExitUsage, "run", "fork", id, "event:1", "--unproven", "--result", "x").err, "--result")
		wantText(t, "two results", reprise(t, store, cli.ExitUsage, "run", "fork", id, "event:1", "--unproven", "--result", "2=1", "--result", "2=1").err, "twice")
		wantText(t, "a result of the start", reprise(t, store, cli.ExitRefused, "run", "fork", id, "event:1", "--unproven", "--result", "1=1").err, "only outcomes of steps")
		wantText(t, "an unknown run", reprise(t, store, cli.ExitNotFound, "run", "fork", "0190a000-0000-7000-8000-000000000001", "start").err, "not found")
	})
}

// TestResetWithProof: a program with code proves that what is kept fits, and refuses what does not
// with both sides.
func TestResetWithProof(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	store := filepath.Join(t.TempDir(), "runs.db")
	id := plant(t, store)["completed"]
	got := finishAs(t, "changed", store, "run", "reset", id, "event:2")
	if got.code != cli.ExitRefused {
		t.Errorf("a reset with changed code ends with %d:\n%s", got.code, got.out)
	}
	wantText(t, "a reset with changed code", got.err, "code and history differ", "step label", "step weigh", "nothing was changed", "earlier point")
	wantText(t, "a dry run", embedded(t, store, cli.ExitDone, "run", "reset", id, "step:label", "--dry-run").out, "certainly", "label for 1 Main Street")
	checkJSONText(t, s, "reset", "rewound", false, embedded(t, store, cli.ExitDone, "run", "reset", id, "fits", "-o", "json").out)
	if d := show(t, store, id); d.Run.Status != "open" {
		t.Errorf("the run is %s", d.Run.Status)
	}
	out := embedded(t, store, cli.ExitDone, "bulk", "reset", "event:1", "--where", `workflow = "demo.parcel" and status = completed`, "--dry-run").out
	wantText(t, "a dry run of bulk", out, "nothing was done")
}
