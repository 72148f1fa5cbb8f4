package actor

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// Store is what runs need of the journal. None of its calls may block the caller but Begin, which only
// step goroutines use.
type Store interface {
	replay.Encoder
	// Now estimates the store's clock (J9).
	Now() time.Time
	// Submit writes a commit with others of its time and calls done once the outcome is known. The commits of one
	// run keep their order. done runs on any goroutine and must be quick.
	Submit(c journal.Commit, done func(journal.Outcome))
	// Load reads a history with others of its time.
	Load(r journal.LoadRequest, done func(journal.History, error))
	// Begin opens a transaction for a step.
	Begin(ctx context.Context) (journal.Tx, error)
}

// Options of a System. Node, Store and Lookup are required.
type Options struct {
	Node   journal.NodeID
	Store  Store
	Lookup func(workflow string, version int32) *replay.Definition

	StepsMax   int           // step bodies that run at once; default 1000
	WarmMax    int           // parked runs kept in memory; default 10,000
	WarmIdle   time.Duration // how long; default 1 minute
	StuckAfter time.Duration // report workflow code that does not await for so long; default 2 s
	// Thresholds say when workflow code is told that its history is long; zero fields mean the machine's defaults.
	Thresholds replay.Thresholds
	HistoryMax int // events of a generation before the run is blocked; default 50,000
	// PassivateAlways drops and replays a run after every commit. Slow; it proves that replay is faithful.
	PassivateAlways bool
	// Intercept is called in place of every step's body, and is given the body; nil for none.
	Intercept func(ctx context.Context, tx any, body replay.Body) (journal.Payload, error)

	Hooks Hooks
}

// Hooks tell the owner of a System what happens. Any may be nil. They run on actors, so they must be quick.
type Hooks struct {
	// Released is called when a run stops being live here, whatever the reason.
	Released func()
	// Replayed reports a cold activation.
	Replayed func(run journal.RunID, events int, took time.Duration)
	// Step wraps one attempt of a step: it may derive a context, and is told the end.
	Step func(ctx context.Context, run *journal.Run, sc *replay.StepContext) (context.Context, func(*journal.Failure))
	// Retry reports a failed attempt that will be repeated.
	Retry func(run *journal.Run, step string, attempt int32, in time.Duration, f *journal.Failure)
	// Closed reports a run that this node closed.
	Closed func(run *journal.Run, terminal *journal.Event)
	// Blocked reports a run that cannot go on, with the stack if its code panicked.
	Blocked func(run *journal.Run, problem, stack string, retryIn time.Duration)
	// Lost reports a run that somebody else owns now.
	Lost func(run *journal.Run, err error)
	// Stuck reports workflow code that does not await, with the stacks of its strands.
	Stuck func(run *journal.Run, after time.Duration, stack string)
	// Deadlocked reports a run whose strands wait for nothing but each other, each time it is parked.
	Deadlocked func(run *journal.Run, lines []string)
	// Log takes what workflow code logs, but for what it logs while history is replayed. Levels are those of log/slog.
	Log func(run *journal.Run, level int, msg string, args []any)
}

func (o Options) withDefaults() Options {
	if o.StepsMax <= 0 {
		o.StepsMax = stepsMaxDefault
	}
	if o.WarmMax <= 0 {
		o.WarmMax = warmMaxDefault
	}
	if o.WarmIdle <= 0 {
		o.WarmIdle = warmIdleDefault
	}
	if o.HistoryMax <= 0 {
		o.HistoryMax = historyMaxDefault
	}
	if o.StuckAfter <= 0 {
		o.StuckAfter = stuckAfterDefault
	}
	return o
}
