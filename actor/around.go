package actor

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/internal/intercept"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// StepInterceptor is code around the bodies of steps: it calls next, which calls the body. Package
// runtime has its rules.
//
// It is executed where the body is, on the body's goroutine and within everything that guards the
// body: its limits, its slot, its transaction, the recovery from panics. So whatever is true of a
// body is true of a body with interceptors, and the executor knows nothing of them but this file.
// next cannot leave that goroutine: see intercept.Chain.
type StepInterceptor func(ctx context.Context, next func(context.Context) error) error

// around makes a chain of interceptors.
func around(list []StepInterceptor) intercept.Chain[context.Context] {
	c := intercept.Chain[context.Context]{What: "step interceptor", Own: "goroutine", Wrong: journal.ErrInvalid}
	for _, i := range list {
		c.Layers = append(c.Layers, i.layer())
	}
	return c
}

// layer is the interceptor with a next that refuses a context without the step. From the context
// follow the step's idempotency key, under which another database knows it (workflow.StepIn), its
// heartbeats, and that the body hears when it is to stop.
func (i StepInterceptor) layer() intercept.Layer[context.Context] {
	name := callsite.OfFunc(i)
	return intercept.Layer[context.Context]{Name: name, Call: func(own context.Context, next func(context.Context) error) error {
		return i(own, func(ctx context.Context) error {
			if ctx == nil || replay.StepContextFrom(ctx) != replay.StepContextFrom(own) {
				return fmt.Errorf("step interceptor %s: %w: it called next with a context that does not come from its own, "+
					"and the step is known by that; nothing was done", name, journal.ErrInvalid)
			}
			return next(ctx)
		})
	}}
}
