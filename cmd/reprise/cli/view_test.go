package cli_test

import (
	"testing"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
)

// TestViews: addresses are saved, replaced and deleted under names, by whoever the audit says.
func TestViews(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	onBoth(t, func(t *testing.T, store string) {
		wantText(t, "none", checkJSON(t, s, store, cli.ExitDone, "view", "list"), "[]")
		checkJSON(t, s, store, cli.ExitDone, "view", "save", "failed ones", "runs?where=status+%3D+failed", "--reason", "for the shift")
		wantText(t, "save", reprise(t, store, cli.ExitDone, "view", "save", "failed ones", "failures").out, "failed ones: saved")
		wantText(t, "list", checkJSON(t, s, store, cli.ExitDone, "view", "list"), `"name": "failed ones"`, `"address": "failures"`)
		wantText(t, "for people", reprise(t, store, cli.ExitDone, "view", "list").out, "VIEW", "BY", "failed ones", "failures")
		wantText(t, "the audit", reprise(t, store, cli.ExitDone, "audit", "--verb", "save-view").out, "for the shift", "failed ones: failures")
		wantText(t, "no address", reprise(t, store, cli.ExitUsage, "view", "save", "x", "https://evil.example").err, "must be a path below the pages")
		checkJSON(t, s, store, cli.ExitDone, "view", "delete", "failed ones", "--reason", "not needed")
		wantText(t, "what is gone", reprise(t, store, cli.ExitNotFound, "view", "delete", "failed ones").err, "there is no such saved view")
		wantText(t, "the audit", reprise(t, store, cli.ExitDone, "audit", "--verb", "delete-view").out, "not needed")
	})
}
