package runtime_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

const (
	letters   workflow.Name[int, string] = "letters"
	letterOne workflow.Signal[string]    = "one"
	letterTwo workflow.Signal[string]    = "two"
	letterOld workflow.Signal[string]    = "late"
)

// handleLetters registers a workflow that has a step behind each of two signals, the second one in
// its next generation if it was started with 1.
func handleLetters(n *runtime.Node) {
	runtime.Handle(n, letters, func(ctx workflow.Context, in int) (string, error) {
		note := func() error {
			_, err := workflow.Step(ctx, "note", func(context.Context) (int, error) { return in, nil }, nil)
			return err
		}
		if in < 2 {
			if _, err := letterOne.Receive(ctx); err != nil {
				return "", err
			}
			if in == 1 {
				return "", workflow.ContinueAsNew(ctx, letters, 2, nil)
			}
			if err := note(); err != nil {
				return "", err
			}
		}
		if _, err := letterTwo.Receive(ctx); err != nil {
			return "", err
		}
		if err := note(); err != nil {
			return "", err
		}
		return letterOld.Receive(ctx)
	}, nil)
}

// TestDryRunNamesMessages: on each store a dry run names the messages of a run with what becomes of
// them, and that is what happens when it is carried out.
func TestDryRunNamesMessages(t *testing.T) {
	t.Run("Memory", func(t *testing.T) {
		runtimetest.Test(t, func(e *runtimetest.Env) {
			e.Register(handleLetters)
			namesMessages(e, e.Client())
		})
	})
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		n, _ := clustertest.SQLiteNode(t, filepath.Join(t.TempDir(), "reprise.db"), &clustertest.Log{}, handleLetters)
		namesMessages(t, n.Client())
	})
	t.Run("Postgres", func(t *testing.T) {
		c := clustertest.New(t)
		c.Run(nil, handleLetters)
		namesMessages(t, runtime.NewClient(c.Journal, nil))
	})
}

// fates tells what becomes of messages: their numbers, names and events.
func fates(t testing.TB, r *runtime.Rewinding, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, m := range r.Messages {
		if m.At.IsZero() {
			t.Errorf("message %d has no time", m.Number)
		}
		all = append(all, strings.TrimSpace(fmt.Sprint(m.Number, " ", m.Kind, " ", m.Name))+fmt.Sprint(" at ", m.Seq, " ", m.Fate))
	}
	return strings.Join(all, "; ")
}

func namesMessages(t testing.TB, c *runtime.Client) {
	ctx := t.Context()
	want := func(what, got, want string) {
		t.Helper()
		if d := cmp.Diff(strings.Split(want, "; "), strings.Split(got, "; ")); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
	begin := func(in, events int) journal.RunID {
		started, err := runtime.Start(ctx, c, letters, in, nil)
		run := clustertest.MustStart(t, started, err).ID()
		for _, err := range []error{runtime.Signal(ctx, c, run, letterOne, "x", nil), runtime.Signal(ctx, c, run, letterTwo, "x", nil)} {
			if err != nil {
				t.Fatal(err)
			}
		}
		clustertest.Until(t, "it has noted", func() bool {
			d, err := c.Describe(ctx, run)
			return err == nil && d.Events == events && d.Unread == 0 && d.Run.Generation == journal.Generation(max(1, 2*in))
		})
		for _, err := range []error{c.Pause(ctx, run, nil), runtime.Signal(ctx, c, run, letterOld, "x", nil), c.Cancel(ctx, run, "a mistake")} {
			if err != nil {
				t.Fatal(err)
			}
		}
		return run
	}
	run := begin(0, 5)
	all, err := c.History(ctx, run)
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]journal.Seq{}
	for _, ev := range all {
		at[ev.Name] = max(at[ev.Name], ev.Seq)
	}
	one, two := at["one"], at["two"]
	later := max(one, two) // before the step that ended last
	some := runtime.ResetOptions{NoMessages: true, Messages: []string{"two"}, Unproven: true, DryRun: true}
	dry, err := c.Reset(ctx, run, runtime.AfterEvent(one), &some)
	want("a reset", fates(t, dry, err), fmt.Sprintf("1 signal one at %d kept; 2 signal two at %d again; 3 signal late at 0 dropped; 4 cancel request at 0 dropped", one, two))
	fork, err := c.Fork(ctx, run, runtime.AfterEvent(later), &runtime.ForkOptions{Unproven: true, DryRun: true})
	want("a fork", fates(t, &fork.Of, err), fmt.Sprintf("1 signal one at %d kept; 2 signal two at %d kept; 3 signal late at 0 again; 4 cancel request at 0 dropped", one, two))
	anew, err := c.Reset(ctx, run, runtime.RunStart, &runtime.ResetOptions{DryRun: true})
	want("a reset to the start", fates(t, anew, err), fmt.Sprintf("1 signal one at %d again; 2 signal two at %d again; 3 signal late at 0 again; 4 cancel request at 0 dropped", one, two))
	skip, err := runtime.SkipMessageNamed(ctx, c, run, "late", &runtime.AmendOptions{DryRun: true})
	want("a skip", fates(t, skip, err), fmt.Sprintf("1 signal one at %d kept; 2 signal two at %d kept; 3 signal late at 0 dropped; 4 cancel request at 0 again", one, two))
	some.DryRun = false
	done, err := c.Reset(ctx, run, runtime.AfterEvent(one), &some)
	if err != nil || len(done.Messages) != 0 {
		t.Errorf("the reset names %v, %v", done.Messages, err)
	}
	d, err := c.Describe(ctx, run)
	if err != nil || len(d.Inbox) != 1 || d.Inbox[0].Number != 2 {
		t.Errorf("after the reset the inbox is %+v, %v, want message 2", d.Inbox, err)
	}

	run = begin(1, 3)
	anew, err = c.Reset(ctx, run, runtime.RunStart, &runtime.ResetOptions{Input: 0, DryRun: true})
	want("a reset to the start of a run that has continued", fates(t, anew, err), "1 signal one at 0 again; 2 signal two at 2 again; 3 signal late at 0 again; 4 cancel request at 0 dropped")
	anew, err = c.Reset(ctx, run, runtime.GenerationStart, &runtime.ResetOptions{DryRun: true})
	want("a reset to the start of its generation", fates(t, anew, err), "2 signal two at 2 again; 3 signal late at 0 again; 4 cancel request at 0 dropped")
	if anew.MoreMessages {
		t.Error("there are more messages")
	}
}
