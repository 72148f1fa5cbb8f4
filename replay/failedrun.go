package replay

import (
	"errors"
	"strings"

	"github.com/reprise-run/reprise/journal"
)

// FailedRun is the input of a workflow that is started because a run has failed: see
// journal.Start.OnFailure. The input of the run that failed is not in it, as it may be large; a
// step can ask a client for the run.
type FailedRun struct {
	Run      journal.RunID     `json:"run"`
	Key      string            `json:"key,omitempty"`
	Workflow string            `json:"workflow"`
	Version  int32             `json:"version"`
	Queue    string            `json:"queue"`
	Labels   map[string]string `json:"labels,omitempty"`
	// Failure is as the history has it. If that is longer than a payload may be, it is the type and
	// the beginning of the message.
	Failure journal.Failure `json:"failure"`
}

// startOnFailure starts the workflow that the run's start names for the case that it fails. It is a
// child that outlives its parent, so it is started in the commit that closes the run, or not at
// all. That the run was cancelled is no reason not to start it, and neither is a limit that is
// full: nobody would hear of it, as the parent has ended.
func startOnFailure(e *Env, failure journal.Payload) {
	info := &e.info
	if info.OnFailure == "" {
		return
	}
	in := FailedRun{Run: info.Run, Key: info.Key, Workflow: info.Workflow, Version: info.Version, Queue: info.Queue, Labels: info.Labels}
	if f, err := journal.DecodeFailure(failure); err == nil {
		in.Failure = *f
	}
	st := journal.Start{ID: journal.RunID{1}, Workflow: info.OnFailure, Queue: info.Queue,
		Headers: info.Headers, BeyondBacklog: true} // Start sets the id
	st.SetDefaults()
	if !e.replaying { // no input is compared, and the limit may be another one by now
		st.Input = e.encodeFailed(&in)
	}
	e.root.Shield().Start(st, journal.CloseAbandon, Abandon)
}

// encodeFailed makes an input of what a run that failed says of itself. A failure is stored however
// long it is, so its length must not keep the run from ending.
func (e *Env) encodeFailed(in *FailedRun) journal.Payload {
	what := "input of workflow " + e.info.OnFailure
	p, err := e.enc.Encode(what, in)
	if _, long := errors.AsType[*journal.LimitError](err); long {
		f := &in.Failure
		text := strings.ToValidUTF8(f.Message[:min(len(f.Message), shortMessageBytes)], "") + "…"
		in.Failure = journal.Failure{Type: f.Type, Message: text, Permanent: f.Permanent}
		p, err = e.enc.Encode(what, in)
	}
	if err != nil {
		e.Abort(&EncodeError{Err: err})
	}
	return p
}

// shortMessageBytes is what is left of a message that is too long.
const shortMessageBytes = 1 << 10

// failureOf is the failure of a run whose function returns err. One that was cancelled because its
// time was up says so, whatever its last step or child made of that.
func (e *Env) failureOf(err error) *journal.Failure {
	f := FailureOf(err)
	if !errors.Is(e.root.err, ErrTimeout) || !errors.Is(err, ErrCancelled) || failureIs(f, nil, ErrTimeout) {
		return f
	}
	text := e.root.err.Error() + "; the workflow returned: " + f.Message
	return &journal.Failure{Type: journal.FailureTimeout, Message: text, Permanent: true, Cause: f}
}
