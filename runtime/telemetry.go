package runtime

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/reprise-run/reprise/actor"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
)

// Names of spans and instruments.
const (
	scopeName        = "github.com/reprise-run/reprise/runtime"
	spanStart        = "reprise.start"
	spanStep         = "reprise.step"
	metricSteps      = "reprise.step.duration"
	metricClosed     = "reprise.run.closed"
	metricRunTime    = "reprise.run.duration"
	metricReplayed   = "reprise.replay.events"
	metricBlocked    = "reprise.run.blocked"
	metricDeadlocked = "reprise.run.deadlocked"
	metricWaiting    = "reprise.node.waiting"
	metricCalls      = "reprise.journal.duration"
	metricMembers    = "reprise.journal.members"
	metricCallErrors = "reprise.journal.errors"
)

// telemetry is the only place that knows OpenTelemetry and the only one that logs about runs.
//
// Spans are made by what happens once, starts and attempts of steps, never by replay, so replaying
// makes no duplicates. A run has no span of its own: it may last for months, move between nodes and
// survive all of them, and a span must be ended by the process that began it. Attempts are children
// of the start's span instead, through the traceparent that the run's row keeps, so one trace shows
// the run whichever nodes it was on.
//
// Metrics count what happened on this node; sums over nodes are the backend's. Attributes are names
// that code defines, never ids of runs, so the number of series stays small.
type telemetry struct {
	log      *slog.Logger
	off      bool // no provider: attempts of steps are not wrapped at all
	tracer   trace.Tracer
	steps    metric.Float64Histogram
	closed   metric.Int64Counter
	runTime  metric.Float64Histogram
	replayed metric.Int64Counter
	blocked  metric.Int64Counter
	dead     metric.Int64Counter
	waiting  metric.Int64Gauge
}

// propagator writes and reads the traceparent of the run's row.
var propagator propagation.TraceContext

func newTelemetry(tp trace.TracerProvider, mp metric.MeterProvider, log *slog.Logger) *telemetry {
	off := tp == nil && mp == nil
	if tp == nil {
		tp = tracenoop.NewTracerProvider()
	}
	m := meter(mp)
	t := &telemetry{log: log, off: off, tracer: tp.Tracer(scopeName)}
	var errs [7]error
	t.steps, errs[0] = m.Float64Histogram(metricSteps, metric.WithUnit("s"), metric.WithDescription("attempts of steps"))
	t.closed, errs[1] = m.Int64Counter(metricClosed, metric.WithDescription("runs closed by this node"))
	t.runTime, errs[2] = m.Float64Histogram(metricRunTime, metric.WithUnit("s"),
		metric.WithDescription("from start to end of a run"))
	t.replayed, errs[3] = m.Int64Counter(metricReplayed, metric.WithDescription("events replayed by cold activations"))
	t.blocked, errs[4] = m.Int64Counter(metricBlocked, metric.WithDescription("times a run was blocked"))
	t.dead, errs[5] = m.Int64Counter(metricDeadlocked,
		metric.WithDescription("times a run was parked whose strands wait for each other"))
	t.waiting, errs[6] = m.Int64Gauge(metricWaiting,
		metric.WithDescription("due runs that wait because this node is full, 0 while it has room"))
	if err := errors.Join(errs[:]...); err != nil {
		log.Warn("some metrics are off", logkey.Error, err)
	}
	return t
}

func meter(mp metric.MeterProvider) metric.Meter {
	if mp == nil {
		mp = metricnoop.NewMeterProvider()
	}
	return mp.Meter(scopeName)
}

// start opens the span of a start. It is the parent of the run's attempts.
func (t *telemetry) start(ctx context.Context, workflow string) (context.Context, func(journal.RunID, error)) {
	if t.off {
		return ctx, func(journal.RunID, error) {}
	}
	ctx, span := t.tracer.Start(ctx, spanStart, trace.WithSpanKind(trace.SpanKindProducer),
		trace.WithAttributes(attribute.String(logkey.Workflow, workflow)))
	return ctx, func(run journal.RunID, err error) {
		span.SetAttributes(attribute.String(logkey.Run, run.String()))
		if err != nil {
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}

// traceparent is the W3C form of ctx's span, empty if there is none.
func traceparent(ctx context.Context) string {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ""
	}
	carrier := propagation.MapCarrier{}
	propagator.Inject(ctx, carrier)
	return carrier["traceparent"]
}

// hooks make logs, spans and metrics of what an actor system reports. They run on actors: none of
// them may block. txLimit is what bounds the transactions of steps that are open at once.
func (t *telemetry) hooks(txLimit string) actor.Hooks {
	h := actor.Hooks{
		Replayed: func(_ journal.RunID, events int, _ time.Duration) {
			t.replayed.Add(context.Background(), int64(events))
		},
		TxWaits: func(run *journal.Run, step string, after time.Duration) {
			args := []any{logkey.Run, run.ID, logkey.Workflow, run.Workflow, logkey.Step, step, "for", after}
			if txLimit != "" {
				args = append(args, "limit", txLimit)
			}
			t.log.Warn("a step waits for its transaction to begin; as many as may be open at once are open, or the store is slow", args...)
		},
		Retry: func(run *journal.Run, step string, attempt int32, in time.Duration, f *journal.Failure) {
			t.log.Info("step failed and will be tried again", logkey.Run, run.ID, logkey.Workflow, run.Workflow,
				logkey.Step, step, logkey.Attempt, attempt, "in", in, logkey.Error, f.Type+": "+f.Message)
		},
		Closed: t.runClosed,
		Blocked: func(run *journal.Run, problem, stack string, retryIn time.Duration) {
			t.blocked.Add(context.Background(), 1, metric.WithAttributes(attribute.String(logkey.Workflow, run.Workflow)))
			args := []any{logkey.Run, run.ID, logkey.Workflow, run.Workflow, logkey.Version, run.Version,
				"retry_in", retryIn, logkey.Error, problem}
			if stack != "" {
				args = append(args, "stack", stack)
			}
			t.log.Error("run is blocked", args...)
		},
		Lost: func(run *journal.Run, err error) {
			t.log.Warn("this node has given up a run; its state here is dropped",
				logkey.Run, run.ID, logkey.Workflow, run.Workflow, logkey.Error, err)
		},
		Stuck: func(run *journal.Run, after time.Duration, stack string) {
			t.log.Warn("workflow code does not await; other runs go on",
				logkey.Run, run.ID, logkey.Workflow, run.Workflow, "after", after, "stack", stack)
		},
		Deadlocked: func(run *journal.Run, lines []string) {
			t.dead.Add(context.Background(), 1, metric.WithAttributes(attribute.String(logkey.Workflow, run.Workflow)))
			t.log.Warn("the strands of a run wait for each other",
				logkey.Run, run.ID, logkey.Workflow, run.Workflow, "waiting", lines)
		},
		Log: t.line,
	}
	if !t.off {
		h.Step = t.step
	}
	return h
}

// nodeWaiting measures how many due runs wait for a place of this node.
func (t *telemetry) nodeWaiting(runs int) { t.waiting.Record(context.Background(), int64(runs)) }

// stuckQuery reports workflow code that a query executes.
func (t *telemetry) stuckQuery(run journal.RunID, workflow, code string, after time.Duration, stack string) {
	t.log.Warn("workflow code of a query does not return; it keeps a goroutine, and other questions go on",
		logkey.Run, run, logkey.Workflow, workflow, "code", code, "after", after, "stack", stack)
}

// line writes what workflow code logs, under the run's own keys.
func (t *telemetry) line(run *journal.Run, level int, msg string, args []any) {
	ctx := context.Background()
	if l := slog.Level(level); t.log.Enabled(ctx, l) {
		args = append([]any{logkey.Run, run.ID, logkey.Workflow, run.Workflow, logkey.RunKey, run.Key}, args...)
		t.log.Log(ctx, l, msg, args...)
	}
}

func (t *telemetry) runClosed(run *journal.Run, terminal *journal.Event) {
	status, _ := journal.StatusOf(terminal.Kind)
	if t.log.Enabled(context.Background(), slog.LevelDebug) {
		t.log.Debug("run closed", logkey.Run, run.ID, logkey.Workflow, run.Workflow, logkey.Status, status.String())
	}
	if t.off {
		return
	}
	attrs := metric.WithAttributes(
		attribute.String(logkey.Workflow, run.Workflow), attribute.String(logkey.Status, status.String()))
	t.closed.Add(context.Background(), 1, attrs)
	t.runTime.Record(context.Background(), terminal.Time.Sub(run.StartAt).Seconds(), attrs)
}

// step wraps one attempt in a span and a measurement. The returned function is called with the
// attempt's outcome.
func (t *telemetry) step(
	ctx context.Context, run *journal.Run, sc *replay.StepContext,
) (context.Context, func(*journal.Failure)) {
	began := time.Now()
	if run.Trace != "" {
		ctx = propagator.Extract(ctx, propagation.MapCarrier{"traceparent": run.Trace})
	}
	ctx, span := t.tracer.Start(ctx, spanStep+" "+sc.Step, trace.WithAttributes(
		attribute.String(logkey.Run, run.ID.String()), attribute.String(logkey.Workflow, run.Workflow),
		attribute.String(logkey.Step, sc.Step), attribute.Int(logkey.Attempt, int(sc.Attempt))))
	return ctx, func(f *journal.Failure) {
		outcome := "ok"
		if f != nil {
			outcome = "failed"
			span.SetStatus(codes.Error, f.Type+": "+f.Message)
		}
		span.End()
		t.steps.Record(context.Background(), time.Since(began).Seconds(), metric.WithAttributes(
			attribute.String(logkey.Workflow, run.Workflow), attribute.String(logkey.Step, sc.Step),
			attribute.String(logkey.Outcome, outcome)))
	}
}

// Observe returns an Observer for journal.Options that measures the store: the duration of calls in
// seconds, the members of batches, and errors, of whole calls and of members alike, each by verb.
// Its errors are those of mp's instruments. A nil mp measures nothing.
func Observe(mp metric.MeterProvider) (journal.Observer, error) {
	m := meter(mp)
	took, err1 := m.Float64Histogram(metricCalls, metric.WithUnit("s"), metric.WithDescription("calls of the store"))
	members, err2 := m.Int64Counter(metricMembers, metric.WithDescription("members of calls, such as commits in a batch"))
	failed, err3 := m.Int64Counter(metricCallErrors, metric.WithDescription("failed calls and refused members"))
	if err := errors.Join(err1, err2, err3); err != nil {
		return journal.Observer{}, err
	}
	return journal.Observer{Call: func(verb string, n, refused int, d time.Duration, err error) {
		ctx, attrs := context.Background(), metric.WithAttributes(attribute.String(logkey.Verb, verb))
		took.Record(ctx, d.Seconds(), attrs)
		members.Add(ctx, int64(n), attrs)
		if err != nil {
			refused++
		}
		failed.Add(ctx, int64(refused), attrs)
	}}, nil
}
