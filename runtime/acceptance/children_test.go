package acceptance_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

// TestFanOutOfThreeLevels: ten children with a hundred children each, all at once. No outcome and
// no wake-up is lost.
func TestFanOutOfThreeLevels(t *testing.T) {
	t.Parallel()
	runtimetest.Test(t, func(e *runtimetest.Env) {
		sum := func(ctx workflow.Context, n int, call func(workflow.Context, int) (int, error)) (int, error) {
			items := make([]int, n)
			for i := range items {
				items[i] = i
			}
			out, err := workflow.Map(ctx, items, call, nil)
			total := 0
			for _, v := range out {
				total += v
			}
			return total, err
		}
		runtimetest.Handle(e, item, func(ctx workflow.Context, n int) (int, error) {
			return n, errors.Join(workflow.Sleep(ctx, time.Duration(n%7)*time.Second), note(ctx, "work"))
		}, nil)
		runtimetest.Handle(e, middle, func(ctx workflow.Context, in string) (string, error) {
			n, err := sum(ctx, 100, func(ctx workflow.Context, n int) (int, error) { return workflow.Call(ctx, item, n, nil) })
			return fmt.Sprint(n), err
		}, nil)
		runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
			n, err := sum(ctx, 10, func(ctx workflow.Context, n int) (int, error) {
				out, err := workflow.Call(ctx, middle, fmt.Sprint(n), nil)
				if err == nil && out != "4950" {
					err = fmt.Errorf("middle %d: %s", n, out)
				}
				return n, err
			})
			return fmt.Sprint(n), err
		}, nil)
		if got := runtimetest.Start(e, root, "x", nil).Must(); got != "45" {
			e.Errorf("got %s", got)
		}
		if n := e.Effects("work"); n != 1000 {
			e.Errorf("%d leaves have worked", n)
		}
		if e.Elapsed() > time.Minute {
			e.Errorf("it took %s: a wake-up was lost", e.Elapsed())
		}
	})
}

// TestDeepChainOverNothing: a chain of runs, each of which maps over an empty list and calls the
// next one.
func TestDeepChainOverNothing(t *testing.T) {
	chainOf := func(e *runtimetest.Env, depth int) {
		runtimetest.Handle(e, item, func(ctx workflow.Context, n int) (int, error) {
			call := func(ctx workflow.Context, n int) (int, error) { return workflow.Call(ctx, item, n, nil) }
			if out, err := workflow.Map(ctx, nil, call, nil); err != nil || len(out) != 0 {
				return 0, fmt.Errorf("nothing became %v, %v", out, err)
			}
			if n == 0 {
				return 0, nil
			}
			below, err := workflow.Call(ctx, item, n-1, nil)
			return below + 1, err
		}, nil)
		if got := runtimetest.Start(e, item, depth, nil).Must(); got != depth {
			e.Errorf("%d levels, want %d", got, depth)
		}
	}
	for _, depth := range []int{0, 1, 200} {
		t.Run(fmt.Sprint(depth), func(t *testing.T) { runtimetest.Test(t, func(e *runtimetest.Env) { chainOf(e, depth) }) })
	}
	t.Run("crashed", func(t *testing.T) { runtimetest.EveryCrash(t, func(e *runtimetest.Env) { chainOf(e, 5) }) })
}

// TestKeysOfChildren: what happens to a child whose key is taken, or was taken by a closed run,
// under each reuse policy.
func TestKeysOfChildren(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, leaf, func(ctx workflow.Context, in string) (string, error) {
			if in == "bad" {
				return "", workflow.Permanent(errors.New("bad"))
			}
			return in, workflow.Sleep(ctx, time.Minute)
		}, nil)
		runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
			got := ""
			call := func(key, in string, reuse workflow.Reuse) {
				_, err := workflow.Call(ctx, leaf, in, &workflow.ChildOptions{Key: key, Reuse: reuse})
				got += end(err) + ", "
			}
			call("good", "x", workflow.ReuseReject)
			call("good", "x", workflow.ReuseReject)
			call("good", "x", workflow.ReuseAllowIfFailed)
			call("good", "x", workflow.ReuseAllow)
			call("bad", "bad", workflow.ReuseReject)
			call("bad", "x", workflow.ReuseReject)
			call("bad", "x", workflow.ReuseAllowIfFailed)
			// Two at once want one key, whatever the policy: the first has it.
			first := workflow.CallAsync(ctx, leaf, "x", &workflow.ChildOptions{Key: "both"})
			call("both", "x", workflow.ReuseAllow)
			_, err := first.Get(ctx)
			got += end(err)
			call(ctx.Info().Key, "x", workflow.ReuseAllow) // the parent's own
			return got, nil
		}, nil)
		run := runtimetest.Start(e, root, "x", &runtime.StartOptions{Key: "parent"})
		want := "completed, key exists, key exists, completed, failed, key exists, completed, key exists, completedkey exists, "
		if got := run.Must(); got != want {
			e.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

// TestChildrenAreRetried: a child that fails is called again as a new run, by Map or by the code
// itself.
func TestChildrenAreRetried(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, item, func(ctx workflow.Context, n int) (int, error) {
			if n < 3 {
				return 0, fmt.Errorf("%d is too early", n)
			}
			return n, nil
		}, nil)
		runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
			tries := map[string]int{}
			attempt := func(ctx workflow.Context, who string) (int, error) {
				tries[who]++
				return workflow.Call(ctx, item, tries[who], &workflow.ChildOptions{Key: "item " + who, Reuse: workflow.ReuseAllowIfFailed})
			}
			_, err := workflow.Map(ctx, []string{"a", "b"}, attempt, &workflow.MapOptions{Attempts: 3, Backoff: time.Minute})
			if err != nil {
				return "", err
			}
			for {
				if n, err := attempt(ctx, "c"); err == nil {
					return fmt.Sprint(n, tries), nil
				}
			}
		}, nil)
		run := runtimetest.Start(e, root, "x", nil)
		if got := run.Must(); got != "3 map[a:3 b:3 c:3]" {
			e.Errorf("got %s", got)
		}
		if n := len(childrenOf(e, run.ID())); n != 9 {
			e.Errorf("%d children", n)
		}
		if e.Elapsed().Round(10*time.Second) != 160*time.Second { // one minute, then two, but no more than 100 s
			e.Errorf("%s: the back-off was not waited for", e.Elapsed())
		}
	})
}

// TestParentAndChildCloseTogether: parent and child end in the same moment, so one batch may close
// both. Each has one outcome, and the child's outcome fits its close policy.
func TestParentAndChildCloseTogether(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, leaf, sleepThenNote, nil)
		runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
			c := workflow.CallAsync(ctx, leaf, in, &workflow.ChildOptions{OnParentClose: map[string]workflow.ClosePolicy{
				"cancel": workflow.CloseCancel, "terminate": workflow.CloseTerminate, "abandon": workflow.CloseAbandon,
			}[in]})
			return c.ID().String(), workflow.Sleep(ctx, time.Hour)
		}, nil)
		fits := map[string][]journal.Status{
			"cancel": {journal.Completed, journal.Cancelled}, "terminate": {journal.Completed, journal.Terminated},
			"abandon": {journal.Completed},
		}
		for i := range 4 {
			for policy, statuses := range fits {
				run := runtimetest.Start(e, root, policy, &runtime.StartOptions{Key: fmt.Sprint(policy, i)})
				defer func() {
					run.Must()
					e.Sleep(time.Minute)
					child := onlyChild(e, run.ID(), "leaf")
					d, err := e.Client().Describe(e.Context(), child)
					if err != nil || !slices.Contains(statuses, d.Run.Status) {
						e.Errorf("the child with policy %s is %s, %v", policy, d.Run.Status, err)
					}
				}()
			}
		}
	})
}

// TestDeletedParent: a closed parent can be deleted while its abandoned child runs; the open child
// cannot. The outcome of the child is dropped, because nobody is left to receive it (J7).
func TestDeletedParent(t *testing.T) {
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		runtimetest.Handle(e, leaf, sleepThenNote, nil)
		runtimetest.Handle(e, root, func(ctx workflow.Context, in string) (string, error) {
			c := workflow.CallAsync(ctx, leaf, in, &workflow.ChildOptions{OnParentClose: workflow.CloseAbandon})
			return c.ID().String(), nil
		}, nil)
		run := runtimetest.Start(e, root, "x", nil)
		child, err := journal.ParseRunID(run.Must())
		if err != nil {
			e.Fatal(err)
		}
		client := e.Client()
		if err := client.Delete(e.Context(), child); !errors.Is(err, journal.ErrOpen) {
			e.Errorf("deleting an open child: %v", err)
		}
		if err := client.Delete(e.Context(), run.ID()); err != nil {
			e.Error(err)
		}
		e.Sleep(2 * time.Hour)
		wantStatus(e, child, journal.Completed)
		if _, err := client.Describe(e.Context(), run.ID()); !errors.Is(err, journal.ErrNotFound) {
			e.Errorf("the deleted parent: %v", err)
		}
	})
}
