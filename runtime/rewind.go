package runtime

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// RetryOptions of a retry. The zero value means the defaults.
type RetryOptions struct {
	Reason string // for the audit; it may be any text
	// Again retries also if other steps have completed since the failure: compensations, above all.
	// They are no part of the history that the run goes on with, what they did is not undone, and
	// the code asks for them again if it comes there again. Steps that were asked for before the
	// failure then run again too.
	Again  bool
	DryRun bool // only say what a retry would do
}

// ResetOptions of a reset. The zero value means the defaults, but needs Proof or Unproven.
type ResetOptions struct {
	Reason string // for the audit; it may be any text
	// Proof is a node that has the run's code; it need not run. Before anything is changed it
	// replays the events that are kept, and a reset that does not fit is refused with both sides.
	Proof *Node
	// Unproven resets without a proof. The run blocks if its code does not fit. Nothing needs a
	// proof that keeps no event.
	Unproven bool
	// NoMessages leaves out the signals and updates that the kept events have not consumed, but for
	// those named in Messages. Without it all of them come again. Answers of children always do,
	// and a request to cancel never does. An update that is left out is answered with an error that
	// matches [ErrAborted], unless it was answered before.
	NoMessages bool
	Messages   []string
	// KeepChildren leaves children alone that were started behind the point, those of all
	// generations for [RunStart]. Else those that are open get a request to cancel, unless they
	// were started to outlive their parent.
	KeepChildren bool
	// Input and Version replace those of a run that begins anew ([RunStart], [GenerationStart]).
	Input   any
	Version int32
	DryRun  bool // only say what a reset would do
}

// Rewinding is what a retry or reset has done, or would do.
type Rewinding struct {
	Run        journal.RunID
	Generation journal.Generation // that goes back; the next one goes on
	Kept       journal.Seq        // how many of its events are kept
	Steps      []RepeatedStep     // that have ended behind them
	Replaced   []ReplacedStep     // that have another result, of an edit or a fork; by their events
	Children   []*Rewinding       // that go on with the run: see Client.Retry
	// Messages are, after a dry run, those of the run, and what becomes of each; by their numbers.
	// MoreMessages says that there are more: messages that are not consumed, behind 10,000, or of
	// the first generations, if a run begins anew that has more than 100.
	Messages     []RewoundMessage
	MoreMessages bool
}

// ReplacedStep is a step that an operator has given another result.
type ReplacedStep struct {
	Name     string
	Seq      journal.Seq // of its outcome; 0 if it had none
	Was, New journal.Payload
	Failed   bool // whether Was is a failure
}

// RepeatedStep is a step whose outcome is not kept.
type RepeatedStep struct {
	Name     string
	Seq      journal.Seq     // of its outcome
	Attempts int32           // that it took
	Outcome  journal.Payload // its output, or its failure
	Failed   bool
	// Certain says that the kept events have asked for the step, so it runs again. Else it does if
	// the code asks for it again.
	Certain bool
	// Carried says that the step keeps its output, and does not run again: see [Client.Retry].
	Carried bool
}

// Retry makes a run go on that has failed, from before the step or child that it failed by: with
// its id, its key, its messages and its children, as its next generation (J13). The step runs
// again, with all its attempts and the idempotency key that it had. A run that was cancelled goes
// on from before the request, and one that was terminated from where it stood. No node needs to
// have the code: replay does not depend on what came later. What came later stays readable in the
// store.
//
// Children go on with it, and before it: the one that the run failed by is retried, and so are
// those that its end has cancelled or terminated. If one of them is refused, nothing is changed.
// Children that ended meanwhile otherwise answer now. A parent that waited for the run keeps the
// outcome that it has heard, unless it goes back to before that: then the run's newest outcome
// counts.
//
// Steps that were asked for before the failure and have completed since keep their results: the
// others of a fan-out. In the history that the run goes on with they have attempt 0, like results
// that are given by [EditStep].
//
// A retry is refused if the time of the run is up, if no step or child is why it failed, and if
// other steps have completed since the failure, unless o says otherwise: a *[PointError].
// [Client.Reset] goes back to other points. o may be nil.
//
// Errors: journal.ErrNotFound; journal.ErrOpen; a *journal.KeyConflictError if another run has the
// key by now; a *journal.UnreadableError if the history cannot be read; ctx's.
func (c *Client) Retry(ctx context.Context, run journal.RunID, o *RetryOptions) (*Rewinding, error) {
	if o == nil {
		o = &RetryOptions{}
	}
	call := Call{Kind: RetryCall, Run: run, Payload: o.Reason}
	plan := func(ctx context.Context) (*plan, error) { return retryPlan(ctx, c, run, o.Again, o.DryRun) }
	return rewind(ctx, c, call, driver.AdminAction{Kind: driver.AdminRetry, Reason: o.Reason}, plan, o.DryRun)
}

// Reset makes a run go on from an earlier point of its present generation, whether it is open or
// closed, as its next generation (J13). What came after the point stays readable in the store;
// steps that ended there run again if the code asks for them, with new idempotency keys. It is a
// way out for runs that are blocked or quarantined; a paused run stays paused. A node that has the
// run loses it: contexts of its steps end as by [Client.Terminate].
//
// A result that a step was given ([EditStep]), and that a paused run has not taken yet, is gone,
// and the step runs: a reset is the way to take such a result back. A fork and later edits keep it.
//
// Children that were started before the point go on: those that what came later, or the end of the
// run, has cancelled or terminated are retried first. A run that begins anew before the time of its
// start waits for that.
//
// Labels, published values and replies are not taken back, except that updates which come again are
// answered again. The time of the run goes on from its start.
//
// Errors: journal.ErrNotFound; a *[PointError] if there is no such point; a
// *replay.DivergenceError, with both sides, if the kept events do not fit the code of o.Proof; a
// *journal.KeyConflictError if the run is closed and another one has its key by now;
// journal.ErrInvalid for options that do not fit; a *journal.UnreadableError if the history cannot
// be read; ctx's.
func (c *Client) Reset(ctx context.Context, run journal.RunID, to Point, o *ResetOptions) (*Rewinding, error) {
	if o == nil {
		o = &ResetOptions{}
	}
	if err := o.check(to); err != nil {
		return nil, fmt.Errorf("reset run %s: %w", run, err)
	}
	call := Call{Kind: ResetCall, Run: run, Payload: o.Reason}
	plan := func(ctx context.Context) (*plan, error) { return resetPlan(ctx, c, run, to, o) }
	return rewind(ctx, c, call, driver.AdminAction{Kind: driver.AdminReset, Reason: o.Reason}, plan, o.DryRun)
}

func (o *ResetOptions) check(to Point) error {
	if err := to.Check(); err != nil {
		return err
	}
	anew := to == RunStart || to == GenerationStart
	switch {
	case !anew && (o.Input != nil || o.Version != 0):
		return fmt.Errorf("another input or version, with events that are kept: %w", journal.ErrInvalid)
	case o.Version < 0:
		return fmt.Errorf("version %d: %w", o.Version, journal.ErrInvalid)
	case len(o.Messages) > 0 && !o.NoMessages:
		return fmt.Errorf("messages are named that come again, and so do all others: set NoMessages to leave these out: %w", journal.ErrInvalid)
	case to == LatestFit && o.Proof == nil:
		return fmt.Errorf("the latest events that fit need a node with the code, as Proof: %w", journal.ErrInvalid)
	case !anew && o.Proof == nil && !o.Unproven:
		return fmt.Errorf("%w: %w", ErrUnproven, journal.ErrInvalid)
	}
	return nil
}

// resetPlan chooses the point, and proves it.
func resetPlan(ctx context.Context, c *Client, run journal.RunID, to Point, o *ResetOptions) (*plan, error) {
	h, err := rewindable(ctx, c, run, o.DryRun)
	if err != nil {
		return nil, err
	}
	seq, err := pointOf(ctx, c, h, to, o.Proof)
	if err != nil {
		return nil, err
	}
	p := newPlan(h, seq, true)
	p.retries, p.names = to == BeforeFailure, o.DryRun
	p.w.KeepChildren, p.w.Messages = o.KeepChildren, driver.Again{None: o.NoMessages, Names: o.Messages}
	if err := p.anew(c, to, o); err != nil {
		return nil, err
	}
	if o.Proof != nil {
		return p, p.prove(ctx, o.Proof)
	}
	return p, nil
}
