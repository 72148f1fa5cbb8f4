package actor

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/replay"
)

// Hooks report what happens in a System. Any may be nil. All but Room, Step, Stuck, LeftBehind and
// those that say otherwise run in the mailbox of a run, so they must be quick and must not block; a
// panic of theirs counts as a failure of the engine and blocks the run. What run points to must not
// be changed and may be kept.
type Hooks struct {
	// Owns is called when a run becomes live here, before anything of it is executed.
	Owns func()
	// Released is called when a run stops being live here, for whatever reason.
	Released func()
	// Room is called when System.Room may have become more. It may be called by any goroutine of
	// the system, and often.
	Room func()
	// Acquitted is called when a suspect has committed, see driver.SuspectStrikes.
	Acquitted func(run journal.RunID)
	// Replayed reports a cold activation.
	Replayed func(run journal.RunID, events int, took time.Duration)
	// Step wraps one attempt of a step, on the worker that executes it: it may derive a context,
	// and its second result is called with the attempt's failure, nil for none, when the attempt
	// has ended. waited is from when the attempt was due until its body begins: for a slot, and for
	// the step's transaction.
	Step func(ctx context.Context, run *journal.Run, sc *replay.StepContext, waited time.Duration) (context.Context, func(*journal.Failure))
	// Trace returns the traceparent for what the run starts. nil means that of its own start.
	Trace func(run *journal.Run) string
	// TxWaits reports a step whose transaction has not begun after a while. The run waits as long
	// as it takes. It may be called by any goroutine of the system.
	TxWaits func(run *journal.Run, step string, after time.Duration)
	// Retry reports a failed attempt that will be repeated.
	Retry func(run *journal.Run, step string, attempt int32, in time.Duration, f *journal.Failure)
	// Panicked reports a step that has failed for good because its body panicked, with the number
	// of its attempts. Panics that are followed by another attempt come with Retry.
	Panicked func(run *journal.Run, step string, attempts int32, f *journal.Failure)
	// Exhausted reports a step that may not be tried again, with the number of its attempts and its
	// last failure. Its run is being paused.
	Exhausted func(run *journal.Run, step string, attempts int32, f *journal.Failure)
	// BodyAbandoned reports that a body goes on although its attempt is over, by 1, or that such a
	// body has returned, by -1. It may be called by any goroutine of the system.
	BodyAbandoned func(run *journal.Run, step string, change int)
	// BodyHangs reports such a body, once a minute for each step. It may be called by any goroutine
	// of the system.
	BodyHangs func(h *Hang)
	// Full reports a run with so many steps in retry that the journal keeps no attempts of more
	// steps, and how many wait until one of those has ended.
	Full func(run *journal.Run, waiting, retries int)
	// Closed reports a run that this node closed.
	Closed func(run *journal.Run, terminal *journal.Event)
	// Blocked reports a run that cannot continue, with the stack if its code panicked. It is called
	// again, without the stack, when the commit that blocks the run has to be repeated.
	Blocked func(run *journal.Run, problem, stack string, retryIn time.Duration)
	// Lost reports a run that this node has given up, and why: another node owns it, it was closed
	// or deleted by somebody else, or the store has it in another state.
	Lost func(run *journal.Run, err error)
	// Stray reports a task that the store says this node owns, and that is not live here in the
	// state that the store has: it should be released. See System.Compare. It may be called by any
	// goroutine of the system.
	Stray func(h driver.Holding)
	// Stuck reports workflow code that does not await, with the stacks of its strands.
	Stuck func(run *journal.Run, after time.Duration, stack string)
	// LeftBehind reports the runs whose code did not await when the system ended. Their goroutines
	// go on. It is called by Kill.
	LeftBehind func(runs []*journal.Run)
	// Deadlocked reports a run whose strands wait for nothing but each other, each time it is
	// parked.
	Deadlocked func(run *journal.Run, lines []string)
	// Elsewhere reports the route of a run whose next generation has a version without code here.
	Elsewhere func(journal.Route)
	// SetAside reports a signal that the code was about to receive and that does not decode. It is
	// reported again if its turn is taken again, because the node or the commit was lost.
	SetAside func(run *journal.Run, signal *replay.SetAside)
	// Log takes what workflow code logs, except what it logs while history is replayed. Levels are
	// those of log/slog.
	Log func(run *journal.Run, level int, msg string, args []any)
}

// Hang is a body that goes on although its attempt is over.
type Hang struct {
	Run     *journal.Run
	Step    string
	Attempt int32
	Bodies  int    // all that its step has here, with this one
	Kept    bool   // it keeps its slot, because too many have been given to others
	At      string // the line of user code where it stands; empty without a stack
	Stack   string // empty if one was taken of another body a moment ago
}
