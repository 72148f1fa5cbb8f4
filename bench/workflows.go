package main

import (
	"context"
	"sync"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// The workflows of all scenarios. Their steps do nothing, so that what is measured is the engine.
const (
	chainFlow   workflow.Name[int, int]     = "chain"   // that number of steps, one after the other
	fanoutFlow  workflow.Name[int, int]     = "fanout"  // that number of steps, all at once
	familyFlow  workflow.Name[int, int]     = "family"  // that number of children of one step, at most familyLimit at once
	timedFlow   workflow.Name[int, int]     = "timed"   // chain that notes when each step begins
	sleepFlow   workflow.Name[int64, int64] = "sleep"   // until this microsecond of the Unix epoch; returns when it was woken
	collectFlow workflow.Name[int, int]     = "collect" // that number of signals
	echoFlow    workflow.Name[int, int]     = "echo"    // that number of signals, each answered by a step
	slowFlow    workflow.Name[int, int]     = "slow"    // that number of steps of slowStep each
	wakeFlow    workflow.Name[wake, int]    = "wake"    // steps, a signal, steps

	item workflow.Signal[int] = "item"
)

// wake is the input of a run that is left asleep with a long history.
type wake struct{ Before, After int }

const slowStep = 100 * time.Millisecond

func register(n *runtime.Node) {
	runtime.Handle(n, chainFlow, chain, nil)
	runtime.Handle(n, fanoutFlow, fanout, nil)
	runtime.Handle(n, familyFlow, family, nil)
	runtime.Handle(n, timedFlow, timed, nil)
	runtime.Handle(n, sleepFlow, sleepUntil, nil)
	runtime.Handle(n, collectFlow, collect, nil)
	runtime.Handle(n, echoFlow, echo, nil)
	runtime.Handle(n, slowFlow, slow, nil)
	runtime.Handle(n, wakeFlow, sleepThenStep, nil)
}

func noop(context.Context) (int, error) { return 1, nil }

func chain(ctx workflow.Context, n int) (int, error) { return steps(ctx, n, noop) }

func steps(ctx workflow.Context, n int, body func(context.Context) (int, error)) (int, error) {
	sum := 0
	for range n {
		v, err := workflow.Step(ctx, "step", body, nil)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, nil
}

func fanout(ctx workflow.Context, n int) (int, error) {
	futures := make([]workflow.Future[int], n)
	for i := range futures {
		futures[i] = workflow.StepAsync(ctx, "step", noop, nil)
	}
	sum := 0
	for _, f := range futures {
		v, err := f.Get(ctx)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, nil
}

const familyLimit = 1000

func family(ctx workflow.Context, n int) (int, error) {
	ones := make([]int, n)
	for i := range ones {
		ones[i] = 1
	}
	call := func(ctx workflow.Context, steps int) (int, error) { return workflow.Call(ctx, chainFlow, steps, nil) }
	out, err := workflow.Map(ctx, ones, call, &workflow.MapOptions{Limit: familyLimit})
	sum := 0
	for _, v := range out {
		sum += v
	}
	return sum, err
}

// stamps are the times at which steps began, of one run at a time.
var stamps struct {
	sync.Mutex
	at []time.Time
}

func stamp(context.Context) (int, error) {
	stamps.Lock()
	defer stamps.Unlock()
	stamps.at = append(stamps.at, time.Now())
	return 1, nil
}

// firstStep returns when the first of the noted steps began.
func firstStep() time.Time {
	stamps.Lock()
	defer stamps.Unlock()
	if len(stamps.at) == 0 {
		return time.Time{}
	}
	return stamps.at[0]
}

// gaps returns the times between the steps since the last call, and forgets them.
func gaps() latencies {
	stamps.Lock()
	defer stamps.Unlock()
	var l latencies
	for i := 1; i < len(stamps.at); i++ {
		l = append(l, stamps.at[i].Sub(stamps.at[i-1]))
	}
	stamps.at = stamps.at[:0]
	return l
}

func timed(ctx workflow.Context, n int) (int, error) { return steps(ctx, n, stamp) }

func sleepUntil(ctx workflow.Context, due int64) (int64, error) {
	err := workflow.Sleep(ctx, time.UnixMicro(due).Sub(ctx.Now()))
	return ctx.Now().UnixMicro(), err
}

func collect(ctx workflow.Context, n int) (int, error) {
	sum := 0
	for range n {
		v, err := item.Receive(ctx)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, nil
}

// echoes is where the echo workflow's steps answer, by the value of the signal.
var echoes sync.Map // int to chan struct{}

// answer tells who waits for it that a step has begun. A step that is executed again tells nobody.
func answer(who int) {
	if c, ok := echoes.Load(who); ok {
		select {
		case c.(chan struct{}) <- struct{}{}:
		default:
		}
	}
}

func echo(ctx workflow.Context, n int) (int, error) {
	for range n {
		who, err := item.Receive(ctx)
		if err != nil {
			return 0, err
		}
		_, err = workflow.Step(ctx, "step", func(context.Context) (int, error) {
			answer(who)
			return 1, nil
		}, nil)
		if err != nil {
			return 0, err
		}
	}
	return n, nil
}

func slow(ctx workflow.Context, n int) (int, error) {
	return steps(ctx, n, func(ctx context.Context) (int, error) {
		select {
		case <-time.After(slowStep):
			return 1, nil
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	})
}

func sleepThenStep(ctx workflow.Context, w wake) (int, error) {
	before, err := steps(ctx, w.Before, noop)
	if err != nil {
		return 0, err
	}
	if _, err := item.Receive(ctx); err != nil {
		return 0, err
	}
	after, err := steps(ctx, w.After, stamp)
	return before + after, err
}
