package runtime

import (
	"context"
	"fmt"
	"maps"

	"github.com/reprise-run/reprise/journal"
)

// Call is what somebody asks of a client, for [Interceptor].Client: to start a run, to send it
// something, to ask it, or to act on it. What only reads what the store has is no Call: Describe,
// List, History, Published, FindKey, and waiting for a result. Nor is what workflow code asks for,
// such as children: [Interceptor].Workflow is around that. Calls that a step's body makes with a
// client are.
//
// It is the interceptors' until the call returns. They may change what Start points to, or replace
// it; other changes have no effect.
type Call struct {
	Kind CallKind
	// Run is what the call is about. Before a start it is zero: it is set when next returns nil,
	// and may be a run that was there.
	Run journal.RunID
	// Scope is what Pause and Resume are about if it is no run, else nil.
	Scope *journal.Scope
	// Node is what DrainNode and ReleaseClaim are about, else 0.
	Node journal.NodeID
	// Limit is what SetLimit and RemoveLimit are about, else nil.
	Limit *journal.Limit
	// Workflow is what is started, empty for other kinds.
	Workflow string
	// Name of the signal, update, query or view, empty for other kinds.
	Name string
	// Payload is the caller's value, to look at: the input of a start, the payload of a signal, the
	// argument of an update or query, the reason of Cancel, Terminate, Pause and of what goes back
	// (a string), the changes of SetLabels (a map[string]*string, nil for what is removed), the
	// priority of SetPriority (an int16). It is encoded already.
	Payload any
	// Start has the options of a start, nil for other kinds. It is a copy, with labels and headers
	// of its own that are not nil, so an interceptor may set some. What one of them replaces it by
	// is copied for the next one.
	Start *StartOptions
	// With is the signal or the update of a start that comes with one, else nil. It has a Kind, a
	// Name and a Payload.
	With *Call
}

// CallKind is what is asked for.
type CallKind string

// The kinds of calls.
const (
	StartCall     CallKind = "start"     // Start, SignalWithStart and UpdateWithStart
	SignalCall    CallKind = "signal"    // Signal
	UpdateCall    CallKind = "update"    // CallUpdate, whose next has the answer, and SendUpdate, whose next is before it
	QueryCall     CallKind = "query"     // Query, of a node
	CancelCall    CallKind = "cancel"    // Client.Cancel
	TerminateCall CallKind = "terminate" // Client.Terminate
	PauseCall     CallKind = "pause"     // Client.Pause
	ResumeCall    CallKind = "resume"    // Client.Resume
	DeleteCall    CallKind = "delete"    // Client.Delete

	SetLabelsCall   CallKind = "set-labels"   // Client.SetLabels
	SetPriorityCall CallKind = "set-priority" // Client.SetPriority

	RetryCall CallKind = "retry" // Client.Retry
	ResetCall CallKind = "reset" // Client.Reset
	ForkCall  CallKind = "fork"  // Client.Fork
	SkipCall  CallKind = "skip"  // SkipMessage
	EditCall  CallKind = "edit"  // EditStep

	DrainCall CallKind = "drain" // Client.DrainNode

	SaveViewCall     CallKind = "save-view"     // SaveView
	DeleteViewCall   CallKind = "delete-view"   // DeleteView
	SetLimitCall     CallKind = "set-limit"     // SetLimit
	RemoveLimitCall  CallKind = "remove-limit"  // RemoveLimit
	ReleaseClaimCall CallKind = "release-claim" // ReleaseClaim
)

// String says what is asked for, as errors do.
func (c *Call) String() string {
	switch {
	case c.With != nil:
		return fmt.Sprintf("%s of %s with %s %s", c.Kind, c.Workflow, c.With.Kind, c.With.Name)
	case c.Kind == StartCall:
		return fmt.Sprintf("%s of %s", c.Kind, c.Workflow)
	case c.Kind == SaveViewCall, c.Kind == DeleteViewCall:
		return fmt.Sprintf("%s %s", c.Kind, c.Name)
	case c.Name != "":
		return fmt.Sprintf("%s %s to run %s", c.Kind, c.Name, c.Run)
	}
	switch {
	case c.Scope != nil:
		return fmt.Sprintf("%s of %s", c.Kind, *c.Scope)
	case c.Limit != nil || c.Kind == ReleaseClaimCall:
		return c.limitText()
	case c.Kind == DrainCall:
		return fmt.Sprintf("%s of node %d", c.Kind, c.Node)
	}
	return fmt.Sprintf("%s of run %s", c.Kind, c.Run)
}

// intercepted does a call with the client's interceptors around it. Without any, do gets nil: no
// Call is made that nobody sees. An error of the call itself has said what it is about; that of an
// interceptor which refuses it has not.
func intercepted[T any](ctx context.Context, c *Client, call Call, do func(context.Context, *Call) (T, error)) (T, error) {
	if len(c.around.Layers) == 0 {
		return do(ctx, nil)
	}
	return around(ctx, c, call, do)
}

func around[T any](ctx context.Context, c *Client, call Call, do func(context.Context, *Call) (T, error)) (T, error) {
	if call.Kind == StartCall {
		call.Start = call.Start.forInterceptors()
	}
	what := call // as it is without the interceptors
	var out, none T
	done := false
	err := c.around.Do(asked{ctx, &call, call.Start}, func(a asked) (err error) {
		if done = true; a.ctx == nil {
			return fmt.Errorf("%s: %w: an interceptor called next with a nil context", &what, journal.ErrInvalid)
		}
		out, err = do(a.ctx, a.call)
		return err
	})
	switch {
	case err == nil:
		return out, nil
	case !done:
		return none, fmt.Errorf("%s was refused: %w", &what, err)
	}
	return none, err
}

// forInterceptors returns a copy of options, which may be nil.
func (o *StartOptions) forInterceptors() *StartOptions {
	var c StartOptions
	if o != nil {
		c = *o
	}
	if c.Labels = maps.Clone(c.Labels); c.Labels == nil {
		c.Labels = map[string]string{}
	}
	if c.Headers = maps.Clone(c.Headers); c.Headers == nil {
		c.Headers = map[string]string{}
	}
	return &c
}

// limitText says what a call on a limit is about.
func (c *Call) limitText() string {
	if c.Limit == nil {
		return fmt.Sprintf("%s of node %d", c.Kind, c.Node)
	}
	return fmt.Sprintf("%s of %s", c.Kind, c.Limit)
}
