package acceptance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// unchanged lists the keys of the open runs that may need the old branch of a change, oldest first.
func (d *deployment) unchanged(id string) (keys []string) {
	d.Helper()
	page, err := d.client.List(d.ctx, journal.ListFilter{Workflow: string(root), Unchanged: id, Limit: journal.ListMax})
	if err != nil {
		d.Fatal(err)
	}
	for _, r := range slices.Backward(page.Runs) {
		keys = append(keys, r.Key)
	}
	return keys
}

// TestManyChanges: a run that asks about 500 changes continues, whether it stays in memory or not.
// A listing shows for each change which open runs have not taken it.
func TestManyChanges(t *testing.T) {
	for _, always := range []bool{false, true} {
		t.Run(fmt.Sprint("passivated ", always), func(t *testing.T) {
			deployed(t, func(d *deployment) {
				d.options.PassivateAlways = always
				d.code(changes(d, 0))
				old := d.start("", &runtime.StartOptions{Key: "old"})
				d.code(changes(d, 500))
				one, two := d.start("", &runtime.StartOptions{Key: "one"}), d.start("", &runtime.StartOptions{Key: "two"})
				d.signal(one, "go")
				check := func(when string, early, late, never []string) {
					d.Helper()
					for id, want := range map[string][]string{
						"change 0": early, "change 250": early, "change 499": early, "late": late, "change 500": never, "change": never,
					} {
						if diff := cmp.Diff(want, d.unchanged(id)); diff != "" {
							d.Errorf("%s: without %q: %s", when, id, diff)
						}
					}
				}
				all := []string{"old", "one", "two"}
				check("one is further", []string{"old"}, []string{"old", "two"}, all)
				d.code(changes(d, 500)) // nobody remembers anything
				d.signal(old, "go")
				check("the old one follows", []string{"old"}, []string{"two"}, all)
				for run, want := range map[*runtime.Run[string]]string{old: "0 true", one: "500 true"} {
					d.signal(run, "end")
					d.wantResult(run, want)
				}
				check("two is left", nil, []string{"two"}, []string{"two"})
				d.signal(two, "go")
				d.signal(two, "end")
				d.wantResult(two, "500 true")
				check("none is left", nil, nil, nil)
				if d.called("begin") != 3 || d.called("more") != 3 {
					d.Errorf("executed: %v", d.calls)
				}
			})
		})
	}
}

// changes is code that asks about n changes in its first turn, and about one more after a signal.
func changes(d *deployment, n int) program {
	return func(ctx workflow.Context, in string) (string, error) {
		taken := 0
		for i := range n {
			if workflow.Changed(ctx, fmt.Sprint("change ", i)) {
				taken++
			}
		}
		if err := d.do(ctx, "begin"); err != nil {
			return "", err
		}
		if _, err := approved.Receive(ctx); err != nil {
			return "", err
		}
		late := n > 0 && workflow.Changed(ctx, "late")
		if err := d.do(ctx, "more"); err != nil {
			return "", err
		}
		_, err := approved.Receive(ctx)
		return fmt.Sprint(taken, " ", late), err
	}
}

// TestLabelsAreNotCompared: new code may change how a step or a child is executed: its labels,
// priority, delay and retries. The run continues, and its child keeps the labels that it was
// started with.
func TestLabelsAreNotCompared(t *testing.T) {
	deployed(t, func(d *deployment) {
		code := func(text string, n int) func(n *runtime.Node) {
			return func(node *runtime.Node) {
				runtime.Handle(node, leaf, func(_ workflow.Context, in string) (string, error) { return in, nil }, nil)
				runtime.Handle(node, root, func(ctx workflow.Context, in string) (string, error) {
					o := &workflow.StepOptions{Retry: &workflow.RetryPolicy{Attempts: n}, Timeout: time.Duration(n) * time.Hour}
					if _, err := workflow.Step(ctx, "work", workOnce, o); err != nil {
						return "", err
					}
					child, err := workflow.Call(ctx, leaf, text, &workflow.ChildOptions{
						Labels: map[string]string{"text": text}, Priority: int16(n), Delay: time.Duration(n) * time.Second,
					})
					if err != nil {
						return "", err
					}
					got, err := approved.Receive(ctx)
					return child + " " + got, err
				}, nil)
			}
		}
		d.deploy(code("one", 1))
		run := d.start("", nil)
		d.deploy(code("two", 2))
		d.signal(run, "go")
		d.wantResult(run, "one go")
		page, err := d.client.List(d.ctx, journal.ListFilter{Parent: run.ID(), Labels: map[string]string{"text": "one"}, Limit: 10})
		if err != nil || len(page.Runs) != 1 {
			d.Errorf("%d children with the first label, %v", len(page.Runs), err)
		}
	})
}

// TestChangeBehindACancelledTimer: code asks about a change right after it cancelled a timer, in
// the same turn or in a later one. Old histories continue with the old branch, new ones with the
// new branch, and both replay.
func TestChangeBehindACancelledTimer(t *testing.T) {
	for name, cancel := range map[string]func(ctx workflow.Context) error{
		"stopped at once": func(ctx workflow.Context) error {
			workflow.NewTimer(ctx, time.Hour).Stop()
			return nil
		},
		"scope ended at once": func(ctx workflow.Context) error {
			scope, end := workflow.WithCancel(ctx)
			timer := workflow.NewTimer(scope, time.Hour)
			end()
			return ignoreCancelled(timer.Get(ctx))
		},
		"stopped after a while": func(ctx workflow.Context) error {
			timer := workflow.NewTimer(ctx, time.Hour)
			err := workflow.Sleep(ctx, time.Second)
			timer.Stop()
			return err
		},
		"scope ended after a while": func(ctx workflow.Context) error {
			scope, end := workflow.WithCancel(ctx)
			timer := workflow.NewTimer(scope, time.Hour)
			err := workflow.Sleep(ctx, time.Second)
			end()
			if e := ignoreCancelled(timer.Get(ctx)); e != nil {
				return e
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			deployed(t, func(d *deployment) {
				code := func(isNew func(workflow.Context) bool) program {
					rest := forked(d, isNew)
					return func(ctx workflow.Context, in string) (string, error) {
						if err := cancel(ctx); err != nil {
							return "", err
						}
						return rest(ctx, in)
					}
				}
				asks := code(func(ctx workflow.Context) bool { return workflow.Changed(ctx, "c") })
				d.code(code(func(workflow.Context) bool { return false }))
				old := d.start("", nil)
				d.code(asks)
				fresh := d.start("", nil)
				d.code(asks)
				d.signal(old, "go")
				d.signal(fresh, "go")
				d.wantResult(old, "old")
				d.wantResult(fresh, "new")
				for _, run := range []*runtime.Run[string]{old, fresh} {
					fired, cancelled := 0, 0
					for _, ev := range d.history(run) {
						for _, c := range ev.Issued {
							if c.Kind == journal.CommandCancel {
								cancelled++
							}
						}
						if ev.Kind == journal.TimerFired {
							fired++
						}
					}
					if cancelled != 1 || fired != strings.Count(name, "while") {
						d.Errorf("%d timers fired, %d cancelled: %s", fired, cancelled, facts(d.history(run)))
					}
				}
			})
		})
	}
}

// ignoreCancelled is nil for what was expected.
func ignoreCancelled(err error) error {
	if end(err) == "cancelled" {
		return nil
	}
	return fmt.Errorf("not cancelled: %w", err)
}

// TestDeferredAwaitWhileTornDown: deferred calls await something, in the run's first strand and in
// another, while the run is dropped from memory: because it is parked, because its node stops,
// because its code panics. Nothing hangs, and each deferred step is executed once, when the run
// really gets there.
func TestDeferredAwaitWhileTornDown(t *testing.T) {
	for _, always := range []bool{false, true} {
		t.Run(fmt.Sprint("passivated ", always), func(t *testing.T) {
			deployed(t, func(d *deployment) {
				d.options.PassivateAlways, d.options.WarmIdle = always, time.Minute
				behind, broken := 0, true
				code := func(ctx workflow.Context, in string) (out string, err error) {
					clean := func(name string) {
						_ = workflow.Sleep(ctx, time.Minute)
						_ = d.do(ctx, "clean "+name)
						_, _ = workflow.Call(ctx, leaf, name, nil)
						behind++ // a run that is torn down gets here by panic only
					}
					told := workflow.NewPromise[string]()
					workflow.Go(ctx, func(ctx workflow.Context) {
						defer clean("other")
						if got, err := approved.Receive(ctx); err != nil {
							told.Fail(err)
						} else {
							told.Resolve(got)
						}
					})
					defer clean("own")
					if _, err := told.Future().Get(ctx); err != nil {
						return "", err
					}
					defer clean("late")
					if got, err := approved.Receive(ctx); err != nil || !broken {
						return got, err
					}
					panic("a bug of the day")
				}
				deploy := func() {
					d.deploy(func(n *runtime.Node) {
						runtime.Handle(n, leaf, func(_ workflow.Context, in string) (string, error) { return in, nil }, nil)
						runtime.Handle(n, root, code, nil)
					})
				}
				deploy()
				run := d.start("", nil)
				d.sleep(time.Hour) // idle for long: not in memory any more
				deploy()
				d.signal(run, "go")
				d.sleep(10 * time.Second)
				deploy() // while the other strand's deferred call sleeps
				d.sleep(2 * time.Minute)
				if behind == 0 || d.called("clean other") != 1 || len(d.calls) != 1 {
					d.Errorf("executed: %v", d.calls)
				}
				d.signal(run, "end")
				d.sleep(5 * time.Minute) // Go runs deferred calls ahead of the end of a panic, but these get nowhere
				d.wantBlocked(run, "a bug of the day at ")
				before := d.history(run)
				d.sleep(time.Hour)
				if diff := cmp.Diff(before, d.history(run)); diff != "" || len(d.calls) != 1 {
					d.Errorf("executed: %v; written while it was blocked: %s", d.calls, diff)
				}
				broken = false
				deploy()
				d.wantResult(run, "end")
				if d.called("clean other") != 1 || d.called("clean late") != 1 || d.called("clean own") != 1 {
					d.Errorf("executed: %v", d.calls)
				}
				page, err := d.client.List(d.ctx, journal.ListFilter{Parent: run.ID(), Limit: 10})
				if err != nil || len(page.Runs) != 3 {
					d.Errorf("%d children, %v", len(page.Runs), err)
				}
			})
		})
	}
}
