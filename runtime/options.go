package runtime

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// NodeOptions of a node. The zero value means the defaults, and so does each zero field. Durations
// below zero and numbers below one count as zero.
type NodeOptions struct {
	// Name of the node for people, in logs and in the list of nodes; default host name and process
	// id. It need not be unique.
	Name string

	// Lease is how long the other nodes believe that this one lives without hearing from it;
	// default 10 s, at least 500 ms and at most an hour. A node that cannot reach the store for so
	// long stops executing, and its runs go to others. A process that dies is noticed earlier, in
	// about a second, where the store can tell.
	Lease time.Duration
	// Grace is how long the node may go without an answer from the store before it interrupts its
	// steps, and how long the others wait before they take its runs when all its sessions are gone
	// from the server, however long its lease lasts; default 800 ms, at least 100 ms and at most
	// Lease.
	//
	// Whatever the value, a step that was interrupted has ended on this node before it begins on
	// another one, as long as the process runs: the node counts from its last answer, and the
	// others from when they saw that no session was left, which is later. What can overlap is a
	// process that was frozen, or whose timers are late by more than an eighth of Grace; with 800
	// ms that is 100 ms, with 100 ms it is 12 ms, which a busy machine can exceed. A small value
	// hands the runs of a dead process over sooner, and a pause of the server or the network, a
	// fail-over for example, interrupts steps sooner. With Grace as long as Lease it is the lease
	// alone that counts, in effect.
	//
	// It matters only where the store sees the sessions of nodes, which is Postgres without a
	// transaction pooler, and only while there are other nodes.
	Grace time.Duration
	// Poll is how late a task or a result is found whose hint was lost; default 1.5 s.
	Poll time.Duration
	// Drain is how long running steps may continue after shutdown begins, before their contexts are
	// cancelled; default 10 s. A step that then returns late is executed again by another node.
	Drain time.Duration

	// LiveMax is how many runs the node owns at once, not counting parked ones; default 2000. While
	// it owns as many and others wait, a run that has had its place for a second gives it back
	// between two steps, and one that is about to repeat a failed step does so at once.
	LiveMax int
	// StepsMax is how many step bodies run at once; default 1000. Further steps wait for their
	// turn: see StartOptions.Priority. The node takes no more runs than it has slots for, and a few
	// more if slots become free often; the others stay in the queue, for nodes that have room. A
	// run whose steps have waited for a second goes back to the queue as well. Bodies that go on
	// after their attempt is over, because they ignore their context, do not count after two
	// seconds, up to twice as many; a quarter as many of one step keep it from beginning more.
	StepsMax int
	// WarmMax is how many parked runs are kept in memory, a few kilobytes each, so that they need
	// not be replayed when they continue; default 10,000. WarmIdle is for how long; default a
	// minute.
	WarmMax  int
	WarmIdle time.Duration
	// Lanes is how many batches of commits may be in flight at once; default 2. More lanes need
	// more connections, and make the batches smaller.
	Lanes int

	// QueueLimits are what each run in a queue holds from its first turn until it closes, by the
	// queue's name, whatever its workflow: see HandleOptions.Limits, which come before them where
	// both name one limit. Each node that serves the queue must be given the same. The runtime's
	// own workflows, whose names begin with reprise., hold none of them. Default none.
	QueueLimits map[string][]journal.LimitNeed

	// HistoryHint and HistoryHintBytes say at which length of its history
	// workflow.Context.ShouldContinue tells a run to continue as new: so many events, or so many
	// bytes of payloads; default 4096 and 4 MiB.
	HistoryHint      int
	HistoryHintBytes int
	// HistoryMax is how many events a history may have; default 50,000. A run that goes beyond is
	// blocked, with this as its problem: raise the limit to let it continue.
	HistoryMax int

	// StuckAfter is how long workflow code may compute without awaiting before the node logs its
	// stack; default 2 s. The run is not interrupted, and other runs go on. It holds for the code
	// that queries execute too.
	StuckAfter time.Duration
	// PassivateAlways drops every run from memory after every commit and replays it: slow, for
	// tests. The environment variable REPRISE_TEST_PASSIVATE=always does the same.
	PassivateAlways bool
	// Interceptors are around all workflows that are registered with the node, around the bodies of
	// its steps, and around the calls of its client and its queries; the first one is outermost.
	Interceptors []Interceptor
	// Intercept is called in place of every step's body, for tests. It gets the step's context,
	// from which workflow.StepInfo tells which step it is, the value of the transaction of a
	// StepTx, else nil, and the body. It may call the body, change its outcome, or do something
	// else. To the Interceptors it is the body: they are around it. nil for none.
	Intercept func(ctx context.Context, tx any, body replay.Body) (journal.Payload, error)

	// Logger gets what the node and workflow code log; default slog.Default().
	Logger *slog.Logger
	// TracerProvider gets spans of starts, signals, updates, queries, attempts of steps, and whole
	// runs, when they end; nil for no traces.
	TracerProvider trace.TracerProvider
	// MeterProvider gets the node's metrics; nil for none. Those of the store's calls are made by
	// [Observe].
	MeterProvider metric.MeterProvider
}

// withDefaults returns a copy. What concerns runs in memory has its defaults in package actor,
// where the limits are.
func (o *NodeOptions) withDefaults() NodeOptions {
	var c NodeOptions
	if o != nil {
		c = *o
	}
	if c.Name == "" {
		c.Name = defaultName()
	}
	if c.Lease <= 0 {
		c.Lease = leaseDefault
	}
	c.Lease = min(max(c.Lease, leaseMin), leaseMax)
	if c.Grace <= 0 {
		c.Grace = graceDefault
	}
	c.Grace = min(max(c.Grace, graceMin), c.Lease)
	if c.Poll <= 0 {
		c.Poll = pollDefault
	}
	if c.Drain <= 0 {
		c.Drain = drainDefault
	}
	if c.LiveMax <= 0 {
		c.LiveMax = liveMaxDefault
	}
	if c.Lanes <= 0 {
		c.Lanes = lanesDefault
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	c.Interceptors = slices.Clone(c.Interceptors)
	// One switch puts every test into the mode that proves replay faithful.
	if os.Getenv("REPRISE_TEST_PASSIVATE") == "always" {
		c.PassivateAlways = true
	}
	return c
}

func defaultName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}

func (o *NodeOptions) thresholds() replay.Thresholds {
	return replay.Thresholds{Events: o.HistoryHint, Bytes: o.HistoryHintBytes}
}

// ClientOptions of a client without a node. The zero value means the defaults.
type ClientOptions struct {
	Poll           time.Duration        // how late a result is found whose hint was lost; default 1.5 s
	Logger         *slog.Logger         // default slog.Default()
	TracerProvider trace.TracerProvider // gets spans of starts, signals and updates; nil for no traces
	// Actor is who uses the client, for the audit, unless a call's context says it: see
	// [WithActor]. Default the user of the process and its host; a node's client has the default.
	Actor string
	// Interceptors are around the client's calls; the first one is outermost. Their parts for
	// workflows and steps mean nothing here.
	Interceptors []Interceptor
}

func (o *ClientOptions) withDefaults() ClientOptions {
	var c ClientOptions
	if o != nil {
		c = *o
	}
	if c.Poll <= 0 {
		c.Poll = pollDefault
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}
