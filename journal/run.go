package journal

import (
	"strconv"
	"time"
)

// Status is the state of a run. The numbers are stored.
type Status int16

// The statuses of a run. All but Open are terminal. That an open run is blocked or
// quarantined is a matter of its task: see [TaskState].
const (
	Open       Status = 0
	Completed  Status = 1
	Failed     Status = 2
	Cancelled  Status = 3
	Terminated Status = 4
)

var statusNames = [...]string{"open", "completed", "failed", "cancelled", "terminated"}

// String returns the status in lower case.
func (s Status) String() string {
	if s >= 0 && int(s) < len(statusNames) {
		return statusNames[s]
	}
	return "status(" + strconv.Itoa(int(s)) + ")"
}

// Closed tells whether the status is terminal.
func (s Status) Closed() bool { return s != Open }

// StatusOf maps a terminal event to the status that its run gets in the same commit (J7).
func StatusOf(k Kind) (Status, bool) {
	switch k {
	case RunCompleted:
		return Completed, true
	case RunFailed:
		return Failed, true
	case RunCancelled:
		return Cancelled, true
	case RunTerminated:
		return Terminated, true
	}
	return Open, false
}

// TerminalKind is the inverse of [StatusOf]: the kind of event that gave a run its status, 0 for an
// open run.
func (s Status) TerminalKind() Kind {
	if !s.Closed() {
		return 0
	}
	return RunCompleted + Kind(s-Completed)
}

// Run is the identity and state of one run.
type Run struct {
	ID         RunID
	Key        string // empty if the caller gave none
	Workflow   string
	Version    int32
	Queue      string
	Priority   int16
	Status     Status
	Labels     map[string]string
	Input      Payload
	Trace      string // W3C traceparent of the start, empty for none
	Generation Generation
	CreatedAt  time.Time
	StartAt    time.Time // CreatedAt plus the start delay: the workflow time of RunStarted
	ClosedAt   time.Time // zero while open
	Parent     *Parent   // nil if nobody waits for it
	Continued  *Continue // what the current generation began with, if it is not the first; without Input and Version
	Terminal   *Event    // the terminal event of a closed run
	Task       *Task     // the queue row of an open run
}

// Parent is who started a run and waits for its outcome.
type Parent struct {
	Run        RunID
	Generation Generation
	Cmd        Cmd
	Policy     ClosePolicy
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

// Reuse says what a start does when its key belongs to a closed run. A key that belongs
// to an open run always leads to that run.
type Reuse int16

// The reuse policies of a key (J8).
const (
	ReuseReject        Reuse = 0 // no new run: the caller gets the closed run
	ReuseAllow         Reuse = 1 // a new run takes the key over
	ReuseAllowIfFailed Reuse = 2 // as ReuseAllow if the closed run is not completed, else as ReuseReject
)

// Replaces tells whether a start with this policy takes the key of a run with that status over.
func (r Reuse) Replaces(holder Status) bool {
	return holder.Closed() && (r == ReuseAllow || r == ReuseAllowIfFailed && holder != Completed)
}

// Start asks for one new run.
type Start struct {
	ID       RunID // chosen by the caller; makes a repeated start recognisable (J4)
	Key      string
	Reuse    Reuse
	Workflow string
	Version  int32
	Queue    string
	Priority int16
	Labels   map[string]string
	Input    Payload
	Delay    time.Duration // until the run may first be claimed, by the store's clock; a later message wakes it at once
	Trace    string
	Owner    NodeID  // a node that serves the run itself owns it from birth, with fence 1; 0 for the queue
	Parent   *Parent // of a child
	// Message goes to the run that has the key then, new or not, in the same transaction; its Run is not used. If the run is
	// closed and not replaced, Started.Sent tells.
	Message *Message
}

// Started is the outcome of one Start.
type Started struct {
	Run     RunID // the id of the run that has the key now: the caller's or an earlier one
	Created bool  // whether this start (or an earlier try of the very same start) made the run
	Owned   bool  // whether Start.Owner owns it from birth
	StartAt time.Time
	Now     time.Time // the store's clock
	Err     error     // of this member alone: a [KeyConflictError], ErrInvalid
	Sent    Sent      // what became of Start.Message
}

// ListFilter selects runs. Zero fields select everything.
type ListFilter struct {
	IDs       []RunID
	Key       string // exact
	KeyPrefix string
	Workflow  string
	Version   int32
	Status    *Status
	State     *TaskState        // of open runs
	Labels    map[string]string // all must match
	Parent    RunID             // children of this run
	Unchanged string            // open runs whose generation has not taken the new branch of this change
	Since     time.Time         // CreatedAt at or after
	Until     time.Time         // CreatedAt before
	Cursor    string            // from the page before; empty for the first
	Limit     int               // at most listMax; 0 means 100
}

// RunPage is a page of runs, newest first. Next is empty on the last page.
type RunPage struct {
	Runs []Run
	Next string
	Now  time.Time // the store's clock
}

// Kind is an operator's action on one run.
type AdminKind int

// The operator's actions.
const (
	AdminDelete    AdminKind = iota + 1 // forget a closed run; an open one is refused with ErrOpen
	AdminResume                         // make a blocked, quarantined or parked run visible now
	AdminTerminate                      // close an open run without running its code (RunTerminated)
)

// AdminAction is what an operator does to one run. Reason is kept with a termination, where the history shows it.
type AdminAction struct {
	Run    RunID
	Kind   AdminKind
	Reason string
}
