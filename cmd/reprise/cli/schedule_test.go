package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
)

const schedulesFile = `set: shop
schedules:
  - name: nightly
    cron: 30 2 * * mon-fri
    zone: Europe/Berlin
    except:
      - {day: 25, month: dec}
    start:
      workflow: report
      input: {shop: 7}
      labels: {team: finance}
    overlap: buffer-one
    catch_up: {window: 2h, limit: 1}
    pause_after: 3
  - name: yearly
    "on":
      - {month: 7, day: 1, hour: 12}
    every:
      - {every: 8000h, offset: 1h}
    from: 2026-01-01
    start: {workflow: report}
`

func writeFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "schedules.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSchedule: the life of a set, from its file to its end.
func TestSchedule(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	onBoth(t, func(t *testing.T, store string) {
		file := writeFile(t, schedulesFile)
		var done struct {
			Set                     string
			Added, Changed, Removed []string
			Kept                    int
		}
		apply := func(args ...string) string {
			done.Added, done.Changed, done.Removed, done.Kept = nil, nil, nil, 0
			out := checkJSON(t, s, store, cli.ExitDone, args...)
			if err := json.Unmarshal([]byte(out), &done); err != nil {
				t.Fatal(err)
			}
			return out
		}
		if apply("schedule", "apply", file, "--dry-run"); strings.Join(done.Added, " ") != "nightly yearly" {
			t.Errorf("the dry run says %+v", done)
		}
		wantText(t, "behind a dry run", reprise(t, store, cli.ExitDone, "schedule", "list", "-o", "json").out, "[]")
		if out := apply("schedule", "apply", file); done.Set != "shop" || strings.Join(done.Added, " ") != "nightly yearly" {
			t.Errorf("apply says %s", out)
		}
		wantText(t, "apply again", reprise(t, store, cli.ExitDone, "schedule", "apply", file).out, "shop", "kept         2")
		checkJSON(t, s, store, cli.ExitDone, "schedule", "list")
		wantText(t, "list", reprise(t, store, cli.ExitDone, "schedule", "list", "--set", "shop").out, "shop/nightly  active", "shop/yearly", "report", "in ")
		wantText(t, "list of another set", reprise(t, store, cli.ExitDone, "schedule", "list", "--set", "other", "-o", "json").out, "[]")
		shown := checkJSON(t, s, store, cli.ExitDone, "schedule", "show", "shop/nightly")
		wantText(t, "show", shown, `"state": "active"`, `"zone": "Europe/Berlin"`, `"window": "2h0m0s"`)
		if strings.Contains(shown, `"shop": 7`) {
			t.Errorf("show has the input: %s", shown)
		}
		wantText(t, "pause", reprise(t, store, cli.ExitDone, "schedule", "pause", "shop/nightly", "--reason", "holiday").out, "shop/nightly: paused")
		wantText(t, "trigger", reprise(t, store, cli.ExitDone, "schedule", "trigger", "shop/nightly", "--key", "k1").out, "key schedule:shop/nightly!k1")
		checkJSON(t, s, store, cli.ExitDone, "schedule", "backfill", "shop/nightly", "--from", "2026-06-01", "--to", "2026-06-02T12:00:00Z", "--at-once")
		reprise(t, store, cli.ExitDone, "schedule", "apply", file) // this process executes schedules meanwhile
		wantText(t, "show", reprise(t, store, cli.ExitDone, "schedule", "show", "shop/nightly").out,
			"state        paused", ": holiday", "3 started", "3 open",
			"overlap      buffer-one", "coming\n", " 02:30:00 CE", "newest runs\n", "2026-06-01T00:30:00Z  open")
		wantText(t, "its runs", reprise(t, store, cli.ExitDone, "run", "list", "--where", `schedule = "shop/nightly"`, "-o", "jsonl").out,
			`"slot":"2026-06-01T00:30:00Z"`, `"slot":"2026-06-02T00:30:00Z"`, `"team":"finance"`, `"key":"schedule:shop/nightly!k1"`)
		reprise(t, store, cli.ExitDone, "schedule", "resume", "shop/nightly")
		slots := checkJSON(t, s, store, cli.ExitDone, "schedule", "preview", "shop/nightly", "--after", "2027-12-24", "-n", "2")
		wantText(t, "preview", slots, "2027-12-24T01:30:00Z", "Fri 2027-12-24 02:30:00 CET", "2027-12-27T01:30:00Z")
		wantText(t, "delete without --yes", reprise(t, store, cli.ExitUsage, "schedule", "delete", "shop/yearly").err, "nothing was done")
		if out := apply("schedule", "delete", "shop/yearly", "--yes"); strings.Join(done.Removed, " ") != "yearly" {
			t.Errorf("delete says %s", out)
		}
		empty := writeFile(t, "set: shop\nschedules: []\n")
		wantText(t, "a dry run that removes", reprise(t, store, cli.ExitDone, "schedule", "apply", empty, "--dry-run").out, "removed      nightly")
		apply("schedule", "apply", empty)
		if strings.Join(done.Removed, " ") != "nightly" {
			t.Errorf("an empty set removes %v", done.Removed)
		}
		wantText(t, "what is gone", reprise(t, store, cli.ExitNotFound, "schedule", "show", "shop/nightly").err, `schedule "shop/nightly"`)
	})
}

// TestSchedulePreview needs no store.
func TestSchedulePreview(t *testing.T) {
	t.Parallel()
	got := reprise(t, "nowhere", cli.ExitDone, "schedule", "preview", "--cron", "30 2 * * *", "--zone", "Europe/Berlin", "--after", "2026-03-28", "-n", "2")
	wantText(t, "preview", got.out, "Sun 2026-03-29 03:30:00 CEST  02:30 on 29 March 2026 does not exist, it runs at 03:30")
	wantText(t, "the policy", got.err, "one that exists twice runs the first time")
	skips := reprise(t, "nowhere", cli.ExitDone, "schedule", "preview", "--cron", "30 2 * * *", "--zone", "Europe/Berlin", "--gap", "skip", "--after", "2026-03-29", "-n", "1", "-o", "jsonl")
	wantText(t, "preview", skips.out, `"omitted":true`, "2026-03-30T00:30:00Z")
	wantText(t, "a file", reprise(t, "nowhere", cli.ExitDone, "schedule", "preview", "yearly", "--file", writeFile(t, schedulesFile), "--after", "2027-06-01", "-n", "3").out, "2027-07-01T12:00:00Z")
	reprise(t, "nowhere", cli.ExitNotFound, "schedule", "preview", "weekly", "--file", writeFile(t, schedulesFile))
	wantText(t, "a typing error", reprise(t, "nowhere", cli.ExitUsage, "schedule", "preview", "--cron", "30 2 * * *", "--zone", "Berlin/Europe").err, "there is no zone")
}

// TestScheduleRefuses: what is wrong in a file is said before anything is done.
func TestScheduleRefuses(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "runs.db")
	reprise(t, store, cli.ExitDone, "migrate", "up")
	for text, says := range map[string]string{
		"":                       "there is nothing in it",
		"schedules: [":           "cannot be read, nothing was done",
		"set: shop":              "it has no list of schedules",
		"schedule: []":           `unknown field "schedule"`,
		"schedules: []\n---\n{}": "more than one document",
		"schedules: [{name: a, cron: '61 * * * *', zone: Europe/Berln, start: {workflow: report}}]":                        `schedule "a": cron: "61 * * * *": minute "61": it must be a number from 0 to 59`,
		"schedules: [{name: a, cron: '1 * * * *', zone: Europe/Berln, start: {workflow: report}}]":                         "did you mean Europe/Berlin",
		"schedules: [{name: a, cron: '1 * * * *', catchup: {window: 1h}, start: {workflow: report}}]":                      `unknown field "catchup"`,
		"schedules: [{name: a, cron: '1 * * * *', jitter: 5, start: {workflow: report}}]":                                  "jitter",
		"schedules: [{name: a, cron: '1 * * * *', jitter: 5x, start: {workflow: report}}]":                                 `"5x" is no duration`,
		"schedules: [{name: a, cron: '1 * * * *', start: {workflow: report}}, {name: a, every: [{every: 1h}], start: {}}]": `schedule "a" is there twice`,
	} {
		wantText(t, text, reprise(t, store, cli.ExitUsage, "schedule", "apply", writeFile(t, text)).err, says)
	}
	for args, says := range map[string]string{
		"apply /nowhere/schedules.yaml":                "no such file",
		"show a/b/c":                                   "may have letters",
		"backfill a --from yesterday":                  "is no time",
		"backfill a":                                   `--from "" is no time`,
		"preview":                                      "name a schedule",
		"preview a --cron *":                           "name a schedule",
		"preview --number 0 --cron @daily":             "--number 0",
		"trigger a --overlap queue":                    `overlap "queue" is none`,
		"backfill a --from 2030-01-01 --to 2029-01-01": "must end behind its beginning",
	} {
		wantText(t, args, reprise(t, store, cli.ExitUsage, append([]string{"schedule"}, strings.Fields(args)...)...).err, says)
	}
	if out := reprise(t, store, cli.ExitDone, "run", "list", "-o", "jsonl").out; out != "" {
		t.Errorf("there are runs: %s", out)
	}
}
