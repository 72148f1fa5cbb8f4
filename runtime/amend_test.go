package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// handlePoisoned registers a workflow that receives three words, with a step after each, and panics
// on one of them.
func handlePoisoned(n *runtime.Node) {
	runtime.Handle(n, works, func(ctx workflow.Context, in string) (string, error) {
		words := []string{in}
		for range 3 {
			word, err := worksSig.Receive(ctx)
			if err != nil {
				return "", err
			}
			if word == "poison" {
				panic("the word is not expected")
			}
			got, err := workflow.Step(ctx, "note", func(context.Context) (string, error) { return word, nil }, nil)
			if err != nil {
				return "", err
			}
			words = append(words, got)
		}
		return strings.Join(words, ","), nil
	}, nil)
}

// blocked waits until a run is blocked.
func blocked(t *testing.T, client *runtime.Client, run journal.RunID) *runtime.Description {
	t.Helper()
	return clustertest.Described(t, client, run, "the run is blocked", func(d *runtime.Description) bool {
		return d.Run.Task != nil && d.Run.Task.State == journal.Blocked
	})
}

// TestSkip: a signal that blocks a run is left out, and those behind it come. Nothing that was done
// before is done again, so no proof is needed.
func TestSkip(t *testing.T) {
	c := clustertest.New(t)
	c.Run(nil, handlePoisoned)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	started, err := runtime.Start(ctx, client, works, "in", nil)
	run := clustertest.MustStart(t, started, err)
	for _, word := range []string{"one", "poison", "two", "three"} {
		if err := runtime.Signal(ctx, client, run.ID(), worksSig, word, nil); err != nil {
			t.Fatal(err)
		}
		if word == "one" {
			clustertest.Described(t, client, run.ID(), "it waits for the next word", func(d *runtime.Description) bool { return d.Events == 3 && d.Unread == 0 })
		}
	}
	d := blocked(t, client, run.ID())
	if len(d.Inbox) == 0 || d.Inbox[0].Number != 2 || d.Inbox[0].Name != "word" || string(d.Inbox[0].Payload.Data) != `"poison"` || len(d.Inbox) != d.Unread {
		t.Fatalf("its inbox: %+v, %d unread", d.Inbox, d.Unread)
	}
	plan, err := runtime.SkipMessage(ctx, client, run.ID(), 2, &runtime.AmendOptions{DryRun: true})
	if err != nil || int(plan.Kept) != d.Events || len(plan.Steps) != 0 || plan.Generation != 1 {
		t.Errorf("planned: %+v, %v", plan, err)
	}
	if _, err := runtime.SkipMessage(runtime.WithActor(ctx, "eva"), client, run.ID(), 2, &runtime.AmendOptions{Reason: "a typing error"}); err != nil {
		t.Fatal(err)
	}
	if got := outcome(t, client, run.ID()); got != "in,one,two,three" {
		t.Errorf("result %q", got)
	}
	entries, err := client.Audit(ctx, journal.AuditFilter{Run: run.ID()})
	if err != nil || len(entries) != 1 || entries[0].Verb != "skip" || entries[0].Actor != "eva" || entries[0].Reason != "a typing error" || !strings.HasSuffix(entries[0].Detail, "message 2 is left out") {
		t.Errorf("audit: %+v, %v", entries, err)
	}
}

// TestSkipWhatWasConsumed: a signal that a run has consumed is taken back with what came behind it,
// which needs a proof, also if the run has ended.
func TestSkipWhatWasConsumed(t *testing.T) {
	c := clustertest.New(t)
	n := c.Run(nil, handlePoisoned)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	started, err := runtime.Start(ctx, client, works, "in", nil)
	run := clustertest.MustStart(t, started, err)
	for _, word := range []string{"one", "wrong", "three"} {
		if err := runtime.Signal(ctx, client, run.ID(), worksSig, word, nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := clustertest.MustResult(t, run); got != "in,one,wrong,three" {
		t.Fatalf("result %q", got)
	}
	if _, err := runtime.SkipMessage(ctx, client, run.ID(), 2, nil); !errors.Is(err, journal.ErrInvalid) || !errors.Is(err, runtime.ErrUnproven) {
		t.Errorf("a skip without a proof: %v", err)
	}
	for what, message := range map[string]journal.InboxSeq{"no message 99": 99, "no message 0": 0, "no message -1": -1} {
		_, err := runtime.SkipMessage(ctx, client, run.ID(), message, &runtime.AmendOptions{Proof: n.Node})
		if refused, ok := errors.AsType[*runtime.PointError](err); !ok || message != 99 && !strings.Contains(refused.Text, what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	done, err := runtime.SkipMessage(ctx, client, run.ID(), 2, &runtime.AmendOptions{Proof: n.Node})
	if err != nil || len(done.Steps) == 0 || done.Steps[0].Name != "note" {
		t.Fatalf("skipped: %+v, %v", done, err)
	}
	if err := runtime.Signal(ctx, client, run.ID(), worksSig, "right", nil); err != nil {
		t.Fatal(err)
	}
	if got := outcome(t, client, run.ID()); got != "in,one,three,right" {
		t.Errorf("result %q", got)
	}
}

// TestSkipOfAnAnswer: the answer of a child is not left out, consumed or not.
func TestSkipOfAnAnswer(t *testing.T) {
	s, c := newShop(), clustertest.New(t)
	n := c.Run(nil, s.handle)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	started, err := runtime.Start(ctx, client, works, "in", nil)
	run := clustertest.MustStart(t, started, err)
	clustertest.MustResult(t, run)
	_, err = runtime.SkipMessage(ctx, client, run.ID(), 1, &runtime.AmendOptions{Proof: n.Node})
	if refused, ok := errors.AsType[*runtime.PointError](err); !ok || !strings.Contains(refused.Text, "its code waits for it") {
		t.Errorf("%v", err)
	}
}

// TestEdit: a step that never succeeds is given its result, while it is tried again and again, and
// one that has an outcome is given another one. Neither is executed for it.
func TestEdit(t *testing.T) {
	c := clustertest.New(t)
	var bank, mail atomic.Int32
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, works, func(ctx workflow.Context, in string) (string, error) {
			paid, err := workflow.Step(ctx, "charge", func(context.Context) (string, error) {
				bank.Add(1)
				return "", errors.New("the bank is away")
			}, nil)
			if err != nil {
				return "", err
			}
			sent, err := workflow.Step(ctx, "mail", func(context.Context) (string, error) { return fmt.Sprint("mail ", mail.Add(1)), nil }, nil)
			return paid + ", " + sent, err
		}, nil)
	})
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	started, err := runtime.Start(ctx, client, works, "in", nil)
	run := clustertest.MustStart(t, started, err)
	clustertest.Described(t, client, run.ID(), "the step has failed", func(d *runtime.Description) bool {
		return len(d.Steps) == 1 && d.Steps[0].Attempts > 0
	})
	charge := runtime.StepResult{Name: "charge"}
	plan, err := runtime.EditStep(ctx, client, run.ID(), charge, "cash", &runtime.AmendOptions{Proof: n.Node, DryRun: true})
	if err != nil || len(plan.Replaced) != 1 || plan.Replaced[0].Name != "charge" || plan.Replaced[0].Seq != 0 || string(plan.Replaced[0].New.Data) != `"cash"` {
		t.Errorf("planned: %+v, %v", plan, err)
	}
	if _, err := runtime.EditStep(ctx, client, run.ID(), charge, 7, &runtime.AmendOptions{Proof: n.Node}); err == nil || !strings.Contains(err.Error(), "output of step charge: decode") {
		t.Errorf("a result that the code does not take: %v", err)
	}
	if _, err := runtime.EditStep(ctx, client, run.ID(), charge, "cash", &runtime.AmendOptions{Reason: "paid at the desk"}); err != nil {
		t.Fatal(err)
	}
	if got := outcome(t, client, run.ID()); got != "cash, mail 1" {
		t.Errorf("result %q", got)
	}
	tried := bank.Load()
	events, err := client.History(ctx, run.ID())
	if err != nil {
		t.Fatal(err)
	}
	var of journal.Event
	for _, ev := range events {
		if ev.Name == "charge" {
			of = ev
		}
	}
	card := &runtime.AmendOptions{Proof: n.Node}
	done, err := runtime.EditStep(ctx, client, run.ID(), runtime.StepResult{Event: of.Seq}, "card", card)
	if err != nil {
		t.Fatal(err)
	}
	if got := outcome(t, client, run.ID()); got != "card, mail 2" || bank.Load() != tried {
		t.Errorf("result %q, and %d attempts became %d", got, tried, bank.Load())
	}
	was := []string{done.Replaced[0].Name, string(done.Replaced[0].Was.Data), string(done.Replaced[0].New.Data), done.Steps[0].Name, fmt.Sprint(len(done.Steps))}
	if diff := cmp.Diff([]string{"charge", `"cash"`, `"card"`, "mail", "1"}, was); diff != "" {
		t.Errorf("edited (-want +got):\n%s", diff)
	}
	if _, err := runtime.EditStep(ctx, client, run.ID(), runtime.StepResult{Cmd: of.Cmd}, "cheque", card); err != nil {
		t.Fatal(err)
	}
	if got := outcome(t, client, run.ID()); got != "cheque, mail 3" {
		t.Errorf("result %q", got)
	}
	for what, step := range map[string]runtime.StepResult{
		"there is no event 99": {Event: 99}, "event 1 is": {Event: 1}, "command 99 of": {Cmd: 99}, `no step "other"`: {Name: "other"},
	} {
		_, err := runtime.EditStep(ctx, client, run.ID(), step, "x", card)
		if refused, ok := errors.AsType[*runtime.PointError](err); !ok || !strings.Contains(refused.Text, what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, step := range []runtime.StepResult{{}, {Event: 1, Cmd: 1}, {Event: -1}, {Cmd: -1}} {
		if _, err := runtime.EditStep(ctx, client, run.ID(), step, "x", card); !errors.Is(err, journal.ErrInvalid) {
			t.Errorf("%+v: %v", step, err)
		}
	}
	if _, err := runtime.EditStep(ctx, client, run.ID(), charge, "x", nil); !errors.Is(err, journal.ErrInvalid) {
		t.Errorf("an edit that takes events back, without a proof: %v", err)
	}
}

// TestEditOfOneOfMany: of steps with one name and no outcome, the one that is meant is chosen by
// its command.
func TestEditOfOneOfMany(t *testing.T) {
	c := clustertest.New(t)
	c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, works, func(ctx workflow.Context, in string) (string, error) {
			var all []workflow.Future[string]
			for range 2 {
				all = append(all, workflow.StepAsync(ctx, "s", func(context.Context) (string, error) { return "", errors.New("no") }, nil))
			}
			first, err := all[0].Get(ctx)
			if err != nil {
				return "", err
			}
			second, err := all[1].Get(ctx)
			return first + second, err
		}, nil)
	})
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	started, err := runtime.Start(ctx, client, works, "in", nil)
	run := clustertest.MustStart(t, started, err)
	d := clustertest.Described(t, client, run.ID(), "the steps are asked for", func(d *runtime.Description) bool { return len(d.Steps) == 2 })
	_, err = runtime.EditStep(ctx, client, run.ID(), runtime.StepResult{Name: "s"}, "x", nil)
	if refused, ok := errors.AsType[*runtime.PointError](err); !ok || !strings.Contains(refused.Text, fmt.Sprintf("of %d, %d", d.Steps[0].Cmd, d.Steps[1].Cmd)) {
		t.Errorf("one of two: %v", err)
	}
	for i, out := range []string{"x", "y"} {
		if _, err := runtime.EditStep(ctx, client, run.ID(), runtime.StepResult{Cmd: d.Steps[1-i].Cmd}, out, nil); err != nil {
			t.Fatal(err)
		}
		clustertest.Described(t, client, run.ID(), "the step has its outcome", func(d *runtime.Description) bool { return len(d.Steps) == 1-i })
	}
	if got := outcome(t, client, run.ID()); got != "yx" {
		t.Errorf("result %q", got)
	}
}

// TestEditsOfAPausedRunAddUp: what one edit has given a paused run is there after the next edit, and
// after a skip, and in a fork.
func TestEditsOfAPausedRunAddUp(t *testing.T) {
	c := clustertest.New(t)
	c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, works, func(ctx workflow.Context, in string) (string, error) {
			var all [2]workflow.Future[string]
			for i := range all {
				all[i] = workflow.StepAsync(ctx, "s", func(context.Context) (string, error) { return "", errors.New("no") }, nil)
			}
			for _, s := range all {
				out, err := s.Get(ctx)
				if err != nil {
					return "", err
				}
				in += out
			}
			word, err := worksSig.Receive(ctx)
			return in + word, err
		}, nil)
	})
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	started, err := runtime.Start(ctx, client, works, "in", nil)
	run := clustertest.MustStart(t, started, err)
	d := clustertest.Described(t, client, run.ID(), "the steps are asked for", func(d *runtime.Description) bool { return len(d.Steps) == 2 })
	if err := client.Pause(ctx, run.ID(), nil); err != nil {
		t.Fatal(err)
	}
	for i, out := range []string{"wrong", "y", "x"} { // the last edit is of a step that was given a result
		step := runtime.StepResult{Cmd: d.Steps[i%2].Cmd}
		if _, err := runtime.EditStep(ctx, client, run.ID(), step, out, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, word := range []string{"poison", "z"} {
		if err := runtime.Signal(ctx, client, run.ID(), worksSig, word, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := runtime.SkipMessage(ctx, client, run.ID(), 1, nil); err != nil {
		t.Fatal(err)
	}
	forked, err := client.Fork(ctx, run.ID(), runtime.AfterEvent(1), &runtime.ForkOptions{Unproven: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Resume(ctx, run.ID()); err != nil {
		t.Fatal(err)
	}
	for _, id := range []journal.RunID{run.ID(), forked.Run} {
		if got := outcome(t, client, id); got != "inxyz" {
			t.Errorf("result %q", got)
		}
	}
}
