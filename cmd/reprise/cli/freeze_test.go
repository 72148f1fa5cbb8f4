package cli_test

import (
	"testing"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
)

// TestFreezeTimers: a run whose timers stand still says so, and what is left; after the resume it
// says when they are due and when they stood still. A job of bulk can do it too.
func TestFreezeTimers(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	onBoth(t, func(t *testing.T, store string) {
		id := plant(t, store)["timer"]
		wantText(t, "the run", checkJSON(t, s, store, cli.ExitDone, "run", "show", id), `"due_at"`)
		reprise(t, store, cli.ExitDone, "run", "pause", id, "--freeze-timers", "--reason", "the warehouse moves")
		wantText(t, "paused", checkJSON(t, s, store, cli.ExitDone, "run", "show", id), `"left"`, `"freezes"`)
		wantText(t, "paused", reprise(t, store, cli.ExitDone, "run", "show", id).out, "timers stood still", " on\n", "stands still, with ", " left")
		wantText(t, "why", checkJSON(t, s, store, cli.ExitDone, "run", "why", id), "its timers stand still", "stands still, with")
		wantText(t, "the audit", checkJSON(t, s, store, cli.ExitDone, "audit", "--run", id), "timers are frozen")
		reprise(t, store, cli.ExitDone, "run", "resume", id)
		wantText(t, "resumed", checkJSON(t, s, store, cli.ExitDone, "run", "show", id), `"due_at"`, `"until"`)
		wantText(t, "resumed", reprise(t, store, cli.ExitDone, "run", "show", id).out, "timers stood still", " to ", ", due ")

		reprise(t, store, cli.ExitDone, "bulk", "pause", "--where", `id = "`+id+`"`, "--freeze-timers", "--yes")
		wantText(t, "bulk", checkJSON(t, s, store, cli.ExitDone, "run", "show", id), `"left"`)
		wantText(t, "bulk", reprise(t, store, cli.ExitUsage, "bulk", "cancel", "--all", "--freeze-timers").err, "unknown flag")
	})
}
