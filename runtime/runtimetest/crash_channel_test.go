package runtimetest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime/runtimetest"
)

const (
	kitchen workflow.Name[[]string, string] = "kitchen"
	desk24  workflow.Name[string, string]   = "help desk"
	ticket  workflow.Signal[string]         = "ticket"
)

// kitchens cook what is ordered in a strand of their own, and serve it in the order in which it was
// ordered.
func kitchens(l *ledger) func(workflow.Context, []string) (string, error) {
	return func(ctx workflow.Context, orders []string) (string, error) {
		rail := workflow.NewChannel[string](2, "rail")
		var pass workflow.Channel[string]
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer pass.Close()
			for {
				order, ok, err := rail.Receive(ctx)
				if !ok || err != nil {
					return
				}
				dish, err := workflow.Step(ctx, "cook", l.enter(order), nil)
				if err != nil || pass.Send(ctx, dish) != nil {
					return
				}
			}
		})
		var told, served []string
		for _, order := range orders {
			at := rail.Len()
			ok, err := rail.TrySend(ctx, order)
			if err != nil {
				return "", err
			}
			told = append(told, fmt.Sprint(at, ok))
			if !ok { // the cook is told when there is room
				workflow.Go(ctx, func(ctx workflow.Context) {
					if err := rail.Send(ctx, order); err == nil {
						rail.Close()
					}
				})
			}
		}
		for {
			dish, ok, err := pass.Receive(ctx)
			if err != nil {
				return "", err
			}
			if !ok {
				break
			}
			served = append(served, dish)
		}
		_, more, err := rail.TryReceive(ctx)
		late := rail.Send(ctx, "a coffee")
		return fmt.Sprint(told, served, more, err, rail.Closed(), errors.Is(late, workflow.ErrChannelClosed)), nil
	}
}

func TestChannelsWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		l := &ledger{}
		runtimetest.Handle(e, kitchen, kitchens(l), nil)
		want := "[0 true 1 true 2 false] [soup fish cake] false <nil> true true"
		if got := runtimetest.Start(e, kitchen, []string{"soup", "fish", "cake"}, nil).Must(); got != want {
			e.Errorf("got  %s, want %s", got, want)
		}
		l.want(e, "soup", "fish", "cake")
	})
}

// helpDesks open with a step, hand tickets to one clerk until they close, and say sorry to whoever
// comes while they clean up.
func helpDesks(l *ledger) func(workflow.Context, string) (string, error) {
	return func(ctx workflow.Context, _ string) (string, error) {
		closing := workflow.NewNamedTimer(ctx, "closing", 24*time.Hour)
		opened := workflow.StepAsync(ctx, "open", l.enter("opened"), nil)
		var log, waiting []string
		if _, err := workflow.Select(ctx, workflow.OnTimer(closing, nil), workflow.OnFuture(opened, func(s string, err error) {
			log = append(log, s)
		})); err != nil {
			return "", err
		}
		work, done := workflow.NewChannel[string](0, "work"), workflow.NewChannel[string](0, "done")
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer done.Close()
			for {
				t, ok, err := work.Receive(ctx)
				if !ok || err != nil {
					return
				}
				t, err = workflow.Step(ctx, "fix", l.enter(t), nil)
				if err != nil || done.Send(ctx, t) != nil {
					return
				}
			}
		})
		for !closing.Fired() {
			var clerk *workflow.Channel[string] // nil while there is nothing to hand over
			next := ""
			if len(waiting) > 0 {
				clerk, next = work, waiting[0]
			}
			if _, err := workflow.Select(ctx,
				workflow.OnReceive(done, func(t string, ok bool) { log = append(log, t) }),
				workflow.OnSend(clerk, next, func() { waiting = waiting[1:] }),
				workflow.OnSignal(ticket, func(t string) { waiting = append(waiting, t) }),
				workflow.OnTimer(closing, func() { log = append(log, "closed") }),
			); err != nil {
				return "", err
			}
		}
		work.Close()
		if err := workflow.Sleep(ctx, time.Hour); err != nil {
			return "", err
		}
		for {
			i, err := workflow.Select(ctx, workflow.OnSignal(ticket, func(t string) { log = append(log, "sorry "+t) }), workflow.Default(nil))
			if err != nil || i == 1 {
				return strings.Join(log, ", "), err
			}
		}
	}
}

func TestSelectWhateverCrashes(t *testing.T) {
	t.Parallel()
	runtimetest.EveryCrash(t, func(e *runtimetest.Env) {
		l := &ledger{}
		runtimetest.Handle(e, desk24, helpDesks(l), nil)
		run := runtimetest.Start(e, desk24, "", nil)
		for t, at := range map[string]time.Duration{"printer": 1, "router": 2, "phone": 24} {
			e.After(at*time.Hour+30*time.Minute, func() { runtimetest.Signal(e, run.ID(), ticket, t, nil) })
		}
		if got := run.Must(); got != "opened, printer, router, closed, sorry phone" {
			e.Errorf("got %s", got)
		}
		l.want(e, "opened", "printer", "router")
	})
}
