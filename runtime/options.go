package runtime

import (
	"context"
	"log/slog"
	"os"
	"time"

	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// NodeOptions of a node. The zero value means the defaults.
type NodeOptions struct {
	Name string // for people; default host name and process id

	Lease time.Duration // default 10 s
	Poll  time.Duration // how late a task or a result is found whose hint was lost; default 1.5 s
	Drain time.Duration // how long steps may go on after the end was asked for; default 10 s

	LiveMax  int // runs owned at once; default 2000
	StepsMax int // step bodies that run at once; default 1000
	WarmMax  int // parked runs kept in memory; default 10,000
	WarmIdle time.Duration
	Lanes    int // batches of commits in flight; default 2

	// HistoryHint and HistoryHintBytes say from which length of its history on a run is told to continue as new, by
	// workflow.Context.ShouldContinue: so many events, or so many bytes of payloads; default 4096 and 4 MiB.
	HistoryHint      int
	HistoryHintBytes int
	// HistoryMax is the most events that a history may have. A run that goes on is blocked then, and says so; default 50,000.
	HistoryMax int

	StuckAfter time.Duration // report workflow code that does not await for so long; default 2 s
	// PassivateAlways drops and replays every run after every commit: slow, for tests.
	PassivateAlways bool
	// Intercept is called in place of the body of every step, whose context it gets, and is given the body: it may call it,
	// change its outcome, or do something else, as tests do. workflow.StepInfo tells which step it is. tx is the value of the
	// transaction of a StepTx, else nil.
	Intercept func(ctx context.Context, tx any, body replay.Body) (journal.Payload, error)

	Logger         *slog.Logger         // default slog.Default()
	TracerProvider trace.TracerProvider // nil: no traces
	MeterProvider  metric.MeterProvider // nil: no metrics
}

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
	// One switch puts every test into the mode that proves replay faithful.
	if os.Getenv("REPRISE_TEST_PASSIVATE") == "always" {
		c.PassivateAlways = true
	}
	return c
}

func (o *NodeOptions) thresholds() replay.Thresholds {
	return replay.Thresholds{Events: o.HistoryHint, Bytes: o.HistoryHintBytes}
}

// ClientOptions of a client without a node.
type ClientOptions struct {
	Poll           time.Duration // how late a result is found whose hint was lost; default 1.5 s
	Logger         *slog.Logger
	TracerProvider trace.TracerProvider
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
