package workflow

import (
	"fmt"
	"maps"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// RunID is the id of a run: 16 bytes, written as a UUID.
type RunID = journal.RunID

// ChildOptions says how a child is started. Nil and zero fields mean the defaults.
type ChildOptions struct {
	// Key is the child's own name, for idempotent starts; empty for none. It is UTF-8 of at most
	// 512 bytes without control characters, and does not begin with ~.
	Key      string
	Reuse    Reuse  // what happens if a closed run has the key; default ReuseReject: the call fails with ErrKeyExists
	Queue    string // default: the parent's
	Version  int32  // of the workflow; default 1
	Priority int16  // 1 is first, 5 last; default 3
	Labels   map[string]string
	Delay    time.Duration // until the child may begin
	// Headers go to the child with those of its parent, which it inherits, and stand for those of
	// the same name.
	Headers map[string]string
	// Timeout is how long the child may take, counted from when it may begin; default as long as it
	// takes. What happens then: see runtime.StartOptions. It ends the child, whatever becomes of
	// the call; [WithTimeout] ends the call.
	Timeout time.Duration
	// OnFailure is the workflow that is started if the child fails, with a [FailedRun].
	OnFailure string
	// Limits are what the child holds from its first turn until it closes: see
	// runtime.StartOptions.Limits. The call waits for it as for any child.
	Limits []StepLimit
	// BeyondBacklog is for a child that must come to be, and whose outcome nobody waits for: no
	// limit that is full refuses it or cancels it, whether Limits names that or its workflow
	// needs it. It waits beyond journal.Limit.MaxBacklog.
	BeyondBacklog bool
	// OnParentClose says what becomes of the child if it is open when the parent closes, however
	// that closes. Continue-as-new does not close the parent. Default CloseCancel. A child that
	// must also survive the cancellation of its parent's scope needs OnCancel Abandon, or a
	// [Shield].
	OnParentClose ClosePolicy
	OnCancel      CancelMode // what the cancellation of the scope means; default WaitOutcome
}

// ClosePolicy says what becomes of an open child when its parent closes.
type ClosePolicy = journal.ClosePolicy

// The close policies.
const (
	CloseCancel    = journal.CloseCancel    // the child gets a cancel request
	CloseTerminate = journal.CloseTerminate // the child is closed without running its code; its own children follow their OnParentClose
	CloseAbandon   = journal.CloseAbandon   // the child runs on
)

// Reuse says what a start does when its key belongs to a closed run. The key of an open run is
// never free.
type Reuse = journal.Reuse

// The reuse policies.
const (
	ReuseReject        = journal.ReuseReject
	ReuseAllow         = journal.ReuseAllow
	ReuseAllowIfFailed = journal.ReuseAllowIfFailed
)

// Call runs another workflow as a child and returns its output. The child starts in the same
// commit as everything else that this turn decides, on any node that serves its queue. o may be
// nil.
//
// If the scope is cancelled, also by the end of a [WithTimeout], the child gets a cancel request
// and its outcome is waited for, unless o.OnCancel says otherwise. A child that no node serves has
// no outcome until one does: with [TryCancel] nobody waits for it.
//
// Errors: a [*ChildError] if the child does not complete, which may match [ErrCancelled],
// [ErrTimeout], [ErrTerminated], if another run has its key [ErrKeyExists], or if a limit that it
// needs is full [ErrLimitFull]; the scope's, if it was cancelled before; an invalid option, or an
// input that cannot be encoded or is too large.
func Call[In, Out any](ctx Context, name Name[In, Out], in In, o *ChildOptions) (Out, error) {
	c, err := issueChild(ctx, name, in, o)
	return await[Out](ctx, c, err)
}

// CallAsync is Call without waiting: the child runs while the workflow goes on. What Call
// returns, [Future.Get] of the Child does.
func CallAsync[In, Out any](ctx Context, name Name[In, Out], in In, o *ChildOptions) Child[Out] {
	c, err := issueChild(ctx, name, in, o)
	return Child[Out]{issued[Out](c, err), c}
}

// Child is a child that was asked for: the future of its outcome, and a way to reach it. Send
// signals to its ID. Copies are the same child.
type Child[Out any] struct {
	Future[Out]
	cmd *replay.Command // nil if it was refused
}

// ID is the child's run. It is the zero RunID if no child was asked for, because its options are
// invalid or the scope was cancelled.
func (c Child[Out]) ID() RunID {
	if c.cmd == nil {
		return RunID{}
	}
	return c.cmd.Run()
}

// Cancel sends the child a cancel request, as the cancellation of its scope does. It reports
// whether the child was open and had not been cancelled before; else it does nothing.
func (c Child[Out]) Cancel() bool {
	if c.cmd == nil {
		return false
	}
	mustBeInside(c.cmd.Env())
	return c.cmd.Cancel()
}

func issueChild[In, Out any](ctx Context, name Name[In, Out], in In, o *ChildOptions) (*replay.Command, error) {
	e, err := ctx.inside()
	if err != nil {
		return nil, err
	}
	if o == nil {
		o = &ChildOptions{}
	}
	if o.OnCancel > Abandon {
		return nil, invalid("child %q: option OnCancel is %d: it must be one of the CancelMode constants", string(name), o.OnCancel)
	}
	if o.OnParentClose < CloseCancel || o.OnParentClose > CloseAbandon {
		return nil, invalid("child %q: option OnParentClose is %d: it must be one of the ClosePolicy constants",
			string(name), o.OnParentClose)
	}
	st := journal.Start{
		ID: RunID{1}, Key: o.Key, Reuse: o.Reuse, Workflow: string(name), Version: o.Version, Queue: o.Queue, Priority: o.Priority,
		Labels: maps.Clone(o.Labels), Delay: o.Delay, Timeout: o.Timeout, OnFailure: o.OnFailure, // the machine sets the id
		Headers: inherited(e.Info().Headers, o.Headers), Limits: limitsOf(o.Limits),
		BeyondBacklog: o.BeyondBacklog,
	}
	if st.Queue == "" {
		st.Queue = e.Info().Queue
	}
	st.SetDefaults()
	if err := journal.CheckStart(&st); err != nil {
		return nil, fmt.Errorf("child %q: %w", string(name), err)
	}
	if st.Input, err = e.Encoder().Encode("input of child "+string(name), in); err != nil {
		return nil, err
	}
	return ctx.scope.Start(st, o.OnParentClose, o.OnCancel), nil
}

// inherited is the headers of a child.
func inherited(parent, own map[string]string) map[string]string {
	if len(parent)+len(own) == 0 {
		return nil
	}
	headers := make(map[string]string, len(parent)+len(own))
	maps.Copy(headers, parent)
	maps.Copy(headers, own)
	return headers
}
