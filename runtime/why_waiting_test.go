package runtime_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// TestWhyWithAMessageInTheInbox: a run whose signal is there already says which message it is and
// who takes it, and does not ask for it again; a message that it is not known to wait for is named.
func TestWhyWithAMessageInTheInbox(t *testing.T) {
	c := clustertest.New(t)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	n := c.Run(nil, handlePuzzle)
	start := func() journal.RunID {
		t.Helper()
		started, err := runtime.Start(ctx, client, puzzle, "signal", nil)
		run := clustertest.MustStart(t, started, err).ID()
		clustertest.Parked(t, client, run)
		return run
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	says := func(run journal.RunID, kind runtime.ReasonKind, text, remedy string) {
		t.Helper()
		r, _ := whyOf(t, client, run, kind)
		if r.Text != text || r.Remedy != remedy {
			t.Errorf("%s: %s\n%s\nwant: %s\n%s", kind, r.Text, r.Remedy, text, remedy)
		}
	}
	const here = "it waits for signal approved, which is in its inbox: message 1 (signal approved)"
	again := "do not send it again: "
	paused, free, child := start(), start(), start()
	says(free, runtime.ReasonSignal, "it waits for signal approved", "send signal approved: reprise run signal "+free.String()+" approved PAYLOAD")

	must(client.Pause(ctx, paused, nil))
	must(runtime.Signal(ctx, client, paused, approved, "", nil))
	says(paused, runtime.ReasonSignal, here, again+"the run takes what is there when it is resumed: reprise run resume "+paused.String())

	scope := journal.Scope{Workflow: string(puzzle), Queue: "default", Version: 1}
	must(client.PauseScope(ctx, scope, nil))
	must(runtime.Signal(ctx, client, free, approved, "", nil))
	must(runtime.Signal(ctx, client, free, "of nobody", 1, nil))
	says(free, runtime.ReasonSignal, here, again+`the run takes what is there when `+scope.String()+" is resumed: reprise workflow resume puzzle --version 1 --queue default")
	n.Stop()
	must(client.ResumeScope(ctx, scope))
	says(free, runtime.ReasonSignal, here, again+"the next node that serves workflow puzzle, version 1, queue default takes what is there")
	says(free, runtime.ReasonInbox, "its inbox has message 2 (signal of nobody)", "the next node that serves workflow puzzle, version 1, queue default takes what is there")

	conn := c.Connect()
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := conn.Exec(ctx, sql, args...)
		must(err)
	}
	exec(`UPDATE reprise.tasks SET state = 2, problem = 'its owners died' WHERE run_id = $1`, free)
	says(free, runtime.ReasonSignal, here, again+"the run takes what is there when it is resumed: reprise run resume "+free.String())
	exec(`UPDATE reprise.tasks SET state = 1, problem = 'workflow code panicked' WHERE run_id = $1`, free)
	says(free, runtime.ReasonInbox, "its inbox has message 1 (signal approved), message 2 (signal of nobody)", "the run takes what is there when its code fits")
	exec(`UPDATE reprise.tasks SET state = -1, problem = '' WHERE run_id = $1`, free)
	says(free, runtime.ReasonSignal, here, again+"the run takes what is there when it has its limits")
	exec(`UPDATE reprise.tasks SET state = 0 WHERE run_id = $1`, free)

	for i := range 5 {
		must(runtime.Signal(ctx, client, child, approved, fmt.Sprint(i), nil))
	}
	if r, _ := whyOf(t, client, child, runtime.ReasonSignal); !strings.HasSuffix(r.Text, "message 3 (signal approved) and 2 more") {
		t.Errorf("many messages: %s", r.Text)
	}
	n = c.Run(nil, handlePuzzle)
	clustertest.MustResult(t, runtime.RunOf(client, puzzle, free))
	n.Stop()
}

// TestWhyOfAnEndedChild: a run whose child has ended says whether it has the answer, and does not
// ask why the child waits.
func TestWhyOfAnEndedChild(t *testing.T) {
	c := clustertest.New(t)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	n := c.Run(nil, handlePuzzle)
	started, err := runtime.Start(ctx, client, puzzle, "child", nil)
	run := clustertest.MustStart(t, started, err)
	d := clustertest.Described(t, client, run.ID(), "its child is there", func(d *runtime.Description) bool {
		return len(d.Children) == 1 && d.Children[0].Run != nil && d.Run.Task.Owner == 0
	})
	if err := client.Pause(ctx, run.ID(), nil); err != nil {
		t.Fatal(err)
	}
	child := d.Children[0].Run.ID
	if err := runtime.Signal(ctx, client, child, approved, "", nil); err != nil {
		t.Fatal(err)
	}
	clustertest.MustResult(t, runtime.RunOf(client, puzzle, child))
	r, _ := whyOf(t, client, run.ID(), runtime.ReasonChild)
	if want := fmt.Sprintf("child puzzle, run %s, is completed, and its answer is in the inbox: message 1 (answer puzzle)", child); r.Text != want ||
		r.Remedy != "the run takes what is there when it is resumed: reprise run resume "+run.ID().String() {
		t.Errorf("%s\n%s\nwant %s", r.Text, r.Remedy, want)
	}
	conn := c.Connect()
	if _, err := conn.Exec(ctx, `UPDATE reprise.inbox SET cmd = cmd + 7 WHERE run_id = $1`, run.ID()); err != nil { // that of another child
		t.Fatal(err)
	}
	if r, _ := whyOf(t, client, run.ID(), runtime.ReasonChild); !strings.HasSuffix(r.Text, "and its answer is not in the inbox yet") || r.Remedy != "ask again in a moment" {
		t.Errorf("%s\n%s", r.Text, r.Remedy)
	}
	if _, err := conn.Exec(ctx, `UPDATE reprise.inbox SET cmd = cmd - 7 WHERE run_id = $1`, run.ID()); err != nil {
		t.Fatal(err)
	}
	n.Stop()
}
