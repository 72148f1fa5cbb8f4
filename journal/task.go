package journal

import (
	"strconv"
	"time"
)

// TaskState tells whether an open run can make progress.
type TaskState int16

// The states of a task.
const (
	Ready       TaskState = 0
	Blocked     TaskState = 1 // code and history diverged, or the code panicked: retried with back-off
	Quarantined TaskState = 2 // claimed again and again without progress: waits for AdminResume
)

var taskStateNames = [...]string{"ready", "blocked", "quarantined"}

// String returns the state in lower case.
func (s TaskState) String() string {
	if s >= 0 && int(s) < len(taskStateNames) {
		return taskStateNames[s]
	}
	return "state(" + strconv.Itoa(int(s)) + ")"
}

// Task is the one queue row of an open run. VisibleAt is the only clock of the queue: it says when
// somebody should look at the run next. For an owned task it is the zero time, unless messages
// wait that its owner has not consumed.
type Task struct {
	Run        RunID
	Generation Generation
	Queue      string
	Workflow   string
	Version    int32
	Priority   int16
	VisibleAt  time.Time // zero: not before a message arrives
	Owner      NodeID
	Fence      Fence
	Turn       Turn
	InboxLast  InboxSeq // number of the newest message
	Attempts   []Attempt
	Waiting    []string // what the parked run waits for, for readers
	Strikes    int      // times its owner died since the last commit
	State      TaskState
	Problem    string // why it is blocked or quarantined
}

// Attempt is the durable state of a step that has failed at least once and is not done.
// It lives in the task, so failed attempts do not grow the history.
type Attempt struct {
	Cmd       Cmd       `json:"cmd"`
	Name      string    `json:"name"`
	Made      int32     `json:"made"`              // attempts that have failed
	NextAt    time.Time `json:"next"`              // store's clock
	Failure   *Failure  `json:"failure,omitempty"` // of the last attempt
	Heartbeat *Payload  `json:"heartbeat,omitempty"`
}

// Route is what a node offers to run and a task asks for.
type Route struct {
	Queue    string
	Workflow string
	Version  int32
}

// String returns "queue/workflow/version".
func (r Route) String() string {
	return r.Queue + "/" + r.Workflow + "/" + strconv.Itoa(int(r.Version))
}

// ClaimRequest asks for due tasks of some routes.
type ClaimRequest struct {
	Node   NodeID
	Routes []Route
	Max    int // 0 claims nothing and only reports Attention and NextDue
	// Reconcile also returns every task that Node owns but never committed to: an earlier
	// claim's answer may have been lost. The caller drops those it knows.
	Reconcile bool
}

// Claimed is a task now owned by the node, with its run's identity.
type Claimed struct {
	Task Task
	Run  Run // without Terminal and Task
}

// Claim is the answer to a ClaimRequest.
type Claim struct {
	Tasks     []Claimed
	Attention []RunID   // runs that the node owns and that have unconsumed messages
	NextDue   time.Time // the earliest future VisibleAt among the routes; zero for none
	Now       time.Time // the store's clock
}
