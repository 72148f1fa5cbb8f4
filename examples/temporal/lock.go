package temporal

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/replay/workflow"
	"github.com/reprise-run/reprise/runtime"
)

// Lock is a run for each resource that one run at a time may use. A run that wants it sends a
// signal, which starts the Lock if there is none, and gets a signal when it is its turn. A holder
// that does not give the lock back loses it after a while.
const (
	Lock      workflow.Name[string, string]   = "lock"
	Acquire   workflow.Signal[Claim]          = "lock.acquire"
	Acquired  workflow.Signal[workflow.RunID] = "lock.acquired" // the payload is the lock's run
	Release   workflow.Signal[workflow.RunID] = "lock.release"  // the payload is the holder's run
	Exclusive workflow.Name[string, struct{}] = "lock.user"
)

// Claim is who wants the lock, and how long it may have it.
type Claim struct {
	By  workflow.RunID
	For time.Duration
}

// lock serves claims in their order. It does not end when there are none: a claim that arrives in
// that moment would be lost.
func lock(ctx workflow.Context, resource string) (string, error) {
	for !ctx.ShouldContinue() {
		c, err := Acquire.Receive(ctx)
		if err != nil {
			return "", err
		}
		if Acquired.Send(ctx, c.By, ctx.Info().Run) != nil {
			continue // it has ended
		}
		limited, done := workflow.WithTimeout(ctx, c.For)
		for by := (workflow.RunID{}); err == nil && by != c.By; { // what a late holder says does not count
			by, err = Release.Receive(limited)
		}
		done()
		if ctx.Cancelled() {
			return "", ctx.Err()
		}
	}
	return "", workflow.ContinueAsNew(ctx, Lock, resource, nil)
}

// vault has work that must be done by one run at a time.
type vault struct {
	client func() *runtime.Client
	work   func(ctx context.Context, key string) error
}

func (v *vault) exclusive(ctx workflow.Context, resource string) (struct{}, error) {
	me := ctx.Info().Run
	err := workflow.Do(ctx, "ask", func(ctx context.Context) error { // a step, because only clients start runs by key and signal
		_, err := runtime.SignalWithStart(ctx, v.client(), Lock, resource, Acquire, Claim{me, time.Hour},
			&runtime.StartOptions{Key: "lock:" + resource},
			&runtime.SignalOptions{Key: workflow.IdempotencyKey(ctx)})
		return err
	}, nil)
	if err != nil {
		return struct{}{}, err
	}
	holder, err := Acquired.Receive(ctx)
	if err != nil {
		return struct{}{}, err
	}
	err = workflow.Do(ctx, "work", func(ctx context.Context) error { return v.work(ctx, workflow.IdempotencyKey(ctx)) }, nil)
	return struct{}{}, errFirst(err, Release.Send(workflow.Shield(ctx), holder, me))
}
