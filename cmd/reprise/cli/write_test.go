package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
)

// detail is what tests read of run show.
type detail struct {
	Run struct {
		ID, Key, Status, State, Problem, Queue, Parent string
		Version, Priority                              int
		Labels                                         map[string]string
		StartAt, CreatedAt                             string
	}
	Input   struct{ Value json.RawMessage }
	Headers map[string]string
	Unread  int
	Inbox   []struct{ Number int }
	Steps   []struct{ Name string }
}

func show(t *testing.T, store, run string) (d detail) {
	t.Helper()
	if err := json.Unmarshal([]byte(reprise(t, store, cli.ExitDone, "run", "show", run, "-o", "json").out), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestVerbsThatWrite: what each does, and its exit code when the state of the run refuses it. No
// node is there, so runs do what they are told from outside.
func TestVerbsThatWrite(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	onBoth(t, func(t *testing.T, store string) {
		const key = "key=order:1"
		got := reprise(t, store, cli.ExitDone, "run", "start", "order", `{"item": "book", "n": 12345678901234567890}`, "--key", "order:1", "--version", "3",
			"--queue", "shop", "--priority", "2", "--label", "customer=42", "--header", "tenant=a=b")
		id := strings.TrimSpace(got.out)
		wantText(t, "start", got.err, "no live node serves workflow order, version 3, queue shop")
		d := show(t, store, key)
		if d.Run.ID != id || d.Run.Version != 3 || d.Run.Queue != "shop" || d.Run.Priority != 2 || d.Run.Labels["customer"] != "42" || d.Headers["tenant"] != "a=b" {
			t.Errorf("started %+v", d)
		}
		wantText(t, "input", string(d.Input.Value), "12345678901234567890", "book")
		again := checkJSON(t, s, store, cli.ExitDone, "run", "start", "order", "--key", "order:1")
		wantText(t, "a second start", again, id, `"created": false`)
		reprise(t, store, cli.ExitRefused, "run", "start", "other", "--key", "order:1")

		checkJSON(t, s, store, cli.ExitDone, "run", "signal", key, "approved", `{"by": "Ada"}`, "--key", "once")
		reprise(t, store, cli.ExitDone, "run", "signal", id, "approved", "--key", "once")
		if d := show(t, store, id); d.Unread != 1 {
			t.Errorf("the run has %d messages, want the one with a key", d.Unread)
		}
		for timeout := 300 * time.Millisecond; show(t, store, id).Unread < 2; timeout *= 2 { // sent, however slow the machine is
			got = reprise(t, store, cli.ExitTimeout, "run", "update", id, "address", `"here"`, "--key", "move:1", "--timeout", timeout.String())
		}
		wantText(t, "an update without a node", got.err, "deadline", "may have taken effect")
		checkJSON(t, s, store, cli.ExitDone, "run", "pause", id, "--reason", "a wrong price")
		if d := show(t, store, id); d.Run.State != "paused" {
			t.Errorf("the run is %s", d.Run.State)
		}
		wantText(t, "why", reprise(t, store, cli.ExitDone, "run", "why", id).out, "a wrong price")
		checkJSON(t, s, store, cli.ExitDone, "run", "resume", id, "--reason", "the price is right")
		for _, scope := range [][]string{{"queue", "QUEUE=shop"}, {"workflow", "WORKFLOW=order", "--version", "3"}, {"queue", "QUEUE=void"}} {
			noun, args := scope[0], append([]string{strings.SplitN(scope[1], "=", 2)[1]}, scope[2:]...)
			checkJSON(t, s, store, cli.ExitDone, append([]string{noun, "pause"}, append(args, "--reason", "a flood at "+args[0])...)...)
			wantText(t, noun+" list", reprise(t, store, cli.ExitDone, noun, "list").out, "a flood at "+args[0])
			wantText(t, noun+" list", checkJSON(t, s, store, cli.ExitDone, noun, "list"), "a flood at "+args[0])
			if args[0] != "void" {
				wantText(t, "why", reprise(t, store, cli.ExitDone, "run", "why", id).out, "a flood at "+args[0])
			}
			wantText(t, noun+" resume", checkJSON(t, s, store, cli.ExitDone, append([]string{noun, "resume"}, append(args, "--reason", "dry")...)...), "resumed")
			if out := reprise(t, store, cli.ExitDone, noun, "list").out; strings.Contains(out, "flood") {
				t.Errorf("%s list after the resume: %s", noun, out)
			}
		}
		wantText(t, "audit", checkJSON(t, s, store, cli.ExitDone, "audit", "--limit", "6"), "a flood at void", `queue \"void\"`, "dry")
		checkJSON(t, s, store, cli.ExitDone, "run", "set-labels", key, "ticket=OPS-17", "by=a=b", "--remove", "customer", "--reason", "a complaint")
		checkJSON(t, s, store, cli.ExitDone, "run", "set-priority", id, "1", "--reason", "a good customer")
		d = show(t, store, id)
		if l := d.Run.Labels; len(l) != 2 || l["ticket"] != "OPS-17" || l["by"] != "a=b" || d.Run.Priority != 1 {
			t.Errorf("the run has labels %v and priority %d", l, d.Run.Priority)
		}
		checkJSON(t, s, store, cli.ExitDone, "run", "cancel", id, "--reason", "changed my mind")
		if d := show(t, store, id); d.Unread != 3 {
			t.Errorf("the run has %d messages, want a signal, an update and a cancel request", d.Unread)
		}

		reprise(t, store, cli.ExitRefused, "run", "delete", id, "--yes")
		for _, verb := range []string{"terminate", "delete"} {
			wantText(t, verb, reprise(t, store, cli.ExitUsage, "run", verb, id).err, "--yes", "nothing was done")
		}
		if d := show(t, store, id); d.Run.Status != "open" {
			t.Errorf("the run is %s", d.Run.Status)
		}
		checkJSON(t, s, store, cli.ExitDone, "run", "terminate", id, "--yes", "--reason", "no stock")
		wantText(t, "the end", show(t, store, id).Run.Problem, "no stock")
		for _, args := range []string{"signal " + id + " approved", "update " + id + " address", "terminate --yes " + id, "resume " + id, "pause " + id, "set-priority " + id + " 2"} {
			got := reprise(t, store, cli.ExitRefused, strings.Fields("run "+args)...)
			wantText(t, args, got.err, "closed", "run show RUN")
		}
		reprise(t, store, cli.ExitDone, "run", "set-labels", id, "ended=sadly", "--remove=by")
		reprise(t, store, cli.ExitDone, "run", "set-labels", id, "ended=sadly")
		if l := show(t, store, id).Run.Labels; l["ended"] != "sadly" || len(l) != 2 {
			t.Errorf("the closed run has labels %v", l)
		}
		checkJSON(t, s, store, cli.ExitDone, "run", "delete", key, "--yes", "--reason", "nobody needs it")
		audit := checkJSON(t, s, store, cli.ExitDone, "audit", "--run", id)
		wantText(t, "the audit", audit, "delete", "nobody needs it", "terminate", "no stock", "resume", "the price is right", "pause", "a wrong price",
			"set-labels", "a complaint", "removed customer", "set-priority", "a good customer", "from 2 to 1")
		if n := strings.Count(audit, `"verb"`); n != 7 {
			t.Errorf("the audit has %d entries of the run, want one for each action that changed it:\n%s", n, audit)
		}
		wantText(t, "a page of the audit", reprise(t, store, cli.ExitDone, "audit", "--run", id, "--verb", "pause", "--limit", "1").out, "a wrong price")
		for _, args := range []string{"show " + id, "why " + id, "history " + id, "published " + id, "watch " + id, "cancel " + id, "pause " + id, "set-labels " + id + " a=1", "set-priority " + id + " 1", "delete --yes " + id, "show " + key} {
			wantText(t, args, reprise(t, store, cli.ExitNotFound, strings.Fields("run "+args)...).err, "not found", "run list")
		}
	})
}

// TestInput: a value is an argument, a file or standard input, and nothing is sent if it is no
// JSON.
func TestInput(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "runs.db")
	reprise(t, store, cli.ExitDone, "migrate", "up")
	file := filepath.Join(t.TempDir(), "order.json")
	if err := os.WriteFile(file, []byte("{\"from\": \"file\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	reprise(t, store, cli.ExitDone, "run", "start", "order", "@"+file, "--key", "file")
	cmd := command(t, store, "run", "start", "order", "-", "--key", "stdin")
	cmd.Stdin = strings.NewReader(`{"from": "stdin"}`)
	if got := finish(t, cmd); got.code != cli.ExitDone {
		t.Fatalf("from standard input: %+v", got)
	}
	for _, from := range []string{"file", "stdin"} {
		wantText(t, from, string(show(t, store, "key="+from).Input.Value), from)
	}
	for bad, says := range map[string]string{
		`{"a": 1`: "unexpected EOF", `book`: "invalid character", ``: "empty", `1 2`: "something follows",
		"@" + file + ".no": "no such file",
	} {
		got := reprise(t, store, cli.ExitUsage, "run", "start", "order", bad)
		wantText(t, bad, got.err, says)
		got = reprise(t, store, cli.ExitUsage, "run", "signal", "key=file", "s", bad)
		wantText(t, bad, got.err, says)
	}
	if n := strings.Count(reprise(t, store, cli.ExitDone, "run", "list", "-o", "jsonl").out, "\n"); n != 2 {
		t.Errorf("there are %d runs, want 2", n)
	}
	if d := show(t, store, "key=file"); d.Unread != 0 {
		t.Errorf("the run has %d messages, want none", d.Unread)
	}
}

// TestWrongUsage: what is wrong, and where to look.
func TestWrongUsage(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "runs.db")
	reprise(t, store, cli.ExitDone, "migrate", "up")
	for args, says := range map[string]string{
		"nothing":                       `unknown verb "nothing"`,
		"run nothing":                   `unknown verb "nothing"`,
		"run show":                      "accepts 1 arg",
		"run show a b":                  "accepts 1 arg",
		"run show order-1":              "neither the id of a run nor key=KEY",
		"run list --nothing":            "unknown flag: --nothing",
		"run list --status gone":        "completed, failed",
		"run list --state gone":         "ready, blocked, quarantined",
		"run list --label x":            "must be name=value",
		"run list --since soon":         "neither a time",
		"run list --limit -1":           "negative",
		"run list --version -1":         "negative",
		"run list --cursor x":           "cursor",
		"run list --where statu=failed": "status",
		"run list -o xml":               "table, json, jsonl",
		"run list --timeout -1s":        "negative",
		"run list --schema other":       "no schemas",
		"run list --schema O":           "must match",
		"run start order --reuse often": "reject, allow, allow-if-failed",
		"run start order --priority 9":  "priority",
		"run watch key=x --poll 0":      "positive",
		"run set-labels key=x":          "no label is named",
		"run set-labels key=x a":        "must be name=value",
		"run set-priority key=x":        "accepts 2 arg",
		"run set-priority key=x high":   "no number from 1 to 5",
		"run query key=x q":             "go doc github.com/reprise-run/reprise/cmd/reprise/cli Main",
		"run replay --help":             "executes the code of workflows, and this program has none",
		"version x":                     "unknown command",
		"run list --label " + strings.Repeat("x", 99) + "=1": "limit",
	} {
		got := reprise(t, store, cli.ExitUsage, strings.Fields(args)...)
		wantText(t, args, got.err, "reprise: ", says)
		if got.out != "" {
			t.Errorf("%s: printed %q", args, got.out)
		}
	}
	for _, args := range []string{"", "run", "--help", "run start --help"} {
		wantText(t, args, reprise(t, store, cli.ExitDone, strings.Fields(args)...).out, "Usage:")
	}
	wantText(t, "no store", reprise(t, "", cli.ExitUsage, "run", "list").err, "no store is named", "REPRISE_STORE")
}
