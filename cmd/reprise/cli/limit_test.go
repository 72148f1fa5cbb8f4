package cli_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// TestLimitVerbs: limits are set, changed flag by flag, shown and removed.
func TestLimitVerbs(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	onBoth(t, func(t *testing.T, store string) {
		wantText(t, "none", checkJSON(t, s, store, cli.ExitDone, "limit", "list"), "[]")
		checkJSON(t, s, store, cli.ExitDone, "limit", "set", "bank", "--concurrency", "5", "--rate", "100/1m", "--burst", "10", "--reason", "they asked")
		wantText(t, "set", reprise(t, store, cli.ExitDone, "limit", "set", "bank", "--concurrency", "7").out, "bank: set: 7 at once; 100 per 1m0s, burst 10")
		wantText(t, "a key", reprise(t, store, cli.ExitDone, "limit", "set", "bank", "--key", "acme", "--rate", "9/s", "--weight", "3").out,
			`bank, key "acme": set: 9 per 1s; weight 3`)
		wantText(t, "list", reprise(t, store, cli.ExitDone, "limit", "list").out, "LIMIT", "HELD", "WAITS", "7 at once; 100 per 1m0s, burst 10; one key has its own")
		wantText(t, "show", reprise(t, store, cli.ExitDone, "limit", "show", "bank").out, "bounds", `key "acme": 9 per 1s; weight 3, set by `)
		checkJSON(t, s, store, cli.ExitDone, "limit", "show", "bank", "--key", "acme")
		wantText(t, "the rate is taken away", reprise(t, store, cli.ExitDone, "limit", "set", "bank", "--rate", "0").out, "bank: set: 7 at once\n")
		wantText(t, "no bounds", reprise(t, store, cli.ExitUsage, "limit", "set", "bank", "--concurrency", "0").err, "bounds nothing")
		wantText(t, "no rate", reprise(t, store, cli.ExitUsage, "limit", "set", "bank", "--rate", "100/x").err, "as in 100/1m", "limit set --help")
		wantText(t, "a backlog", reprise(t, store, cli.ExitDone, "limit", "set", "bank", "--concurrency", "7", "--max-backlog", "3").out, "bank: set: 7 at once; backlog 3, then reject\n")
		wantText(t, "what is full", reprise(t, store, cli.ExitDone, "limit", "set", "bank", "--on-full", "cancel oldest").out, "backlog 3, then cancel oldest")
		checkJSON(t, s, store, cli.ExitDone, "limit", "show", "bank")
		wantText(t, "no word", reprise(t, store, cli.ExitUsage, "limit", "set", "bank", "--on-full", "explode").err, "cancel oldest", "limit set --help")
		wantText(t, "no backlog", reprise(t, store, cli.ExitDone, "limit", "set", "bank", "--max-backlog", "0").out, "bank: set: 7 at once\n")
		wantText(t, "the audit", reprise(t, store, cli.ExitDone, "audit", "--verb", "set-limit").out, "they asked", `limit "bank": 7 at once, before 7 at once; 100 per 1m0s`)
		wantText(t, "completion", reprise(t, store, cli.ExitDone, "__complete", "limit", "show", "").out, "bank\t7 at once")
		checkJSON(t, s, store, cli.ExitDone, "limit", "remove", "bank", "--key", "acme", "--reason", "not any more")
		wantText(t, "remove", reprise(t, store, cli.ExitDone, "limit", "remove", "bank").out, "bank: removed")
		for _, args := range [][]string{{"remove", "bank"}, {"show", "bank"}} {
			wantText(t, "what is gone", reprise(t, store, cli.ExitNotFound, append([]string{"limit"}, args...)...).err, "there is no such limit", "limit list")
		}
		wantText(t, "no claim", reprise(t, store, cli.ExitNotFound, "limit", "release", "3:7").err, "there is no such claim", "limit show LIMIT")
		wantText(t, "no claim's name", reprise(t, store, cli.ExitUsage, "limit", "release", "seven").err, "as in 3:7812")
	})
}

// TestStartWithLimits: a run that is started with limits waits for them, and is found by that.
func TestStartWithLimits(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, store string) {
		id := strings.TrimSpace(reprise(t, store, cli.ExitDone, "run", "start", "import", "1", "--limit", "bank", "--limit", "tokens:acme*400").out)
		reprise(t, store, cli.ExitDone, "run", "start", "import")
		wantText(t, "why", reprise(t, store, cli.ExitDone, "run", "why", id).out, `waits for limit "bank"`, `waits for limit "tokens", key "acme"`)
		for _, args := range [][]string{{"--state", "limited"}, {"--where", "status = limited"}} {
			var page struct{ Runs []struct{ ID string } }
			out := reprise(t, store, cli.ExitDone, append([]string{"run", "list", "-o", "json"}, args...)...).out
			if err := json.Unmarshal([]byte(out), &page); err != nil || len(page.Runs) != 1 || page.Runs[0].ID != id {
				t.Errorf("%v: %s, %v", args, out, err)
			}
		}
		wantText(t, "no limit", reprise(t, store, cli.ExitUsage, "run", "start", "import", "--limit", "bank*0").err, "NAME:KEY*COST", "run start --help")
		wantText(t, "twice", reprise(t, store, cli.ExitUsage, "run", "start", "import", "--limit", "bank", "--limit", "bank:k").err, `limit "bank" is named twice`)
	})
}

// TestLimitRelease: what limit show and run why print of a holder releases it, and the step that
// waits begins.
func TestLimitRelease(t *testing.T) {
	s := readSchema(t)
	c := clustertest.New(t)
	began, open := make(chan string, 10), make(chan struct{})
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, workflow.Name[string, string]("pay"), func(ctx workflow.Context, who string) (string, error) {
			return workflow.Step(ctx, "call", func(ctx context.Context) (string, error) {
				began <- who
				select {
				case <-open:
				case <-ctx.Done():
				}
				return who, nil
			}, &workflow.StepOptions{Limits: []workflow.StepLimit{{Name: "bank", Key: "a b"}}})
		}, nil)
	})
	reprise(t, c.DSN, cli.ExitDone, "limit", "set", "bank", "--concurrency", "1")
	var runs []string
	for _, who := range []string{"first", "second"} {
		run, err := runtime.Start(clustertest.Context(t), n.Client(), workflow.Name[string, string]("pay"), who, nil)
		runs = append(runs, clustertest.MustStart(t, run, err).ID().String())
		if who == "first" {
			<-began
		}
	}
	var claim string
	clustertest.Until(t, "the second waits", func() bool {
		var rec struct {
			Waiting int
			Claims  []struct{ Claim string }
		}
		if err := json.Unmarshal([]byte(reprise(t, c.DSN, cli.ExitDone, "limit", "show", "bank", "-o", "json").out), &rec); err != nil {
			t.Fatal(err)
		}
		if rec.Waiting == 1 {
			claim = rec.Claims[0].Claim
		}
		return rec.Waiting == 1
	})
	wantText(t, "why", reprise(t, c.DSN, cli.ExitDone, "run", "why", runs[1]).out, `step call waits for limit "bank", key "a b": its only place is held`,
		"reprise limit set bank --concurrency N", "reprise limit release "+claim, "held by step call of run "+runs[0]+" on node ")
	checkJSON(t, s, c.DSN, cli.ExitDone, "run", "why", runs[1])
	wantText(t, "show", reprise(t, c.DSN, cli.ExitDone, "limit", "show", "bank").out, `key "a b": 1 held, 1 waiting`, "held by", claim+"  step call of run "+runs[0], "in place 1")
	checkJSON(t, s, c.DSN, cli.ExitDone, "limit", "show", "bank")
	wantText(t, "completion", reprise(t, c.DSN, cli.ExitDone, "__complete", "limit", "release", "").out, claim+"\tbank, step call of run")
	wantText(t, "release", reprise(t, c.DSN, cli.ExitDone, "limit", "release", claim, "--reason", "it hangs").out, "claim "+claim+": released")
	if who := <-began; who != "second" {
		t.Errorf("the step of %s begins", who)
	}
	if out := reprise(t, c.DSN, cli.ExitDone, "audit", "--verb", "release-claim").out; !strings.Contains(out, "it hangs") {
		t.Errorf("the audit has %s", out)
	}
	close(open)
	n.Stop()
}
