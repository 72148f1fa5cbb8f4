package acceptance_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/journaltest/faulty"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// recipe is code that awaits the commands one by one, "step name" or "child key", and then a
// signal. It sets where to its last line.
func (d *deployment) recipe(where *string, commands ...string) func(n *runtime.Node) {
	return func(n *runtime.Node) {
		runtime.Handle(n, leaf, func(_ workflow.Context, in string) (string, error) { return in, nil }, nil)
		runtime.Handle(n, root, func(ctx workflow.Context, in string) (string, error) {
			for _, c := range commands {
				kind, name, _ := strings.Cut(c, " ")
				var err error
				if kind == "step" {
					*where = nextLine()
					_, err = workflow.Step(ctx, name, workOnce, nil)
				} else {
					*where = nextLine()
					_, err = workflow.Call(ctx, leaf, name, &workflow.ChildOptions{Key: name})
				}
				if err != nil {
					return "", err
				}
			}
			*where = nextLine()
			return approved.Receive(ctx)
		}, nil)
	}
}

// TestChangedCodeBlocks: code that does not fit a run's history blocks the run. The problem names
// the event, what history and code have there, and the line. Nothing is written or started until
// the old code is back, with which the run continues.
func TestChangedCodeBlocks(t *testing.T) {
	old := []string{"step reserve", "step charge", "child slip"}
	for name, tc := range map[string]struct {
		code      []string
		seq       string
		want, got string
		elsewhere bool // no call of the code made the difference
	}{
		"swapped":       {code: []string{"step charge", "step reserve", "child slip"}, seq: "1", want: "step reserve", got: "step charge"},
		"renamed":       {code: []string{"step reserve", "step bill", "child slip"}, seq: "2", want: "step charge", got: "step bill"},
		"removed":       {code: []string{"step charge", "child slip"}, seq: "1", want: "step reserve", got: "step charge"},
		"last removed":  {code: []string{"step reserve", "step charge"}, seq: "3", want: "child leaf slip", got: "waiting for signal approved", elsewhere: true},
		"added":         {code: []string{"step reserve", "step check", "step charge", "child slip"}, seq: "2", want: "step charge", got: "step check"},
		"added behind":  {code: append(old[:3:3], "step more"), seq: "4", want: "nothing more", got: "step more"},
		"child to step": {code: []string{"step reserve", "step charge", "step slip"}, seq: "3", want: "child leaf slip", got: "step slip"},
		"step to child": {code: []string{"step reserve", "child charge", "child slip"}, seq: "2", want: "step charge", got: "child leaf charge"},
		"another key":   {code: []string{"step reserve", "step charge", "child note"}, seq: "3", want: "child leaf slip", got: "child leaf note"},
		"all removed":   {code: nil, seq: "1", want: "step reserve", got: "waiting for signal approved", elsewhere: true},
	} {
		t.Run(name, func(t *testing.T) {
			deployed(t, func(d *deployment) {
				var where string
				d.deploy(d.recipe(&where, old...))
				run := d.start("", nil)
				before := d.history(run)
				d.deploy(d.recipe(&where, tc.code...))
				d.signal(run, "go")
				words := []string{"event " + tc.seq + ":", "history has " + tc.want, "code has " + tc.got}
				if !tc.elsewhere {
					words = append(words, where)
				}
				d.wantBlocked(run, words...)
				d.sleep(time.Hour)
				d.wantBlocked(run, words...)
				if diff := cmp.Diff(before, d.history(run)); diff != "" || d.describe(run).Unread != 1 {
					d.Errorf("%d unread, written meanwhile: %s", d.describe(run).Unread, diff)
				}
				if page, err := d.client.List(d.ctx, journal.ListFilter{Parent: run.ID(), Limit: 10}); err != nil || len(page.Runs) != 1 {
					d.Errorf("%d children, %v", len(page.Runs), err)
				}
				d.deploy(d.recipe(&where, old...))
				d.wantResult(run, "go")
			})
		})
	}
}

// TestRunsKeepTheirVersion: a run waits for a node that serves the version it started with. Other
// nodes neither block nor try it, and a listing shows that it waits.
func TestRunsKeepTheirVersion(t *testing.T) {
	deployed(t, func(d *deployment) {
		versions := func(list ...int32) func(n *runtime.Node) {
			return func(n *runtime.Node) {
				for _, v := range list {
					runtime.Handle(n, root, func(ctx workflow.Context, in string) (string, error) {
						if err := d.do(ctx, "step of version "+string('0'+v)); err != nil {
							return "", err
						}
						return approved.Receive(ctx)
					}, &runtime.HandleOptions{Version: v})
				}
			}
		}
		d.deploy(versions(1, 2))
		first, second := d.start("", nil), d.start("", &runtime.StartOptions{Version: 2})
		d.deploy(versions(2, 3))
		third := d.start("", &runtime.StartOptions{Version: 3})
		for _, run := range []*runtime.Run[string]{first, second, third} {
			d.signal(run, "go")
		}
		d.wantResult(second, "go")
		d.wantResult(third, "go")
		d.sleep(time.Hour)
		if task := d.describe(first).Run.Task; task == nil || task.State != journal.Ready || task.Owner != 0 || d.describe(first).Unread != 1 {
			d.Errorf("the run of version 1 has task %+v", task)
		}
		open := journal.Open
		for v, want := range map[int32]int{1: 1, 2: 0, 3: 0} {
			page, err := d.client.List(d.ctx, journal.ListFilter{Workflow: string(root), Version: v, Status: &open, Limit: 10})
			if err != nil || len(page.Runs) != want {
				d.Errorf("%d open runs of version %d, %v", len(page.Runs), v, err)
			}
		}
		d.deploy(versions(1))
		d.wantResult(first, "go")
	})
}

// forked is code of two steps with a signal between, in the new form or in the old one.
func forked(d *deployment, isNew func(workflow.Context) bool) program {
	return func(ctx workflow.Context, in string) (string, error) {
		name := "old"
		if isNew(ctx) {
			name = "new"
		}
		if err := d.do(ctx, "first of "+name); err != nil {
			return "", err
		}
		if _, err := approved.Receive(ctx); err != nil {
			return "", err
		}
		return name, d.do(ctx, "second of "+name)
	}
}

// TestCommandNumbersThroughRepeatedCommits: each commit of a run fails in turn, before it is
// written, after that, or with an unknown outcome. The repeated commit has the same command
// numbers, and the history equals that of a run without faults.
func TestCommandNumbersThroughRepeatedCommits(t *testing.T) {
	code := func(d *deployment) func(n *runtime.Node) {
		return func(n *runtime.Node) {
			runtime.Handle(n, leaf, func(_ workflow.Context, in string) (string, error) { return in, nil }, nil)
			runtime.Handle(n, root, func(ctx workflow.Context, in string) (string, error) {
				for _, name := range []string{"one", "two"} {
					in = workflow.SideEffect(ctx, "text", func() string { return in + " " + name })
					if !workflow.Changed(ctx, "change "+name) {
						return "", workflow.ErrTimeout
					}
					if err := d.do(ctx, name); err != nil {
						return "", err
					}
					if _, err := workflow.Call(ctx, leaf, name, nil); err != nil {
						return "", err
					}
					if err := workflow.Sleep(ctx, time.Minute); err != nil {
						return "", err
					}
				}
				return in, nil
			}, nil)
		}
	}
	for _, fault := range []faulty.Fault{faulty.Before, faulty.After, faulty.Unknown} {
		t.Run(fault.String(), func(t *testing.T) {
			var want []string
			nth := 0 // none fails
			for hit := true; hit; nth++ {
				deployed(t, func(d *deployment) {
					d.faults = &faulty.Options{Decide: faulty.OnNth(nth, fault, "commit")}
					d.deploy(code(d))
					run := d.start("x", nil)
					d.wantResult(run, "x one two")
					hit = nth == 0 || d.faulty.Faults() > 0
					if got := facts(d.history(run)); want == nil {
						want = got
					} else if diff := cmp.Diff(want, got); diff != "" {
						d.Errorf("commit %d failed: %s", nth, diff)
					}
					if d.called("one") != 1 || d.called("two") != 1 {
						d.Errorf("commit %d failed; executed: %v", nth, d.calls)
					}
				})
			}
			if nth < 10 {
				t.Errorf("only %d commits failed", nth-2)
			}
		})
	}
}
