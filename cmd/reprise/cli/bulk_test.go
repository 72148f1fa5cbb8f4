package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/cmd/reprise/cli"
)

// bulkOut is what tests read of bulk.
type bulkOut struct {
	EndedBefore bool `json:"ended_before"`

	Run, Verb, Status  string
	Runs, Done, Failed int
	NotNeeded          int `json:"not_needed"`
}

func parseBulk(t *testing.T, out string) (b bulkOut) {
	t.Helper()
	if err := json.Unmarshal([]byte(out), &b); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	return b
}

// startOrders starts n runs that no node serves, with keys order:0 and so on.
func startOrders(t *testing.T, store string, n int) {
	t.Helper()
	for i := range n {
		reprise(t, store, cli.ExitDone, "run", "start", "order", "--key", fmt.Sprint("order:", i), "--label", "shop=7")
	}
}

// TestBulk: each verb of bulk says how many runs there are, does nothing without --yes or with
// --dry-run, and then does it to all of them and to no other.
func TestBulk(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	onBoth(t, func(t *testing.T, store string) {
		startOrders(t, store, 3)
		reprise(t, store, cli.ExitDone, "run", "start", "order", "--key", "other")
		for _, c := range []struct {
			verb  []string
			check func(d detail) bool
		}{
			{[]string{"pause"}, func(d detail) bool { return d.Run.State == "paused" }},
			{[]string{"resume"}, func(d detail) bool { return d.Run.State == "ready" }},
			{[]string{"set-priority", "1"}, func(d detail) bool { return d.Run.Priority == 1 }},
			{[]string{"set-labels", "ticket=OPS-17", "--remove", "untriaged"}, func(d detail) bool { return d.Run.Labels["ticket"] == "OPS-17" }},
			{[]string{"signal", "approved", `{"by": "Ada"}`}, func(d detail) bool { return d.Unread == 1 }},
			{[]string{"cancel"}, func(d detail) bool { return d.Unread == 2 }},
			{[]string{"terminate"}, func(d detail) bool { return d.Run.Status == "terminated" }},
			{[]string{"retry"}, func(d detail) bool { return d.Run.Status == "open" }},
			{[]string{"reset", "generation"}, func(d detail) bool { return d.Run.Status == "open" }},
			{[]string{"terminate"}, func(d detail) bool { return d.Run.Status == "terminated" }},
			{[]string{"delete"}, nil},
		} {
			verb := c.verb[0]
			args := append(append([]string{"bulk"}, c.verb...), "--where", `shop = "7"`, "--reason", "shop 7 has closed")
			refused := reprise(t, store, cli.ExitUsage, args...)
			wantText(t, verb+" without --yes", refused.err, verb+" 3 runs", "no terminal to ask", "nothing was done", "give --yes")
			dry := parseBulk(t, checkJSON(t, s, store, cli.ExitDone, append(args, "--dry-run")...))
			if dry != (bulkOut{Verb: verb, Runs: 3}) {
				t.Errorf("a dry run of %s says %+v", verb, dry)
			}
			wantText(t, "a dry run", reprise(t, store, cli.ExitDone, append(args, "--dry-run")...).out, verb+" 3 runs; nothing was done")
			if d := show(t, store, "key=order:0"); verb == "pause" && d.Run.State != "ready" {
				t.Errorf("before --yes run order:0 is %s", d.Run.State)
			}
			got := parseBulk(t, checkJSON(t, s, store, cli.ExitDone, append(args, "--yes")...))
			if want := (bulkOut{Run: got.Run, Verb: verb, Status: "completed", Runs: 3, Done: 3}); got != want || got.Run == "" {
				t.Errorf("%s says %+v, want %+v", verb, got, want)
			}
			if verb != "signal" && verb != "cancel" {
				audit := reprise(t, store, cli.ExitDone, "audit", "--verb", verb).out
				if n := strings.Count(audit, "bulk job "+got.Run+": shop 7"); n != 3 {
					t.Errorf("the audit names job %s %d times:\n%s", got.Run, n, audit)
				}
			}
			for i := range 3 {
				if key := fmt.Sprint("key=order:", i); c.check == nil {
					reprise(t, store, cli.ExitNotFound, "run", "show", key)
				} else if d := show(t, store, key); !c.check(d) {
					t.Errorf("after %s run %s is %+v", verb, key, d)
				}
			}
			watched := reprise(t, store, cli.ExitDone, "bulk", "watch", got.Run)
			wantText(t, "watch", watched.out, got.Run, "completed", verb+": 3 of 3 runs done")
		}
		if d := show(t, store, "key=other"); d.Run.State != "ready" || d.Unread != 0 {
			t.Errorf("a run that was not meant is %+v", d)
		}
		wantText(t, "nothing to do", reprise(t, store, cli.ExitDone, "bulk", "delete", "--where", `shop = "7"`).out, "delete 0 runs; nothing was done")
	})
}

// TestBulkRefuses: what is wrong is said before anything is done.
func TestBulkRefuses(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "runs.db")
	reprise(t, store, cli.ExitDone, "migrate", "up")
	startOrders(t, store, 1)
	for args, says := range map[string]string{
		"cancel --yes":                          "no filter",
		"cancel --yes --all --where version=1":  "a filter and All",
		"cancel --yes --where statu=failed":     "status",
		"cancel --yes --all --rate -1":          "rate -1",
		"cancel --yes --all --concurrency 1000": "concurrency 1000",
		"cancel --yes order:0":                  "unknown command",
		"signal --yes --all":                    "accepts between 1 and 2",
		"set-priority high --yes --all":         `priority "high" is no number`,
		"set-labels ticket --yes --all":         `label "ticket" must be name=value`,
		"set-labels --yes --all":                "names no label",
		"signal --yes --all approved {":         "is no JSON",
		"mend":                                  "unknown verb",
		"watch key=order:0":                     "no job of bulk, but of workflow order",
		"cancel --yes --all --key ~mine":        "~",
	} {
		wantText(t, args, reprise(t, store, cli.ExitUsage, strings.Fields("bulk "+args)...).err, says)
	}
	reprise(t, store, cli.ExitNotFound, "bulk", "watch", "01a2285c-a685-7d24-b9d9-89ca7662582b")
	if n := strings.Count(reprise(t, store, cli.ExitDone, "run", "list", "-o", "jsonl").out, "\n"); n != 1 {
		t.Errorf("there are %d runs, want the one that was there", n)
	}
}

// TestBulkFails: runs that refuse are named, and the exit code says that there are some. The node of
// the command has the interceptors of the program that embeds it.
func TestBulkFails(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "runs.db")
	reprise(t, store, cli.ExitDone, "migrate", "up")
	startOrders(t, store, 2)
	cmd := command(t, store, "bulk", "terminate", "--all", "--yes")
	cmd.Env = append(cmd.Env, programEnv+"=refusing")
	got := finish(t, cmd)
	wantText(t, "the job", got.out, "completed", "0 of 2 runs done, 2 failed", show(t, store, "key=order:0").Run.ID+" was refused: nobody is terminated here")
	wantText(t, "its end", got.err, "2 runs failed")
	if got.code != cli.ExitFailed {
		t.Errorf("the exit code is %d", got.code)
	}
}

// TestBulkInterrupted: a job whose command is interrupted, or has no more time, says how to go on.
// It goes on behind what is done, and can be aborted.
func TestBulkInterrupted(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, store string) {
		startOrders(t, store, 6)
		cmd := command(t, store, "bulk", "terminate", "--all", "--yes", "--rate", "4")
		out, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		r := bufio.NewReader(out)
		line, err := r.ReadString('\n')
		job, found := strings.CutPrefix(strings.TrimSpace(line), "note: job ")
		if err != nil || !found {
			t.Fatalf("the command says %q, %v", line, err)
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(r)
		_ = cmd.Wait()
		wantText(t, "the interrupted command", string(rest), "job "+job+" is not over", "bulk watch "+job, "run cancel "+job)
		if code := cmd.ProcessState.ExitCode(); code != cli.ExitFailed {
			t.Errorf("the interrupted command ends with %d", code)
		}
		if n := strings.Count(reprise(t, store, cli.ExitDone, "audit", "-o", "jsonl").out, "\n"); n > 5 {
			t.Errorf("%d runs were terminated before the interruption", n)
		}
		got := parseBulk(t, reprise(t, store, cli.ExitDone, "bulk", "watch", job, "-o", "json").out)
		if want := (bulkOut{Run: job, Verb: "terminate", Status: "completed", Runs: 6, Done: 6}); got != want {
			t.Errorf("in the end the job says %+v", got)
		}
		if n := strings.Count(reprise(t, store, cli.ExitDone, "audit", "-o", "jsonl").out, "\n"); n != 6 {
			t.Errorf("the audit has %d entries, want one for each run", n)
		}

		late := reprise(t, store, cli.ExitTimeout, "bulk", "delete", "--where", `workflow = "order"`, "--yes", "--rate", "0.1", "--key", "slow", "--timeout", "2s")
		wantText(t, "without time", late.err, "is not over", "bulk watch ", "run cancel ")
		reprise(t, store, cli.ExitDone, "run", "cancel", "key=slow", "--reason", "too slow")
		ended := reprise(t, store, cli.ExitFailed, "bulk", "watch", "key=slow")
		wantText(t, "an aborted job", ended.out+ended.err, "cancelled", "of 6 runs done", "the job is cancelled")
	})
}

// TestBulkBack: a job makes forks, and one gives results. What no code proves is refused before
// anything is done, and a run without the step is a failure with its reason.
func TestBulkBack(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	onBoth(t, func(t *testing.T, store string) {
		startOrders(t, store, 3)
		where := []string{"--where", `shop = "7"`, "--reason", "shop 7 has closed", "--yes"}
		fork := append([]string{"bulk", "fork", "generation", "--queue", "other", "--workflow-version", "2", "--no-messages", "--message", "approved"}, where...)
		got := parseBulk(t, checkJSON(t, s, store, cli.ExitDone, fork...))
		if want := (bulkOut{Run: got.Run, Verb: "fork", Status: "completed", Runs: 3, Done: 3}); got != want {
			t.Errorf("forks: %+v, want %+v", got, want)
		}
		if n := strings.Count(reprise(t, store, cli.ExitDone, "audit", "--verb", "fork").out, "bulk job "+got.Run+": shop 7"); n != 6 { // a row for each of the two
			t.Errorf("the audit names job %s %d times", got.Run, n)
		}
		forks := reprise(t, store, cli.ExitDone, "run", "list", "--where", `queue = "other" and version = 2`, "-o", "jsonl").out
		if n := strings.Count(forks, "\n"); n != 3 {
			t.Errorf("%d forks:\n%s", n, forks)
		}
		wantText(t, "an edit without proof", reprise(t, store, cli.ExitUsage, append([]string{"bulk", "edit", "charge", "1"}, where...)...).err, "--unproven")
		failed := reprise(t, store, cli.ExitFailed, append([]string{"bulk", "edit", "charge", `"paid"`, "--unproven", "--keep-children"}, where...)...)
		wantText(t, "an edit of no step", failed.out, `no step "charge"`, "0 of 6 runs done")

		reprise(t, store, cli.ExitDone, "run", "signal", "key=order:2", "paid", "1")
		planned := []string{"bulk", "reset", "start", "--no-messages", "--where", `shop = "7" and queue = "default"`, "--dry-run"}
		wantText(t, "a dry run", reprise(t, store, cli.ExitDone, planned...).out, "reset 3 runs; nothing was done", "would begin with 0 events", "MESSAGE", "paid", "dropped")
		if out := checkJSON(t, s, store, cli.ExitDone, planned...); strings.Count(out, `"kept": 0`) != 3 || !strings.Contains(out, `"fate": "dropped"`) {
			t.Errorf("a dry run says %s", out)
		}
		if out := checkJSON(t, s, store, cli.ExitDone, "run", "fork", "key=order:2", "start", "--dry-run"); !strings.Contains(out, `"fate": "again"`) {
			t.Errorf("a dry run of one fork says %s", out)
		}
		only := []string{"--where", `shop = "7" and queue = "default"`, "--yes"}
		for i := range 2 { // the third run has no message
			reprise(t, store, cli.ExitDone, "run", "signal", fmt.Sprint("key=order:", i), "moved", `"Bonn"`)
		}
		skipped := reprise(t, store, cli.ExitFailed, append([]string{"bulk", "skip", "moved", "--unproven", "--keep-children"}, only...)...)
		wantText(t, "a skip", skipped.out, "2 of 3 runs done, 1 failed", "no signal or update moved")
		wantText(t, "a skip without proof", reprise(t, store, cli.ExitUsage, append([]string{"bulk", "skip", "moved"}, only...)...).err, "--unproven")
		if d := show(t, store, "key=order:0"); d.Unread != 0 {
			t.Errorf("after the skip the run has %d messages", d.Unread)
		}
		checkJSON(t, s, store, cli.ExitDone, append([]string{"bulk", "reset", "start", "--input", `{"n": 1}`, "--workflow-version", "3"}, only...)...)
		if d := show(t, store, "key=order:0"); d.Run.Version != 3 {
			t.Errorf("after the reset the run has version %d", d.Run.Version)
		}
		for args, says := range map[string]string{
			"reset step:charge --unproven --input 1":          "choose the point start or generation",
			"fork step:charge --unproven --result 1":          "name of a step",
			"fork step:a --unproven --result a=1 --result a=": "twice",
			"fork start --result charge=1":                    "keeps no step",
		} {
			got := reprise(t, store, cli.ExitUsage, append(append([]string{"bulk"}, strings.Fields(args)...), only...)...)
			wantText(t, args, got.err, says)
		}
	})
}

// TestBulkShow: what came of each run is listed, all of those that failed, and a job acts on these.
func TestBulkShow(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	onBoth(t, func(t *testing.T, store string) {
		startOrders(t, store, 23)
		failed := reprise(t, store, cli.ExitFailed, "bulk", "edit", "charge", "1", "--unproven", "--where", `shop = "7"`, "--key", "first", "--yes")
		wantText(t, "the job", failed.out, "23 failed", "bulk show ", " --failures lists all")
		reprise(t, store, cli.ExitDone, "run", "start", "order", "--key", "other", "--label", "shop=7")
		lines := reprise(t, store, cli.ExitDone, "bulk", "show", "key=first", "--failures", "--limit", "0", "-o", "jsonl").out
		if n := strings.Count(lines, `"what":"failed"`); n != 23 || strings.Count(lines, "\n") != n || !strings.Contains(lines, `no step \"charge\"`) {
			t.Errorf("%d failures:\n%s", n, lines)
		}
		var page struct {
			Outcomes []struct{ Run string }
			Next     string
		}
		out := checkJSON(t, s, store, cli.ExitDone, "bulk", "show", "key=first", "--limit", "20")
		if err := json.Unmarshal([]byte(out), &page); err != nil || len(page.Outcomes) != 20 || page.Next == "" {
			t.Errorf("a page of 20 (%v):\n%s", err, out)
		}
		table := reprise(t, store, cli.ExitDone, "bulk", "show", "key=first", "--cursor", page.Next)
		if n := strings.Count(table.out, "no step"); n != 3 {
			t.Errorf("%d behind the first page:\n%s", n, table.out)
		}
		again := []string{"bulk", "terminate", "--failures-of", "key=first"}
		dry := reprise(t, store, cli.ExitDone, append(again, "--dry-run")...)
		wantText(t, "a dry run", dry.out, "terminate 23 runs; nothing was done")
		got := parseBulk(t, checkJSON(t, s, store, cli.ExitDone, append(again, "--yes")...))
		if want := (bulkOut{Run: got.Run, Verb: "terminate", Status: "completed", Runs: 23, Done: 23}); got != want {
			t.Errorf("the job of failures says %+v", got)
		}
		if d := show(t, store, "key=other"); d.Run.Status != "open" {
			t.Errorf("a run that was not meant is %s", d.Run.Status)
		}
		wantText(t, "no job", reprise(t, store, cli.ExitUsage, "bulk", "show", "key=other").err, "no job of bulk")
		wantText(t, "both", reprise(t, store, cli.ExitUsage, append(again, "--all")...).err, "leave one of them out")
	})
}

// TestBulkKey: a job with a key is started once. The same command tells how it has ended, with the
// same exit code; another job with the key is refused before anything is asked or done.
func TestBulkKey(t *testing.T) {
	t.Parallel()
	s := readSchema(t)
	onBoth(t, func(t *testing.T, store string) {
		startOrders(t, store, 2)
		label := []string{"bulk", "set-labels", "ticket=OPS-17", "--where", `shop = "7"`, "--key", "night", "--yes"}
		first := parseBulk(t, checkJSON(t, s, store, cli.ExitDone, label...))
		if want := (bulkOut{Run: first.Run, Verb: "set-labels", Status: "completed", Runs: 2, Done: 2}); first != want {
			t.Errorf("the first start says %+v", first)
		}
		startOrders(t, store, 3) // a third one, on which nothing is done
		for _, args := range [][]string{label, append(label, "--dry-run"), append(label, "--reason", "again", "--rate", "5")} {
			again := reprise(t, store, cli.ExitDone, args...)
			wantText(t, "the same job", again.err, "job "+first.Run+" with the key has ended already", "nothing is done now")
			wantText(t, "the same job", again.out, first.Run, "completed", "2 of 2 runs done")
			want := first
			want.EndedBefore = true
			if got := parseBulk(t, checkJSON(t, s, store, cli.ExitDone, args...)); got != want {
				t.Errorf("the same job says %+v, want %+v", got, want)
			}
		}
		for _, args := range []string{
			`terminate --where shop="7"`, `terminate --where shop="7" --yes`, `terminate --where shop="7" --dry-run`, `set-labels ticket=OPS-17 --all --yes`,
			`terminate --where shop="none" --yes`,
		} {
			got := reprise(t, store, cli.ExitRefused, append(strings.Fields("bulk "+args), "--key", "night")...)
			wantText(t, args, got.err, `key "night" belongs to another job, `+first.Run+`: set-labels runs where shop = "7"`, "nothing was done", "bulk watch "+first.Run)
			if got.out != "" {
				t.Errorf("%s says %q", args, got.out)
			}
		}
		if d := show(t, store, "key=order:2"); d.Run.Status != "open" || d.Run.Labels["ticket"] != "" {
			t.Errorf("the third run is %+v", d)
		}
	})
}
