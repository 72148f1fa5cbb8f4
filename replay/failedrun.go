package replay

import (
	"errors"

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
	Failure  journal.Failure   `json:"failure"` // as the history has it
}

// startOnFailure starts the workflow that the run's start names for the case that it fails. It is a
// child that outlives its parent, so it is started in the commit that closes the run, or not at
// all. That the run was cancelled is no reason not to start it.
func startOnFailure(e *Env, failure journal.Payload) {
	info := &e.info
	if info.OnFailure == "" {
		return
	}
	in := FailedRun{Run: info.Run, Key: info.Key, Workflow: info.Workflow, Version: info.Version, Queue: info.Queue, Labels: info.Labels}
	if f, err := journal.DecodeFailure(failure); err == nil {
		in.Failure = *f
	}
	st := journal.Start{ID: journal.RunID{1}, Workflow: info.OnFailure, Queue: info.Queue, Headers: info.Headers} // Start sets the id
	st.SetDefaults()
	var err error
	if st.Input, err = e.enc.Encode("input of workflow "+info.OnFailure, in); err != nil {
		e.Abort(&EncodeError{Err: err})
	}
	e.root.Shield().Start(st, journal.CloseAbandon, Abandon)
}

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
