package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
)

// plant makes the runs of the demonstration and returns their ids by state.
func plant(t *testing.T, store string) map[string]string {
	t.Helper()
	var list []struct{ State, Run string }
	out := reprise(t, store, cli.ExitDone, "demo", "-o", "json").out
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	runs := map[string]string{}
	for _, p := range list {
		runs[p.State] = p.Run
	}
	return runs
}

// TestVerbsThatRead executes each verb that reads on a run in every state: what people see, what
// programs see, and that both are as documented.
func TestVerbsThatRead(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	onBoth(t, func(t *testing.T, store string) {
		runs, lines := plant(t, store), map[string]bool{}
		for _, c := range []struct {
			args string
			has  []string // of the table
		}{
			{"run list", []string{"WORKFLOW", "demo:failed", "no such address", "blocked", "demo:unserved"}},
			{"run list --limit 3", []string{"demo:unserved"}},
			{"run list --state blocked", []string{"demo:blocked", "a parcel without a weight"}},
			{"run list --key demo:timer", []string{runs["timer"], "timer"}},
			{"run list --parent " + runs["child"], []string{"demo.customs"}},
			{"run show " + runs["completed"], []string{"completed", `"label for 1 Main Street"`, `{"to":"1 Main Street","fate":"completed"}`, "demo=completed"}},
			{"run show key=demo:failed", []string{runs["failed"], "no such address"}},
			{"run show key=demo:retry", []string{"step label", "1 failed attempts", "the printer is out of paper"}},
			{"run show key=demo:child", []string{"child demo.customs", "run "}},
			{"run show key=demo:timer", []string{"timer", "in 29d23h"}},
			{"run show key=demo:delayed", []string{"begins", "in 29d23h"}},
			{"run why key=demo:signal", []string{"send signal scanned"}},
			{"run why key=demo:terminated", []string{"the customer does not exist"}},
			{"run why key=demo:unserved", []string{"version 2", "start a node"}},
			{"run why key=demo:paused", []string{"somebody looks for the address", "paused"}},
			{"run why key=demo:limited", []string{"waits for limit", "demo.van", "held by run " + runs["timer"]}},
			{"run why key=demo:quarantined", []string{"its owners died before the run committed anything, which was counted 10 times"}},
			{"run why key=demo:blocked", []string{"a parcel without a weight", "deploy code"}},
			{"run history key=demo:failed", []string{"RunStarted", "StepFailed", "RunFailed", "no such address", "step label"}},
			{"run published key=demo:signal", []string{"progress", "accepted"}},
			{"run published key=demo:signal progress", []string{"accepted"}},
			{"node list", []string{"LEASE ENDS"}},
			{"workflow list", []string{"QUEUE"}},
			{"audit", []string{"terminate", runs["terminated"], "the customer does not exist"}},
			{"audit --verb resume --limit 1", []string{"REASON"}},
			{"queue list", []string{"OLDEST", "demo.parcel"}},
			{"top", []string{"open 11  blocked 1  quarantined 1  paused 1  nodes 0", "LEASE ENDS", "demo.parcel", runs["blocked"]}},
			{"top --times 2 --every 1ms", []string{"open 11"}},
			{"migrate status", []string{"0001_initial.sql", "applied"}},
			{"version", []string{"reprise"}},
		} {
			args := strings.Fields(c.args)
			wantText(t, c.args, reprise(t, store, cli.ExitDone, args...).out, c.has...)
			checkJSON(t, s, store, cli.ExitDone, args...)
			if verb := strings.Join(args[:min(2, len(args))], " "); !lines[verb] {
				lines[verb] = true
				checkLines(t, s, store, args...)
			}
		}
		if n := checkLines(t, s, store, "run", "list", "--limit", "0"); n != 15 {
			t.Errorf("all runs are %d, want the 14 of the demonstration and a child", n)
		}
		wantCode := map[string]int{"completed": cli.ExitDone, "failed": cli.ExitFailed, "cancelled": cli.ExitFailed, "terminated": cli.ExitFailed}
		for state, code := range wantCode {
			out := reprise(t, store, code, "run", "watch", runs[state]).out
			wantText(t, "watch", out, "Run"+strings.ToUpper(state[:1])+state[1:])
		}
	})
}

// TestListFilters: each flag selects what it says, and no other.
func TestListFilters(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, store string) {
		runs := plant(t, store)
		for args, want := range map[string]string{
			"--workflow demo.customs":                     "",
			"--version 2":                                 "unserved",
			"--status cancelled":                          "cancelled",
			"--state blocked":                             "blocked",
			"--key demo:retry":                            "retry",
			"--key-prefix demo:un":                        "unserved",
			"--label demo=timer":                          "timer",
			"--label demo=failed --status failed":         "failed",
			"--label demo=failed --status open":           "none",
			"--parent key=demo:child":                     "",
			"--until 1h":                                  "none",
			"--since 1h --key demo:child":                 "child",
			"--until 2020-01-01T00:00:00Z":                "none",
			"--limit 1 --cursor " + runs["failed"]:        "completed",
			"--state quarantined":                         "quarantined",
			`--where demo="failed"`:                       "failed",
			`--where demo="failed" --status open`:         "none",
			"--state paused":                              "paused",
			`--where status=limited`:                      "limited",
			"--limit 1 --since 3d --workflow demo.parcel": "unserved",
		} {
			var page struct{ Runs []struct{ Key string } }
			out := reprise(t, store, cli.ExitDone, append(strings.Fields("run list -o json "), strings.Fields(args)...)...).out
			if err := json.Unmarshal([]byte(out), &page); err != nil {
				t.Fatal(err)
			}
			switch {
			case want == "none" && len(page.Runs) == 0:
			case len(page.Runs) != 1 || want != "" && page.Runs[0].Key != "demo:"+want || want == "" && page.Runs[0].Key != "":
				t.Errorf("%s: got %v, want %q alone", args, page.Runs, want)
			}
		}
	})
}
