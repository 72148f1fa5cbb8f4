package gather

import (
	"errors"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// Handle registers the workflow of collectors with a node, which executes them then. As
// [runtime.Handle] it must be called before the node runs.
func Handle(n *runtime.Node) {
	runtime.Handle(n, name, func(ctx workflow.Context, s state) (Info, error) { return run(ctx, n.Client(), s) },
		&runtime.HandleOptions{Signals: []string{string(inputs)}})
}

// run is the workflow of a collector. It takes inputs as they come, starts what is due, and waits
// for the next input or time. A cancel request ends it: what it has is the last batch.
//
// Updates take inputs too, in strands of their own. They do what the loop does with a signal, and
// wake the loop, which alone waits for times.
func run(ctx workflow.Context, c *runtime.Client, s state) (Info, error) {
	k := &keeper{state: s, client: c, safe: workflow.Shield(ctx), carried: !s.Open.IsZero(), lookPause: lookFirst}
	for _, in := range s.Pending {
		k.bytes += len(in)
	}
	joins.Handle(k.safe, k.join, nil)
	for {
		if err := k.turn(); err != nil {
			return k.Info, err
		}
		if ctx.ShouldContinue() {
			return k.Info, k.next(ctx)
		}
		if err := k.wait(ctx); err != nil {
			return k.Info, k.flush()
		}
	}
}

// turn takes what is there, and starts what is due.
func (k *keeper) turn() error {
	if err := k.drain(); err != nil {
		return err
	}
	if err := k.look(); err != nil {
		return err
	}
	k.hear()
	if k.due() {
		k.start()
	}
	return nil
}

// wait waits for something to do.
func (k *keeper) wait(ctx workflow.Context) error {
	k.arm()
	k.woken = workflow.NewPromise[none]()
	cases := []workflow.Case{
		workflow.OnSignal(inputs, func(it item) { k.take(&it) }),
		workflow.OnFuture(k.woken.Future(), nil),
	}
	if !k.timerAt.IsZero() {
		cases = append(cases, workflow.OnTimer(k.timer, func() { k.timerAt = time.Time{} }))
	}
	if !k.Open.IsZero() && !k.carried {
		cases = append(cases, workflow.OnFuture(k.open.Future, nil))
	}
	_, err := workflow.Select(ctx, cases...)
	return err
}

// next ends the generation. Whoever waits for a batch is told its number: answers of updates do not
// go on with a run, and senders who asked the next generation would fill its history.
func (k *keeper) next(ctx workflow.Context) error {
	k.leave()
	if err := workflow.HandlersFinished(k.safe); err != nil {
		return err
	}
	err := workflow.ContinueAsNew(ctx, name, k.state, nil)
	if _, ok := errors.AsType[*workflow.ContinueError](err); !ok && len(k.Pending) > 0 { // a codec makes more of it than fits
		k.start()
		err = workflow.ContinueAsNew(ctx, name, k.state, nil)
	}
	return err
}

// flush starts the last batch of a collector that has been cancelled.
func (k *keeper) flush() error {
	if err := k.drain(); err != nil {
		return err
	}
	if len(k.Pending) > 0 {
		k.start()
	}
	k.leave()
	return workflow.HandlersFinished(k.safe)
}
