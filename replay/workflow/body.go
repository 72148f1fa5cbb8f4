package workflow

import (
	"context"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/replay"
)

// Attempt describes the execution of a step's body: which run, which step, and how often it was
// tried.
type Attempt struct {
	Info           // of the run
	Step    string // name of the step
	Attempt int    // from 1
	// IdempotencyKey is the same for every attempt of this step, on every node.
	IdempotencyKey string
}

// StepInfo describes the execution of the step whose body has ctx; ok is false outside of a step.
func StepInfo(ctx context.Context) (a Attempt, ok bool) {
	sc := replay.StepContextFrom(ctx)
	if sc == nil {
		return Attempt{}, false
	}
	return Attempt{Info: *sc.Info, Step: sc.Step, Attempt: int(sc.Attempt), IdempotencyKey: sc.IdempotencyKey()}, true
}

// IdempotencyKey is the same for every attempt of the step whose body has ctx, on every node, and
// differs from that of every other step: "RUN/GENERATION/COMMAND". Send it to servers that take
// such a key, and they apply the request once. It is empty outside of a step.
func IdempotencyKey(ctx context.Context) string {
	if sc := replay.StepContextFrom(ctx); sc != nil {
		return sc.IdempotencyKey()
	}
	return ""
}

// Heartbeat reports that the attempt is alive, for [StepOptions].HeartbeatTimeout, and keeps
// details for the next attempt if this one fails; nil keeps nothing. It does not block. Details are
// stored as well, at most about five seconds after the heartbeat, also if no other one follows: if
// the node dies, the attempt is made again with those.
//
// Errors: [ErrNotInStep] outside of a step, or why details cannot be encoded or are too large.
func Heartbeat(ctx context.Context, details any) error {
	sc := replay.StepContextFrom(ctx)
	if sc == nil {
		return ErrNotInStep
	}
	var p journal.Payload
	if details != nil {
		var err error
		if p, err = sc.Encoder.Encode("heartbeat of step "+sc.Step, details); err != nil {
			return err
		}
	}
	if sc.Heartbeats != nil {
		sc.Heartbeats.Heartbeat(p)
	}
	return nil
}

// Settle says how much of a limit the attempt has used, instead of the cost that its step's options
// have reserved: the tokens of a model call, say. What is left is there for others when the attempt
// ends, and what it has used beyond that is taken from the rate then. The last call counts.
//
// Errors: [ErrNotInStep] outside of a step; journal.ErrInvalid for a limit that the step does not
// name.
func Settle(ctx context.Context, limit string, used int64) error {
	sc := replay.StepContextFrom(ctx)
	switch {
	case sc == nil:
		return ErrNotInStep
	case sc.Limits == nil:
		return invalid("settle limit %q: the options of step %q name no limits", limit, sc.Step)
	}
	return sc.Limits.Settle(limit, used)
}

// LastHeartbeat returns the details of the last heartbeat of the attempt before, or of this
// attempt on a node that died. ok is false if there are none, if they do not decode into a T, and
// outside of a step.
func LastHeartbeat[T any](ctx context.Context) (details T, ok bool) {
	sc := replay.StepContextFrom(ctx)
	if sc == nil || sc.LastHeartbeat == nil || len(sc.LastHeartbeat.Data) == 0 {
		return details, false
	}
	var v T
	if err := sc.Encoder.Codec().Decode(*sc.LastHeartbeat, &v); err != nil {
		return details, false
	}
	return v, true
}
