package runtime_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
	"github.com/reprise-run/reprise/runtime/clustertest"
)

// TestWhyBlockedSaysHowToGoOn: of a blocked run it names the commands that apply to what is stored,
// and each of them lets the run go on. The command's own arguments are read by its tests; here they
// are what the calls get.
func TestWhyBlockedSaysHowToGoOn(t *testing.T) {
	c := clustertest.New(t)
	ctx, client := clustertest.Context(t), runtime.NewClient(c.Journal, nil)
	unproven := &runtime.AmendOptions{Unproven: true}
	var bad atomic.Bool // the code panics on what it has got
	code := func(second string) func(n *runtime.Node) {
		return func(n *runtime.Node) {
			runtime.Handle(n, puzzle, func(ctx workflow.Context, how string) (string, error) {
				if err := step(ctx, "reserve"); err != nil {
					return "", err
				}
				if how == "step" {
					price, err := workflow.Step(ctx, "price", func(context.Context) (string, error) { return "-1", nil }, nil)
					if err != nil || price == "-1" && bad.Load() {
						panic(fmt.Sprint("no such price ", err))
					}
				} else if err := step(ctx, second); err != nil {
					return "", err
				}
				if got, err := approved.Receive(ctx); err != nil || got == "poison" && bad.Load() {
					panic(fmt.Sprint(got, err))
				}
				return approved.Receive(ctx)
			}, nil)
		}
	}
	start := func(how string) *runtime.Run[string] {
		t.Helper()
		started, err := runtime.Start(ctx, client, puzzle, how, nil)
		return clustertest.MustStart(t, started, err)
	}
	send := func(run *runtime.Run[string], texts ...string) {
		t.Helper()
		for _, text := range texts {
			if err := runtime.Signal(ctx, client, run.ID(), approved, text, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	// on does what the explanation says, after which the run completes.
	on := func(run *runtime.Run[string], says string, do func() error) {
		t.Helper()
		r, e := whyOf(t, client, run.ID(), runtime.ReasonBlocked)
		says = "deploy code that fits the history: the run is tried again by itself, and at once by reprise run resume RUN; " + says
		if says = strings.ReplaceAll(says, "RUN", run.ID().String()); r.Remedy != says {
			t.Errorf("%s\nwant %s", e, says)
		}
		if err := do(); err != nil {
			t.Fatal(err)
		}
		send(run, "y", "y")
		if got := clustertest.MustResult(t, run); got != "y" {
			t.Errorf("the result is %q", got)
		}
	}
	skip := func(run *runtime.Run[string]) func() error {
		return func() error {
			_, err := runtime.SkipMessage(ctx, client, run.ID(), 1, unproven)
			return err
		}
	}
	edit := func(run *runtime.Run[string], step runtime.StepResult) func() error {
		return func() error {
			_, err := runtime.EditStep(ctx, client, run.ID(), step, "1", unproven)
			return err
		}
	}
	n := c.Run(nil, code("charge"))
	diverging, heard, priced := start("signal"), start("signal"), start("step")
	poisoned := start("signal")
	receives := func(run *runtime.Run[string], events int) {
		t.Helper()
		clustertest.Described(t, client, run.ID(), "it is parked", func(d *runtime.Description) bool { return len(d.Waiting) > 0 && d.Events == events })
	}
	for _, run := range []*runtime.Run[string]{diverging, heard, priced, poisoned} {
		receives(run, 3)
	}
	send(heard, "poison")
	receives(heard, 4)
	bad.Store(true)
	pricing := start("step")
	send(poisoned, "poison")
	on(poisoned, "if message 1 (signal approved) is the cause, leave it out: reprise run skip RUN 1", skip(poisoned))
	on(pricing, "if what step price returns is the cause, give it a result: reprise run edit RUN cmd:2 RESULT", edit(pricing, runtime.StepResult{Cmd: 2}))
	n.Stop()
	n = c.Run(nil, code("charge")) // replays what is stored
	for _, run := range []*runtime.Run[string]{heard, priced} {
		if err := client.Resume(ctx, run.ID()); err != nil {
			t.Fatal(err)
		}
	}
	on(heard, "if message 1 (event 4, SignalReceived approved) is the cause, leave it out: reprise run skip RUN 1 --unproven", skip(heard))
	on(priced, "if the outcome of step price (event 3) is the cause, give it another result: reprise run edit RUN event:3 RESULT --unproven",
		edit(priced, runtime.StepResult{Event: 3}))
	n.Stop()
	n = c.Run(nil, code("check"))
	send(diverging, "x")
	on(diverging, "or go back to before event 2, whose steps and those behind it run again: reprise run reset RUN event:1 --unproven, which says with --dry-run what that does",
		func() error {
			_, err := client.Reset(ctx, diverging.ID(), runtime.AfterEvent(1), &runtime.ResetOptions{Unproven: true})
			return err
		})
	n.Stop()
}
