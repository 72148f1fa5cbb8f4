package journal

import (
	"strconv"
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

// TerminalKind is the inverse of [StatusOf]: the kind of event that gave a run its status, 0 for an
// open run.
func (s Status) TerminalKind() Kind {
	if !s.Closed() {
		return 0
	}
	return RunCompleted + Kind(s-Completed)
}

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
