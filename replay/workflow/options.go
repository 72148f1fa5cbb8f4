package workflow

import (
	"math"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// StepOptions says how a step is executed. Nil and zero fields mean the defaults. They are not
// compared on replay, so they may be changed while runs are open.
type StepOptions struct {
	Retry            *RetryPolicy  // default: see RetryPolicy
	AttemptTimeout   time.Duration // time limit of one attempt; 0 for none
	Timeout          time.Duration // time limit over all attempts and the waits between them; 0 for none
	HeartbeatTimeout time.Duration // an attempt fails that does not call Heartbeat for so long; 0 for none
	OnCancel         CancelMode    // default WaitOutcome
	OnExhausted      ExhaustMode   // default FailStep
	// Limits are what each attempt needs before it begins: of limits that are set for all runs and
	// nodes, see [StepLimit].
	Limits []StepLimit
}

// StepLimit names a limit that a step needs, as runtime.SetLimit has set it, the key that it counts
// for, and its cost. An attempt begins when all limits of its step allow it, and holds none of them
// before; the order is in docs/limits.md. It waits as a row of the store, without a goroutine or a
// slot of the node, and the time counts for the step's Timeout. It holds what it has until its body
// has returned; a retry asks again. Nothing of limits is in histories, so they may be changed
// while runs are open. A name that has no limit bounds nothing.
//
// Cost is what the attempt takes of the limit's rate; 0 means 1. A body that learns only later what
// it has used says so with [Settle].
type StepLimit = journal.LimitNeed

// ExhaustMode says what becomes of a step that may not be tried again: it has failed as often as
// Retry.Attempts says, panicked as often as Retry.Panics says, or its Timeout is over. An attempt
// that fails for good ([Permanent]) is an answer and fails the step in either mode, and so is one
// that was cancelled.
type ExhaustMode = replay.ExhaustMode

// The exhaust modes.
const (
	// FailStep gives the code the failure of the last attempt.
	FailStep = replay.FailStep
	// PauseRun pauses the run, as an operator would, so that somebody can mend what the step calls.
	// The code learns nothing of it. A resume gives the step a new set of attempts and its whole
	// Timeout again. While the run is paused, its timers and its own time elapse; other steps that
	// are executed end, and none starts.
	PauseRun = replay.PauseRun
)

// CancelMode says what the cancellation of a step or a child means for who waits for it.
type CancelMode = replay.CancelMode

// The cancel modes.
const (
	// WaitOutcome asks it to stop and waits for its outcome: a saga knows whether it took effect. A
	// step whose node dies meanwhile is not executed again, and may have had an effect although its
	// error says that it was cancelled.
	WaitOutcome = replay.WaitOutcome
	// TryCancel asks it to stop and returns ErrCancelled at once. Whatever it still comes to is not
	// kept.
	TryCancel = replay.TryCancel
	// Abandon returns ErrCancelled at once and lets it go on. Whatever it comes to is not kept; a
	// step is not repeated.
	Abandon = replay.Abandon
)

// RetryPolicy says when a failed attempt is repeated: Initial after the first, then Factor times
// longer each time up to Max, spread by ±Jitter of itself. Zero fields mean the defaults. A
// policy that a deployment changes holds from the next failure on: when the attempt that waits is
// due is stored.
//
// A delay is the least that a retry waits. From a step's fourth retry on it is at least 100 ms, and
// a node begins no more than 500 retries a second of those whose policy says less than a second:
// one run that always fails retries ten times a second however short its delay is, and ten thousand
// such runs every 20 s, instead of taking the whole store for themselves. When more than a thousand
// steps of a node have failed beyond those that have succeeded, it also spaces the first, second
// and third retries of such policies, to 500 a second of each.
//
// An attempt that panics, or ends its goroutine, is a mistake in the program as a rule, and is
// repeated for the one that a deployment or a second try cures. The last that Panics allows fails
// the step for good, whatever Attempts says. Each is in the log with its line and its stack.
type RetryPolicy struct {
	Initial  time.Duration // default 1 s, or Max if that is less
	Factor   float64       // default 2; at least 1
	Max      time.Duration // default 100 s, or Initial if that is more
	Jitter   float64       // default 0.2; at most 1; negative for none
	Attempts int           // in all, with the first; 0 for no limit, 1 for no retry
	Panics   int           // attempts that may panic, in all; default 3; negative for no limit
}

// Defaults of retries.
const (
	retryInitial = time.Second
	retryFactor  = 2
	retryMax     = 100 * time.Second
	retryJitter  = 0.2
	retryPanics  = 3
)

var (
	defaultOptions   = resolved(nil, false)
	defaultTxOptions = resolved(nil, true)
)

// resolve checks the options and fills the defaults.
func (o *StepOptions) resolve(step string, tx bool) (*replay.StepOptions, error) {
	switch {
	case o != nil:
		if err := o.check(step); err != nil {
			return nil, err
		}
		return resolved(o, tx), nil
	case tx:
		return defaultTxOptions, nil
	}
	return defaultOptions, nil
}

func resolved(o *StepOptions, tx bool) *replay.StepOptions {
	if o == nil {
		o = &StepOptions{}
	}
	r := RetryPolicy{}
	if o.Retry != nil {
		r = *o.Retry
	}
	if r.Initial == 0 {
		r.Initial = retryInitial
		if r.Max != 0 {
			r.Initial = min(retryInitial, r.Max)
		}
	}
	if r.Factor == 0 {
		r.Factor = retryFactor
	}
	if r.Max == 0 {
		r.Max = max(retryMax, r.Initial)
	}
	if r.Jitter == 0 {
		r.Jitter = retryJitter
	}
	if r.Panics == 0 {
		r.Panics = retryPanics
	}
	return &replay.StepOptions{
		Retry: replay.RetryPolicy{
			Initial: r.Initial, Factor: r.Factor, Max: r.Max, Jitter: max(r.Jitter, 0),
			Attempts: int32(r.Attempts), Panics: int32(max(r.Panics, 0)),
		},
		Attempt: o.AttemptTimeout, Overall: o.Timeout, Heartbeat: o.HeartbeatTimeout, Tx: tx, OnCancel: o.OnCancel,
		Exhausted: o.OnExhausted, Limits: limitsOf(o.Limits),
	}
}

// limitsOf copies limits that were checked, with their defaults.
func limitsOf(list []StepLimit) []journal.LimitNeed {
	list = slices.Clone(list)
	_ = journal.CheckLimitNeeds(list) // check has refused what is wrong
	return list
}

func (o *StepOptions) check(step string) error {
	refuse := func(field string, v any, want string) error {
		return invalid("step %q: option %s is %v: it must be %s", step, field, v, want)
	}
	switch {
	case o.AttemptTimeout < 0:
		return refuse("AttemptTimeout", o.AttemptTimeout, "positive, or 0 for none")
	case o.Timeout < 0:
		return refuse("Timeout", o.Timeout, "positive, or 0 for none")
	case o.OnCancel > Abandon:
		return refuse("OnCancel", o.OnCancel, "one of the CancelMode constants")
	case o.OnExhausted > PauseRun:
		return refuse("OnExhausted", o.OnExhausted, "one of the ExhaustMode constants")
	case o.HeartbeatTimeout < 0:
		return refuse("HeartbeatTimeout", o.HeartbeatTimeout, "positive, or 0 for none")
	}
	if err := journal.CheckLimitNeeds(slices.Clone(o.Limits)); err != nil {
		return invalid("step %q: option Limits: %w", step, err)
	}
	r := o.Retry
	switch {
	case r == nil:
		return nil
	case r.Initial < 0:
		return refuse("Retry.Initial", r.Initial, "positive, or 0 for the default")
	case r.Factor != 0 && !(r.Factor >= 1) || math.IsInf(r.Factor, 0):
		return refuse("Retry.Factor", r.Factor, "at least 1, or 0 for the default")
	case r.Max < 0 || r.Max != 0 && r.Max < r.Initial:
		return refuse("Retry.Max", r.Max, "at least Retry.Initial, or 0 for the default")
	case !(r.Jitter <= 1):
		return refuse("Retry.Jitter", r.Jitter, "at most 1")
	case r.Attempts < 0 || r.Attempts > math.MaxInt32:
		return refuse("Retry.Attempts", r.Attempts, "positive, or 0 for no limit")
	case r.Panics > math.MaxInt32:
		return refuse("Retry.Panics", r.Panics, "positive, 0 for the default, or negative for no limit")
	}
	return nil
}
