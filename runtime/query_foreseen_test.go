package runtime_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

const (
	ticket workflow.Query[int, string]    = "ticket"
	clerk  workflow.Name[int, string]     = "clerk"
	late   workflow.Name[int, string]     = "late"
	total  workflow.Name[[]int, []int]    = "total"
	values workflow.Query[int, []int]     = "values"
	chosen workflow.Query[string, string] = "chosen"
)

// clerks give out a ticket at once, and another one for each signal. Its number is a value from
// outside, which none other has.
func clerks(given *atomic.Int32) func(workflow.Context, int) (string, error) {
	return func(ctx workflow.Context, when int) (string, error) {
		mine := "none"
		ticket.Handle(ctx, func(int) (string, error) { return mine, nil })
		for {
			if when == 0 {
				mine = workflow.SideEffect(ctx, "ticket", func() string { return fmt.Sprint("ticket ", given.Add(1)) })
			}
			v, err := number.Receive(ctx)
			if when = 0; err != nil || v == 0 {
				return mine, err
			}
		}
	}
}

func handleClerk(given *atomic.Int32, queue string) func(n *runtime.Node) {
	return func(n *runtime.Node) {
		runtime.Handle(n, clerk, clerks(given), &runtime.HandleOptions{Queue: queue})
	}
}

// A query that follows a start or a signal at once tells the value that the run has, on whichever
// node it is asked, and the value's function runs for the run alone.
func TestQueryTellsNoValueOfItsOwn(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	var given atomic.Int32
	a, b := c.Run(nil, handleClerk(&given, "default")), c.Run(nil, handleClerk(&given, "another"))
	for range 10 {
		started, err := runtime.Start(ctx, a.Client(), clerk, 0, nil)
		run := clustertest.MustStart(t, started, err)
		for range 2 {
			first, second := ask(t, b.Node, run.ID(), ticket, 0), ask(t, a.Node, run.ID(), ticket, 0)
			if first != second || first == "none" {
				t.Errorf("two questions get %q and %q", first, second)
			}
			if err := runtime.Signal(ctx, a.Client(), run.ID(), number, 1, nil); err != nil {
				t.Fatal(err)
			}
		}
		last := ask(t, b.Node, run.ID(), ticket, 0)
		if err := runtime.Signal(ctx, a.Client(), run.ID(), number, 0, nil); err != nil {
			t.Fatal(err)
		}
		if got := clustertest.MustResult(t, run); got != last {
			t.Errorf("a question got %q, the run ended with %q", last, got)
		}
	}
	if n := given.Load(); n != 30 {
		t.Errorf("%d values were made for 30", n)
	}
}

// Nobody works on the run: an answer is the state before what only its owner decides, and where
// there is no state before, an error says what is not decided.
func TestQueryOfWhatNobodyHasDecided(t *testing.T) {
	c := clustertest.New(t)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	var given atomic.Int32
	spare := spare(c, handleClerk(&given, "another"))
	started, err := runtime.Start(ctx, client, clerk, 0, nil)
	undecided := clustertest.MustStart(t, started, err)
	_, err = runtime.Query(ctx, spare, undecided.ID(), ticket, 0)
	if u := clustertest.WantError[*replay.UndecidedError](t, err); u.Verb != "workflow.SideEffect" || !strings.Contains(err.Error(), "side effect ticket is not decided yet") {
		t.Errorf("got %v", err)
	}
	started, err = runtime.Start(ctx, client, clerk, 1, nil)
	run := clustertest.MustStart(t, started, err)
	if err := runtime.Signal(ctx, client, run.ID(), number, 1, nil); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, spare, run.ID(), ticket, 0); got != "none" {
		t.Errorf("got %q", got)
	}
	if n := given.Load(); n != 0 {
		t.Errorf("questions have made %d values", n)
	}
}

// totals add up to a value that ends a generation; what the generation has not received is for the
// next one.
func totals(ctx workflow.Context, all []int) ([]int, error) {
	values.Handle(ctx, func(int) ([]int, error) { return all, nil })
	bump.Handle(ctx, func(_ workflow.Context, v int) (int, error) { all = append(all, v); return v, nil }, nil)
	for n := 0; ; n++ {
		if err := workflow.Await(ctx, func() bool { return shut.Pending(ctx) > 0 || number.Pending(ctx) > 0 && shut.Pending(ctx) == 0 }); err != nil {
			return all, err
		}
		if shut.Pending(ctx) > 0 {
			_, err := shut.Receive(ctx)
			if err != nil {
				return all, err
			}
			return nil, workflow.ContinueAsNew(ctx, total, append(all, -1), nil)
		}
		if n > 0 { // one in a generation: the others wait in it
			if err := workflow.Await(ctx, func() bool { return shut.Pending(ctx) > 0 }); err != nil {
				return all, err
			}
			continue
		}
		v, err := number.Receive(ctx)
		if err != nil || v == 0 {
			return all, err
		}
		all = append(all, v)
	}
}

// What was acknowledged behind a continue-as-new that nobody has taken yet is in the answer:
// signals that were carried over, signals and updates that came later, over several generations.
// The owner comes to the same.
func TestQuerySeesBehindGenerations(t *testing.T) {
	c := clustertest.New(t)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	spare := spare(c, func(n *runtime.Node) {
		runtime.Handle(n, total, totals, &runtime.HandleOptions{Queue: "another"})
	})
	started, err := runtime.Start(ctx, client, total, []int{}, nil)
	run := clustertest.MustStart(t, started, err)
	sees := func(n *runtime.Node, want string) {
		t.Helper()
		if got := fmt.Sprint(ask(t, n, run.ID(), values, 0)); got != want {
			t.Errorf("the answer is %s, want %s", got, want)
		}
	}
	send := func(s workflow.Signal[int], v int) {
		t.Helper()
		if err := runtime.Signal(ctx, client, run.ID(), s, v, nil); err != nil {
			t.Fatal(err)
		}
	}
	sees(spare, "[]")
	for i, want := range []string{"[1]", "[1]", "[1 -1 2]", "[1 -1 2]", "[1 -1 2 -1 4]"} {
		if i == 2 || i == 4 {
			send(shut, 1)
		} else {
			send(number, i+1)
		}
		sees(spare, want)
	}
	if _, err := runtime.SendUpdate(ctx, client, run.ID(), bump, 9, nil); err != nil {
		t.Fatal(err)
	}
	sees(spare, "[1 -1 2 -1 4 9]")
	owner := c.Run(nil, func(n *runtime.Node) { runtime.Handle(n, total, totals, nil) })
	clustertest.Described(t, client, run.ID(), "the owner has taken all", func(d *runtime.Description) bool {
		return d.Run.Generation == 3 && d.Unread == 0 && len(d.Waiting) > 0
	})
	sees(spare, "[1 -1 2 -1 4 9]")
	sees(owner.Node, "[1 -1 2 -1 4 9]")
}

// A timer that was due before a signal came is first, for the question as for the next owner.
func TestQueryPutsTimersInTheirOrder(t *testing.T) {
	c := clustertest.New(t)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	code := func(ctx workflow.Context, _ int) (string, error) {
		what := "nothing"
		chosen.Handle(ctx, func(string) (string, error) { return what, nil })
		_, err := workflow.Select(ctx,
			workflow.OnTimer(workflow.NewTimer(ctx, time.Millisecond), func() { what = "timer" }),
			workflow.OnSignal(approved, func(string) { what = "signal" }))
		if err != nil {
			return "", err
		}
		_, err = approved.Receive(ctx)
		return what, err
	}
	spare := spare(c, func(n *runtime.Node) { runtime.Handle(n, late, code, nil) })
	started, err := runtime.Start(ctx, client, late, 0, nil)
	run := clustertest.MustStart(t, started, err)
	d, err := client.Describe(ctx, run.ID())
	if err != nil {
		t.Fatal(err)
	}
	c.Passed(client, d.Run.StartAt.Add(time.Second))
	if err := runtime.Signal(ctx, client, run.ID(), approved, "x", nil); err != nil {
		t.Fatal(err)
	}
	asked := ask(t, spare, run.ID(), chosen, "")
	c.Run(nil, func(n *runtime.Node) { runtime.Handle(n, late, code, nil) })
	if got := clustertest.MustResult(t, run); got != asked || got != "timer" {
		t.Errorf("the question got %q, the run has %q", asked, got)
	}
}

// A run that is blocked by code that panics on a message is shown as it was before it.
func TestQueryOfARunThatPanics(t *testing.T) {
	c := clustertest.New(t)
	ctx := clustertest.Context(t)
	n := c.Run(nil, func(n *runtime.Node) {
		runtime.Handle(n, meter, func(ctx workflow.Context, sum int) (int, error) {
			read.Handle(ctx, func(int) (int, error) { return sum, nil })
			for {
				v, err := number.Receive(ctx)
				if err != nil {
					return sum, err
				}
				if v == 13 {
					panic("unlucky")
				}
				sum += v
			}
		}, nil)
	})
	started, err := runtime.Start(ctx, n.Client(), meter, 1, nil)
	run := clustertest.MustStart(t, started, err)
	for _, v := range []int{10, 13, 100} {
		if err := runtime.Signal(ctx, n.Client(), run.ID(), number, v, nil); err != nil {
			t.Fatal(err)
		}
	}
	clustertest.Described(t, n.Client(), run.ID(), "it is blocked", func(d *runtime.Description) bool { return d.Run.Task.State == journal.Blocked })
	for range 2 {
		if got := ask(t, n.Node, run.ID(), read, 0); got != 11 {
			t.Errorf("got %d", got)
		}
	}
}
