package cli_test

import (
	"path/filepath"
	"testing"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
)

// TestSkipOfAMessage: a message that no node has consumed is seen with its payload and its number,
// and left out by that.
func TestSkipOfAMessage(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	onBoth(t, func(t *testing.T, store string) {
		id := plant(t, store)["signal"]
		reprise(t, store, cli.ExitDone, "run", "signal", id, "scanned", `"a wrong place"`)
		reprise(t, store, cli.ExitDone, "run", "signal", id, "scanned", `"a right place"`)
		wantText(t, "the run", reprise(t, store, cli.ExitDone, "run", "show", id).out, "not consumed", "message 1, signal scanned", "a wrong place")
		wantText(t, "the run as JSON", checkJSON(t, s, store, cli.ExitDone, "run", "show", id), `"a right place"`)
		wantText(t, "a dry run", reprise(t, store, cli.ExitDone, "run", "skip", id, "1", "--dry-run").out, "nothing; generation 2 begins with")
		wantText(t, "a skip", checkJSON(t, s, store, cli.ExitDone, "run", "skip", id, "1", "--reason", "typed wrong"), `"skipped"`)
		if d := show(t, store, id); len(d.Inbox) != 1 || d.Inbox[0].Number != 2 || d.Unread != 1 {
			t.Errorf("its inbox: %+v, %d unread", d.Inbox, d.Unread)
		}
		wantText(t, "the audit", checkJSON(t, s, store, cli.ExitDone, "audit", "--run", id), `"skip"`, "typed wrong", "message 1 is left out")
		wantText(t, "what went back", reprise(t, store, cli.ExitDone, "run", "show", id).out, "went back", "skip, ")
		wantText(t, "once more", reprise(t, store, cli.ExitRefused, "run", "skip", id, "1").err, "no message 1", "run history RUN")
		wantText(t, "no number", reprise(t, store, cli.ExitUsage, "run", "skip", id, "first").err, "not the number of a message")
		wantText(t, "an unknown run", reprise(t, store, cli.ExitNotFound, "run", "skip", "0190a000-0000-7000-8000-000000000001", "1").err, "not found")
	})
}

// TestEditOfAStep: a step gets the result that it is given, whether it is tried again and again or
// has failed. What takes events back needs a proof or the word that there is none.
func TestEditOfAStep(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	onBoth(t, func(t *testing.T, store string) {
		runs := plant(t, store)
		id := runs["retry"]
		steps := show(t, store, id).Steps
		if len(steps) != 1 {
			t.Fatalf("steps of the run: %+v", steps)
		}
		wantText(t, "the run", reprise(t, store, cli.ExitDone, "run", "show", id).out, "step "+steps[0].Name+", command ")
		edit := []string{"run", "edit", id, "step:" + steps[0].Name, `"by hand"`}
		wantText(t, "a dry run", reprise(t, store, cli.ExitDone, append(edit, "--dry-run")...).out, "NEW RESULT", "by hand")
		wantText(t, "an edit", checkJSON(t, s, store, cli.ExitDone, append(edit, "--reason", "written by hand")...), `"edited"`, "by hand")
		wantText(t, "the audit", checkJSON(t, s, store, cli.ExitDone, "audit", "--run", id), `"edit"`, "written by hand", "results are given for step "+steps[0].Name)

		id = runs["failed"]
		wantText(t, "an edit without proof", reprise(t, store, cli.ExitUsage, "run", "edit", id, "event:2", "1").err, "--unproven", "taken back")
		wantText(t, "the start", reprise(t, store, cli.ExitRefused, "run", "edit", id, "event:1", "1", "--unproven").err, "only outcomes of steps")
		wantText(t, "no such command", reprise(t, store, cli.ExitRefused, "run", "edit", id, "cmd:99", "1", "--unproven").err, "command 99")
		wantText(t, "nowhere", reprise(t, store, cli.ExitUsage, "run", "edit", id, "nowhere", "1").err, "step:NAME")
		wantText(t, "no value", reprise(t, store, cli.ExitUsage, "run", "edit", id, "cmd:1", "{").err, "RESULT")
	})
}

// TestEditWithProof: a program with code takes back what fits without being told.
func TestEditWithProof(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	store := filepath.Join(t.TempDir(), "runs.db")
	id := plant(t, store)["completed"]
	wantText(t, "a dry run", embedded(t, store, cli.ExitDone, "run", "edit", id, "step:label", `"other"`, "--dry-run").out, "NEW RESULT", `"other"`, "label for 1 Main Street")
	checkJSONText(t, s, "edit", "rewound", false, embedded(t, store, cli.ExitDone, "run", "edit", id, "step:label", `"other"`, "-o", "json").out)
	if d := show(t, store, id); d.Run.Status != "open" {
		t.Errorf("the run is %s", d.Run.Status)
	}
}
