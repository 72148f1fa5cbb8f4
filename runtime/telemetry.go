package runtime

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/reprise-run/reprise/actor"
	"github.com/reprise-run/reprise/internal/callsite"
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
)

// telemetry is the only place that knows OpenTelemetry and the only one that logs about runs: logs
// are here, spans in spans.go, metrics in metrics.go.
type telemetry struct {
	log *slog.Logger
	off bool // no provider: attempts of steps are not wrapped at all
	spans
	metrics
}

func newTelemetry(tp trace.TracerProvider, mp metric.MeterProvider, log *slog.Logger) *telemetry {
	t := &telemetry{log: log, off: tp == nil && mp == nil, spans: newSpans(tp)}
	var err error
	if t.metrics, err = newMetrics(meter(mp)); err != nil {
		log.Warn("some metrics are off", logkey.Error, err)
	}
	return t
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
		Retry: t.retry,
		Panicked: func(run *journal.Run, step string, attempts int32, f *journal.Failure) {
			t.log.Warn("a step panicked, and has failed for good; repair its code", logkey.Run, run.ID, logkey.Workflow, run.Workflow,
				logkey.Step, step, logkey.Attempt, attempts, logkey.Error, f.Message, "stack", f.Stack)
		},
		Exhausted: t.exhausted,
		BodyAbandoned: func(run *journal.Run, step string, change int) {
			t.hung.Add(context.Background(), int64(change), metric.WithAttributes(
				attribute.String(logkey.Workflow, run.Workflow), attribute.String(logkey.Step, step)))
		},
		BodyHangs: t.bodyHangs,
		Full: func(run *journal.Run, waiting, retries int) {
			t.log.Warn("too many steps of a run are in retry; its other steps begin when some of these have ended",
				logkey.Run, run.ID, logkey.Workflow, run.Workflow, "waiting", waiting, "in_retry", retries)
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
			if errors.Is(err, actor.ErrRunClosed) {
				t.log.Info("a run was terminated or deleted; its steps here are interrupted", logkey.Run, run.ID, logkey.Workflow, run.Workflow)
				return
			}
			t.log.Warn("this node has given up a run; its state here is dropped",
				logkey.Run, run.ID, logkey.Workflow, run.Workflow, logkey.Error, err)
		},
		Stuck: func(run *journal.Run, after time.Duration, stack string) {
			t.log.Warn(logkey.DoesNotAwait,
				logkey.Run, run.ID, logkey.Workflow, run.Workflow, "after", after, logkey.At, callsite.OfStack(stack).Where, "stack", stack)
		},
		LeftBehind: func(runs []*journal.Run) {
			ids := make([]string, len(runs))
			for i, r := range runs {
				ids[i] = r.ID.String()
			}
			t.log.Warn("workflow code does not await while its node ends; its runs are left to other nodes", "runs", ids)
		},
		Deadlocked: func(run *journal.Run, lines []string) {
			t.dead.Add(context.Background(), 1, metric.WithAttributes(attribute.String(logkey.Workflow, run.Workflow)))
			t.log.Warn("the strands of a run wait for each other",
				logkey.Run, run.ID, logkey.Workflow, run.Workflow, "waiting", lines)
		},
		Trace:    traceOf,
		SetAside: t.setAside,
		Log:      t.line,
	}
	if !t.off {
		h.Step = t.step
	}
	return h
}

// retry reports a failed attempt that is repeated. Servers that are down are everyday life; a panic
// is a mistake in a program, which somebody has to see.
func (t *telemetry) retry(run *journal.Run, step string, attempt int32, in time.Duration, f *journal.Failure) {
	t.retries.Add(context.Background(), 1, metric.WithAttributes(
		attribute.String(logkey.Workflow, run.Workflow), attribute.String(logkey.Step, step), attribute.String(logkey.ErrorType, f.Type)))
	args := []any{logkey.Run, run.ID, logkey.Workflow, run.Workflow, logkey.Step, step, logkey.Attempt, attempt, "in", in}
	if f.Type == journal.FailurePanic {
		t.log.Warn("a step panicked and will be tried again; repair its code before it fails", append(args, logkey.Error, f.Message, "stack", f.Stack)...)
		return
	}
	t.log.Info("step failed and will be tried again", append(args, logkey.Error, f.Summary())...)
}

// exhausted reports a step that pauses its run.
func (t *telemetry) exhausted(run *journal.Run, step string, attempts int32, f *journal.Failure) {
	t.log.Warn("a step may not be tried again, and its run is paused; mend what it calls, and resume the run",
		logkey.Run, run.ID, logkey.Workflow, run.Workflow, logkey.Step, step, logkey.Attempt, attempts, logkey.Error, f.Summary())
}

// setAside reports a signal that its run did not get.
func (t *telemetry) setAside(run *journal.Run, s *replay.SetAside) {
	t.log.Warn("a signal does not decode and is set aside; the run goes on without it",
		logkey.Run, run.ID, logkey.Workflow, run.Workflow, logkey.Signal, s.Signal, "message", s.Number, logkey.Error, s.Err)
}

// bodyHangs reports a body that ignores its context.
func (t *telemetry) bodyHangs(h *actor.Hang) {
	args := []any{logkey.Run, h.Run.ID, logkey.Workflow, h.Run.Workflow, logkey.Step, h.Step, logkey.Attempt, h.Attempt,
		"bodies", h.Bodies, logkey.At, h.At, "stack", h.Stack}
	if h.Kept {
		t.log.Error("a step's body ignores its context and goes on; it keeps its slot, because too many such bodies have given theirs", args...)
		return
	}
	t.log.Warn("a step's body ignores its context and goes on; its slot is given to others", args...)
}

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
	if !t.off {
		t.spans.run(run, terminal)
		t.metrics.closedRun(run, terminal, status)
	}
}

// step wraps one attempt in a span and a measurement. The returned function is called with the
// attempt's outcome.
func (t *telemetry) step(
	ctx context.Context, run *journal.Run, sc *replay.StepContext, waited time.Duration,
) (context.Context, func(*journal.Failure)) {
	began := time.Now()
	ctx, end := t.spans.step(ctx, run, sc)
	return ctx, func(f *journal.Failure) {
		end(f)
		t.metrics.step(run, sc.Step, waited, time.Since(began), f)
	}
}
