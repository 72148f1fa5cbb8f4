package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
)

// TestCountOfRuns: runs are counted in groups, with how long they took and how often they were tried, for
// people and as JSON. What cannot be a grouping is refused with what can.
func TestCountOfRuns(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	onBoth(t, func(t *testing.T, store string) {
		plant(t, store)
		wantText(t, "a count", reprise(t, store, cli.ExitDone, "run", "count", "--by", "status", "--by", "workflow").out, "STATUS", "WORKFLOW", "RUNS", "P95", "open", "demo.parcel")
		wantText(t, "by time", reprise(t, store, cli.ExitDone, "run", "count", "--where", "closed is set", "--by", "closed:365d", "--histories").out, "CLOSED", "STEPS", "ATTEMPTS", "T00:00:00Z")
		type tally struct {
			Runs   int
			Capped bool
			Groups []struct {
				Values                  map[string]string
				Closed, Steps, Attempts int
			}
		}
		count := func(args ...string) (got tally) {
			t.Helper()
			if err := json.Unmarshal([]byte(checkJSON(t, s, store, cli.ExitDone, append([]string{"run", "count"}, args...)...)), &got); err != nil {
				t.Fatal(err)
			}
			return got
		}
		if got := count("--label", "demo=failed", "--by", "demo", "--histories"); got.Runs != 1 || got.Capped || len(got.Groups) != 1 || got.Groups[0].Values["demo"] != "failed" ||
			got.Groups[0].Closed != 1 || got.Groups[0].Steps != 1 || got.Groups[0].Attempts != 1 {
			t.Errorf("the run that failed: %+v", got)
		}
		if got := count("--cap", "2"); got.Runs != 2 || !got.Capped || len(got.Groups) != 1 {
			t.Errorf("capped: %+v", got)
		}
		wantText(t, "capped, for people", reprise(t, store, cli.ExitDone, "run", "count", "--cap", "2").out, "2+")
		if got := count("--where", `workflow = "nothing"`); got.Runs != 0 || len(got.Groups) != 0 {
			t.Errorf("nothing: %+v", got)
		}
		wantText(t, "a label that no run has", reprise(t, store, cli.ExitDone, "run", "count", "--by", "nosuch", "--by", "workflow").err, `no run that was counted has label "nosuch"`)
		if got := reprise(t, store, cli.ExitDone, "run", "count", "--by", "demo").err; got != "" {
			t.Errorf("a label that runs have: %s", got)
		}
		wantText(t, "a time without a bucket", reprise(t, store, cli.ExitUsage, "run", "count", "--by", "closed").err, "closed:1h")
		wantText(t, "no bucket", reprise(t, store, cli.ExitUsage, "run", "count", "--by", "closed:soon").err, "no duration")
		wantText(t, "no grouping", reprise(t, store, cli.ExitUsage, "run", "count", "--by", "duration").err, "runs are grouped by workflow")
		wantText(t, "too much", reprise(t, store, cli.ExitUsage, "run", "count", "--histories", "--cap", "100001").err, "cap of an aggregate")
	})
}

// TestFailuresOfRuns: failed and blocked runs are counted by what they have in common.
func TestFailuresOfRuns(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	onBoth(t, func(t *testing.T, store string) {
		plant(t, store)
		var got struct {
			Runs   int
			Groups []struct {
				Status, Class, Step, Example string
				Runs                         int
			}
		}
		if err := json.Unmarshal([]byte(checkJSON(t, s, store, cli.ExitDone, "run", "failures")), &got); err != nil {
			t.Fatal(err)
		}
		status := map[string]int{}
		for _, g := range got.Groups {
			status[g.Status] += g.Runs
			if g.Example == "" || g.Status == "failed" && (g.Step == "" || g.Class == "") {
				t.Errorf("a group is %+v", g)
			}
		}
		if status["failed"] == 0 || status["blocked"] == 0 || status["failed"]+status["blocked"]+status["quarantined"] != got.Runs {
			t.Errorf("the failures are %+v", got)
		}
		wantText(t, "for people", reprise(t, store, cli.ExitDone, "run", "failures", "--cap", "1").out, "RUNS", "CLASS", "FIRST", "failed")
		if out := reprise(t, store, cli.ExitDone, "run", "failures", "--state", "blocked").out; strings.Contains(out, "failed") {
			t.Errorf("the blocked ones are %s", out)
		}
		wantText(t, "no cap", reprise(t, store, cli.ExitUsage, "run", "failures", "--cap", "0").err, "--cap 0 must be from 1 to 100000")
	})
}
