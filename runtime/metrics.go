package runtime

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/runtime/internal/logkey"
)

// Names of instruments. docs/grafana.json has a panel for each.
const (
	metricSteps      = "reprise.step.duration"
	metricStepWait   = "reprise.step.wait"
	metricRetries    = "reprise.step.retries"
	metricAbandoned  = "reprise.step.abandoned"
	metricRunning    = "reprise.step.running"
	metricClosed     = "reprise.run.closed"
	metricRunTime    = "reprise.run.duration"
	metricLive       = "reprise.run.live"
	metricReplayed   = "reprise.replay.events"
	metricBlocked    = "reprise.run.blocked"
	metricDeadlocked = "reprise.run.deadlocked"
	metricWaiting    = "reprise.node.waiting"
	metricWaitTime   = "reprise.node.waiting.time"
	metricCalls      = "reprise.journal.duration"
	metricMembers    = "reprise.journal.members"
	metricCallErrors = "reprise.journal.errors"
)

// inSeconds are the bounds of the buckets of durations, in seconds: from less than a call of the
// store takes to longer than nearly every step. Those of the OpenTelemetry SDK begin at 5, and
// nearly all that happens here would be in the first bucket. An application's views overrule them.
var inSeconds = metric.WithExplicitBucketBoundaries(
	0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600)

// metrics count what happened on this node; sums over nodes are the backend's. Attributes are names
// that code defines, never ids of runs, so the number of series stays small.
type metrics struct {
	meter    metric.Meter
	steps    metric.Float64Histogram
	stepWait metric.Float64Histogram
	retries  metric.Int64Counter
	hung     metric.Int64UpDownCounter
	closed   metric.Int64Counter
	runTime  metric.Float64Histogram
	replayed metric.Int64Counter
	blocked  metric.Int64Counter
	dead     metric.Int64Counter

	// Of the node, as it is when somebody collects.
	running  metric.Int64ObservableUpDownCounter
	live     metric.Int64ObservableUpDownCounter
	waiting  metric.Int64ObservableGauge
	waitTime metric.Float64ObservableGauge
	crowd    *atomic.Pointer[crowd]
}

// crowd is the due runs that wait because a node is full.
type crowd struct {
	runs  int
	since time.Time // since when there have been some
}

func meter(mp metric.MeterProvider) metric.Meter {
	if mp == nil {
		mp = metricnoop.NewMeterProvider()
	}
	return mp.Meter(scopeName)
}

// newMetrics makes the instruments. With an error those that were refused do nothing.
func newMetrics(m metric.Meter) (metrics, error) {
	t := metrics{meter: m, crowd: &atomic.Pointer[crowd]{}}
	var errs [13]error
	t.steps, errs[0] = m.Float64Histogram(metricSteps, inSeconds, metric.WithUnit("s"), metric.WithDescription("attempts of steps"))
	t.stepWait, errs[1] = m.Float64Histogram(metricStepWait, inSeconds, metric.WithUnit("s"),
		metric.WithDescription("from when an attempt is due until its body begins: for a slot, and for the step's transaction"))
	t.retries, errs[2] = m.Int64Counter(metricRetries, metric.WithDescription("failed attempts after which a step is tried again"))
	t.closed, errs[3] = m.Int64Counter(metricClosed, metric.WithDescription("runs closed by this node"))
	t.runTime, errs[4] = m.Float64Histogram(metricRunTime, inSeconds, metric.WithUnit("s"), metric.WithDescription("from start to end of a run"))
	t.replayed, errs[5] = m.Int64Counter(metricReplayed, metric.WithDescription("events replayed by cold activations"))
	t.blocked, errs[6] = m.Int64Counter(metricBlocked, metric.WithDescription("times a run was blocked"))
	t.dead, errs[7] = m.Int64Counter(metricDeadlocked, metric.WithDescription("times a run was parked whose strands wait for each other"))
	t.running, errs[8] = m.Int64ObservableUpDownCounter(metricRunning, metric.WithDescription("bodies of steps that run on this node"))
	t.live, errs[9] = m.Int64ObservableUpDownCounter(metricLive, metric.WithDescription("runs that this node owns"))
	t.waiting, errs[10] = m.Int64ObservableGauge(metricWaiting,
		metric.WithDescription("due runs that wait because this node is full, 0 while it has room"))
	t.waitTime, errs[11] = m.Float64ObservableGauge(metricWaitTime, metric.WithUnit("s"),
		metric.WithDescription("for how long this node has been full and due runs have waited, 0 while it has room"))
	t.hung, errs[12] = m.Int64UpDownCounter(metricAbandoned,
		metric.WithDescription("bodies of steps that go on although their attempts are over"))
	return t, errors.Join(errs[:]...)
}

// nodeWaiting notes how many due runs wait for a place of this node, and since when some do.
func (t *metrics) nodeWaiting(runs int, since time.Time) { t.crowd.Store(&crowd{runs, since}) }

// watch lets collectors see the state of a node that has joined, until the returned function is
// called. Nobody waits for it yet: what was noted is of an earlier membership, which was lost.
func (t *metrics) watch(live, steps func() int) (stop func(), err error) {
	t.crowd.Store(nil)
	r, err := t.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(t.live, int64(live()))
		o.ObserveInt64(t.running, int64(steps()))
		runs, waited := 0, time.Duration(0)
		if c := t.crowd.Load(); c != nil && c.runs > 0 {
			runs, waited = c.runs, time.Since(c.since)
		}
		o.ObserveInt64(t.waiting, int64(runs))
		o.ObserveFloat64(t.waitTime, waited.Seconds())
		return nil
	}, t.live, t.running, t.waiting, t.waitTime)
	if err != nil {
		return func() {}, err
	}
	return func() { _ = r.Unregister() }, nil // it fails for what is not registered only
}

// step measures an attempt. f is its failure, nil for none.
func (t *metrics) step(run *journal.Run, step string, waited, took time.Duration, f *journal.Failure) {
	outcome := []attribute.KeyValue{
		attribute.String(logkey.Workflow, run.Workflow), attribute.String(logkey.Step, step), attribute.String(logkey.Outcome, "ok"),
	}
	t.stepWait.Record(context.Background(), waited.Seconds(), metric.WithAttributes(outcome[:2]...))
	if f != nil {
		outcome[2] = attribute.String(logkey.Outcome, "failed")
		outcome = append(outcome, attribute.String(logkey.ErrorType, f.Type))
	}
	t.steps.Record(context.Background(), took.Seconds(), metric.WithAttributes(outcome...))
}

// closedRun measures a run that this node has closed.
func (t *metrics) closedRun(run *journal.Run, terminal *journal.Event, status journal.Status) {
	attrs := metric.WithAttributes(
		attribute.String(logkey.Workflow, run.Workflow), attribute.String(logkey.Status, status.String()))
	t.closed.Add(context.Background(), 1, attrs)
	t.runTime.Record(context.Background(), terminal.Time.Sub(run.StartAt).Seconds(), attrs)
}

// Observe returns an Observer for journal.Options that measures the store: the duration of calls in
// seconds, the members of batches, and errors, of whole calls and of members alike, each by verb.
// Its errors are those of mp's instruments. A nil mp measures nothing.
func Observe(mp metric.MeterProvider) (journal.Observer, error) {
	m := meter(mp)
	took, err1 := m.Float64Histogram(metricCalls, inSeconds, metric.WithUnit("s"), metric.WithDescription("calls of the store"))
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
