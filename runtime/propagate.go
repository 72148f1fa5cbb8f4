package runtime

import (
	"context"

	"go.opentelemetry.io/otel/propagation"

	"github.com/reprise-run/reprise/replay/workflow"
)

// Propagate returns an interceptor that carries values of a caller's context to the steps of the
// run that is started: what p injects goes with the start as headers, and each step gets a context
// with what p extracts from the headers of its run. Children inherit headers, and a start that a
// step makes with a client is a start like others, so the values go as far as the work does.
//
//	runtime.Propagate(propagation.Baggage{}) // of OpenTelemetry
//
// p may be your own: Inject writes a tenant from the context into the carrier, Extract puts it back
// into a context. A header that StartOptions.Headers has already is left as it is. Workflow code
// has no context: it reads workflow.Info.Headers. Traces need no propagator: see
// NodeOptions.TracerProvider.
func Propagate(p propagation.TextMapPropagator) Interceptor {
	return Interceptor{
		Client: func(ctx context.Context, call *Call, next func(context.Context) error) error {
			if call.Start == nil {
				return next(ctx)
			}
			injected := propagation.MapCarrier{}
			p.Inject(ctx, injected)
			for name, value := range injected {
				if _, given := call.Start.Headers[name]; !given {
					call.Start.Headers[name] = value
				}
			}
			return next(ctx)
		},
		Step: func(ctx context.Context, next func(context.Context) error) error {
			step, _ := workflow.StepInfo(ctx)
			return next(p.Extract(ctx, propagation.MapCarrier(step.Headers)))
		},
	}
}
