package replay

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// StepContext describes the execution of a step to its body. The executor puts it into the body's
// context, because a body runs on another goroutine, perhaps on another node than the code that
// asked for it.
type StepContext struct {
	*Info
	Cmd           journal.Cmd
	Step          string
	Attempt       int32            // from 1
	LastHeartbeat *journal.Payload // details of the last heartbeat of the attempt before; nil for none
	Heartbeats    Heartbeats       // nil if nobody takes them
	Limits        Limits           // nil if the step names none
	Encoder       Encoder

	carrier carrier
}

// Heartbeats takes the heartbeats of one attempt.
type Heartbeats interface{ Heartbeat(details journal.Payload) }

// Limits takes what an attempt has used of a limit instead of what it has reserved.
type Limits interface {
	Settle(name string, used int64) error
}

// IdempotencyKey is the same for every attempt of this step, on every node: run, generation and
// command number follow from the history. Its form must never change: servers may have seen it. A
// step that a reset runs again has another one, and one that a retry runs again the same.
func (sc *StepContext) IdempotencyKey() string {
	return fmt.Sprintf("%s/%d/%d", sc.Run, sc.Rewound.Performer(sc.Generation, sc.Cmd), sc.Cmd)
}

type stepContextKey struct{}

// carrier is a context with a StepContext in it. It is part of the StepContext, so that every
// attempt of a step has one object less than with context.WithValue.
type carrier struct {
	context.Context
	sc *StepContext
}

// Value implements context.Context.
func (c *carrier) Value(key any) any {
	if key == (stepContextKey{}) {
		return c.sc
	}
	return c.Context.Value(key)
}

// WithStepContext returns ctx with sc in it. It is called once for an sc.
func WithStepContext(ctx context.Context, sc *StepContext) context.Context {
	sc.carrier = carrier{ctx, sc}
	return &sc.carrier
}

// StepContextFrom returns what WithStepContext put in, or nil outside of a step.
func StepContextFrom(ctx context.Context) *StepContext {
	sc, _ := ctx.Value(stepContextKey{}).(*StepContext)
	return sc
}
