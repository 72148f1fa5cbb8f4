package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
)

// Names of spans. What a span is about follows the name, as the attribute of its kind does.
const (
	scopeName  = "github.com/reprise-run/reprise/runtime"
	spanStart  = "reprise.start"
	spanStep   = "reprise.step"
	spanRun    = "reprise.run"
	spanSignal = "reprise.signal"
	spanUpdate = "reprise.update"
	spanQuery  = "reprise.query"
	spanCancel = "reprise.cancel"
)

// spans are made by what happens once, calls of clients, attempts of steps and ends of runs, never
// by replay, so replaying makes no duplicates.
//
// A span must be ended by the process that began it, and a run may last for months, move between
// nodes and survive all of them. So the node that closes a run makes the run's span, whole, with
// the times that the journal has. Attempts and the run are children of the start's span, through
// the traceparent that the run's row keeps: one trace shows the run whichever nodes it was on, and
// the runs that it started.
//
// A run that continues as new for ever would fill one trace for ever. So each further generation
// has a trace of its own, see traceOf, whose spans have a link to the start.
//
// Without a provider nothing is made, not even the names of spans.
type spans struct{ tracer trace.Tracer }

func newSpans(tp trace.TracerProvider) spans {
	if tp == nil {
		return spans{}
	}
	return spans{tp.Tracer(scopeName)}
}

// propagator writes and reads the traceparent of the run's row.
var propagator propagation.TraceContext

// traceparent is the W3C form of ctx's span, empty if there is none.
func traceparent(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagator.Inject(ctx, carrier)
	return carrier["traceparent"]
}

// spanContextOf reads a traceparent.
func spanContextOf(traceparent string) trace.SpanContext {
	if traceparent == "" {
		return trace.SpanContext{}
	}
	return trace.SpanContextFromContext(propagator.Extract(context.Background(), propagation.MapCarrier{"traceparent": traceparent}))
}

// parentOf is the span that those of a run's generation are children of: of the first one the
// start's. That of a further one exists by its name only, which is computed from the start's and
// the number of the generation, so that every node finds the same without a word between them.
// Whether the start was sampled decides for all.
func parentOf(run *journal.Run) (parent trace.SpanContext, links []trace.Link) {
	start := spanContextOf(run.Trace)
	if run.Generation <= 1 || !start.IsValid() {
		return start, nil
	}
	traceID, spanID := start.TraceID(), start.SpanID()
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(append(traceID[:], spanID[:]...), uint64(run.Generation)))
	copy(traceID[:], sum[:])
	copy(spanID[:], sum[len(traceID):])
	return start.WithTraceID(traceID).WithSpanID(spanID), []trace.Link{{SpanContext: start}}
}

// traceOf is the traceparent for what a run starts. It implements actor.Hooks.Trace.
func traceOf(run *journal.Run) string {
	if run.Generation <= 1 {
		return run.Trace
	}
	parent, _ := parentOf(run)
	return traceparent(trace.ContextWithRemoteSpanContext(context.Background(), parent))
}

// under returns ctx below the parent of a run's spans, and what each of them begins with.
func under(ctx context.Context, run *journal.Run) (context.Context, []trace.SpanStartOption) {
	parent, links := parentOf(run)
	if parent.IsValid() {
		ctx = trace.ContextWithRemoteSpanContext(ctx, parent)
	}
	return ctx, []trace.SpanStartOption{trace.WithLinks(links...), trace.WithAttributes(
		attribute.String(logkey.Run, run.ID.String()), attribute.String(logkey.Workflow, run.Workflow))}
}

// start opens the span of a start. It is the parent of the run's attempts.
func (s spans) start(ctx context.Context, workflow string) (context.Context, func(journal.RunID, error)) {
	if s.tracer == nil {
		return ctx, func(journal.RunID, error) {}
	}
	ctx, span := s.tracer.Start(ctx, spanStart, trace.WithSpanKind(trace.SpanKindProducer),
		trace.WithAttributes(attribute.String(logkey.Workflow, workflow)))
	return ctx, func(run journal.RunID, err error) {
		span.SetAttributes(attribute.String(logkey.Run, run.String()))
		endSpan(span, err)
	}
}

// call opens the span of what somebody does to a run: span names what, and name the signal, update
// or query.
func (s spans) call(
	ctx context.Context, span, name string, run journal.RunID, kind trace.SpanKind,
) (context.Context, func(error)) {
	if s.tracer == nil {
		return ctx, func(error) {}
	}
	if name != "" {
		span += " " + name
	}
	ctx, sp := s.tracer.Start(ctx, span, trace.WithSpanKind(kind), trace.WithAttributes(attribute.String(logkey.Run, run.String())))
	return ctx, func(err error) { endSpan(sp, err) }
}

func endSpan(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, err.Error())
	}
	span.End()
}

// step opens the span of an attempt.
func (s spans) step(ctx context.Context, run *journal.Run, sc *replay.StepContext) (context.Context, func(*journal.Failure)) {
	if s.tracer == nil {
		return ctx, func(*journal.Failure) {}
	}
	ctx, o := under(ctx, run)
	ctx, span := s.tracer.Start(ctx, spanStep+" "+sc.Step, append(o, trace.WithAttributes(
		attribute.String(logkey.Step, sc.Step), attribute.Int(logkey.Attempt, int(sc.Attempt))))...)
	return ctx, func(f *journal.Failure) { endFailed(span, f) }
}

// run makes the span of a run that has been closed here, with the times of the journal.
func (s spans) run(run *journal.Run, terminal *journal.Event) {
	if s.tracer == nil {
		return
	}
	status, _ := journal.StatusOf(terminal.Kind)
	ctx, o := under(context.Background(), run)
	_, span := s.tracer.Start(ctx, spanRun+" "+run.Workflow, append(o, trace.WithTimestamp(run.StartAt),
		trace.WithAttributes(attribute.String(logkey.Status, status.String()), attribute.Int64(logkey.Generation, int64(run.Generation))))...)
	endFailed(span, failureOf(terminal), trace.WithTimestamp(terminal.Time))
}

// failureOf returns the failure with which a run has ended, nil if it has ended otherwise.
func failureOf(terminal *journal.Event) *journal.Failure {
	if terminal.Kind != journal.RunFailed {
		return nil
	}
	f, err := journal.DecodeFailure(terminal.Payload)
	if err != nil {
		return &journal.Failure{Message: err.Error()}
	}
	return f
}

func endFailed(span trace.Span, f *journal.Failure, o ...trace.SpanEndOption) {
	if f != nil {
		span.SetAttributes(attribute.String(logkey.ErrorType, f.Type))
		span.SetStatus(codes.Error, f.Summary())
	}
	span.End(o...)
}
