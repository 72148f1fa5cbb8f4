package replay

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Decision is what a turn asked for since the last Take: the caller makes it durable, then lets the
// outside see it.
type Decision struct {
	Steps       []Step        // to be executed
	CancelSteps []journal.Cmd // whose context is to be cancelled; each still ends with an outcome event, if not in DropSteps
	DropSteps   []journal.Cmd // nobody waits for their outcome any more: it becomes no event
	// What the turn does to others, see journal.Commit.
	Starts   []journal.Start
	Messages []journal.Message
	Replies  []journal.Reply
	// OnlySteps tells that the code asked for nothing but steps: see "turn" in the package story.
	OnlySteps bool
	Terminal  *journal.Event    // closes the run, or its generation; Seq and Time are the caller's to set. Nil while it is open.
	Children  bool              // with a Terminal: the run may have open children
	Continue  *journal.Continue // with a Terminal that is RunContinued: the next generation
}

// Step is a step without an outcome.
type Step struct {
	Cmd       journal.Cmd
	Name      string
	IssuedAt  time.Time    // workflow time at which the code asked for it: overall timeouts count from here
	Cancelled bool         // its scope was cancelled
	Options   *StepOptions // not to be changed
	// Body runs the user's function and encodes its output. It is called on any goroutine, never by the machine.
	// tx is the value of the step's transaction if Options.Tx, else nil.
	Body func(ctx context.Context, tx any) (journal.Payload, error)
}

// StepOptions says how a step is executed. The values are complete: the authoring API fills defaults.
type StepOptions struct {
	Retry     RetryPolicy
	Attempt   time.Duration // time limit of one attempt; 0 for none
	Overall   time.Duration // time limit from IssuedAt over all attempts and waits; 0 for none
	Heartbeat time.Duration // longest silence of an attempt; 0 for none
	Tx        bool          // the body runs in a transaction that commits together with the outcome
	OnCancel  CancelMode
}

// CancelMode says what the cancellation of a step or a child means for who waits for it.
type CancelMode uint8

// The modes.
const (
	WaitOutcome CancelMode = iota // it is asked to stop, and its outcome is waited for
	TryCancel                     // it is asked to stop, and counts as cancelled at once
	Abandon                       // it is not asked, and counts as cancelled at once
)

// RetryPolicy says when a failed attempt is repeated: after Initial·Factor^(n-1), at most Max, after the
// n-th failure, spread by ±Jitter of itself.
type RetryPolicy struct {
	Initial  time.Duration
	Factor   float64
	Max      time.Duration
	Jitter   float64 // 0 to 1
	Attempts int32   // in all, with the first; 0 for no limit
}

// Timer is an armed timer.
type Timer struct {
	Cmd  journal.Cmd
	Name string
	Due  time.Time
}

// Info is the identity of the run that a machine replays.
type Info struct {
	Run        journal.RunID
	Key        string
	Workflow   string
	Version    int32
	Queue      string
	Labels     map[string]string
	Generation journal.Generation
	Input      journal.Payload
	Parent     *journal.Parent  // nil if no run waits for this one
	InboxSeen  journal.InboxSeq // newest message that the generation before had consumed
}

// InfoOf returns the identity of a run's present generation.
func InfoOf(run *journal.Run) Info {
	i := Info{
		Run: run.ID, Key: run.Key, Workflow: run.Workflow, Version: run.Version, Queue: run.Queue, Labels: run.Labels,
		Generation: run.Generation, Input: run.Input, Parent: run.Parent,
	}
	if run.Continued != nil {
		i.InboxSeen = run.Continued.Seen
	}
	return i
}

// Encoder turns values into payloads within the limits, and back; *journal.Journal is one.
type Encoder interface {
	Encode(what string, v any) (journal.Payload, error)
	Codec() journal.Codec
}

// StepContext is what a step's body can learn about itself; the executor puts it into the body's context.
type StepContext struct {
	*Info
	Cmd           journal.Cmd
	Step          string
	Attempt       int32            // from 1
	LastHeartbeat *journal.Payload // details of the last heartbeat of the attempt before; nil for none
	Heartbeat     func(details journal.Payload)
	Encoder       Encoder
}

// IdempotencyKey is the same for every attempt of this step, on every node.
func (sc *StepContext) IdempotencyKey() string {
	return fmt.Sprintf("%s/%d/%d", sc.Run, sc.Generation, sc.Cmd)
}

type stepContextKey struct{}

// WithStepContext returns ctx with sc in it.
func WithStepContext(ctx context.Context, sc *StepContext) context.Context {
	return context.WithValue(ctx, stepContextKey{}, sc)
}

// StepContextFrom returns what WithStepContext put in, or nil outside of a step.
func StepContextFrom(ctx context.Context) *StepContext {
	sc, _ := ctx.Value(stepContextKey{}).(*StepContext)
	return sc
}
