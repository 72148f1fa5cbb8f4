package journal

// Parent is who started a run and waits for its outcome. The outcome is a message in the parent's
// inbox, written in the transaction that closes the child, so a parent can neither miss it nor get
// it twice.
type Parent struct {
	Run        RunID       `json:"run"`
	Generation Generation  `json:"generation"`
	Cmd        Cmd         `json:"cmd"`
	Policy     ClosePolicy `json:"policy,omitempty"`
}

// ClosePolicy says what becomes of an open child when its parent closes. The numbers are stored.
type ClosePolicy int16

// The policies.
const (
	CloseCancel    ClosePolicy = 0 // the child gets a cancel request
	CloseTerminate ClosePolicy = 1 // the child is closed without running its code
	CloseAbandon   ClosePolicy = 2 // the child goes on
)

// ParentClosed is why the children of a closed run are cancelled or terminated.
const ParentClosed = "the parent was closed"

// OrphanCancel returns the request that a child gets by CloseCancel.
func OrphanCancel(child RunID) Message {
	f := &Failure{Type: FailureCancelled, Message: ParentClosed, Permanent: true}
	return Message{Run: child, Kind: MessageCancel, Key: CancelKey, Payload: EncodeFailure(f)}
}

// ParentMessage returns what tells the parent that the run ended, false if nobody waits.
func (r *Run) ParentMessage(terminal *Event) (Message, bool) {
	if r.Parent == nil {
		return Message{}, false
	}
	return ChildMessage(r.ID, r.Workflow, r.Parent, terminal), true
}

// ChildMessage returns what tells the parent that a child ended.
func ChildMessage(child RunID, workflow string, p *Parent, terminal *Event) Message {
	m := Message{
		Run: p.Run, Kind: MessageChildFailed, Name: workflow, Key: "~child/" + child.String(),
		Payload: terminal.Payload, Cmd: p.Cmd, Generation: p.Generation,
	}
	if terminal.Kind == RunCompleted {
		m.Kind = MessageChildCompleted
	}
	return m
}

// TerminatedPayload returns the outcome of a run that is closed without running its code.
func TerminatedPayload(reason string) Payload {
	return EncodeFailure(&Failure{Type: FailureTerminate, Message: reason, Permanent: true})
}
