package journal

import (
	"strconv"
	"time"
)

// TaskState tells whether an open run can make progress.
type TaskState int16

// The states of a task.
const (
	// Limited is that of a run that waits for limits which it holds from its first turn to its end
	// (J14). The task is free and never due; whoever grants the limits makes it Ready and due.
	Limited TaskState = -1

	Ready       TaskState = 0
	Blocked     TaskState = 1 // code and history diverged, or the code panicked: retried with back-off
	Quarantined TaskState = 2 // claimed again and again without progress: waits for AdminResume

	Paused       TaskState = 3 // by an operator, or by itself: no step of it starts until AdminResume (J11)
	Pausing      TaskState = 4 // owned, and to be paused: its owner has not answered yet
	Interrupting TaskState = 5 // as Pausing, and the attempts that are executed are to be interrupted
)

var taskStateNames = [...]string{"ready", "blocked", "quarantined", "paused", "pausing", "interrupting"}

// OnHold tells whether the run is paused, or somebody has asked for it. Such a task is claimed by
// nobody, and its owner, if it has one, starts no step from the moment when it hears of it.
func (s TaskState) OnHold() bool { return s >= Paused }

// String returns the state in lower case.
func (s TaskState) String() string {
	if s == Limited {
		return "limited"
	}
	if s >= 0 && int(s) < len(taskStateNames) {
		return taskStateNames[s]
	}
	return "state(" + strconv.Itoa(int(s)) + ")"
}

// Task is the one queue row of an open run. VisibleAt is the only clock of the queue: it says when
// somebody should look at the run next. For an owned task it is the zero time, unless messages
// wait that its owner has not consumed.
//
// A pause of a free task makes it Paused at once. The owner of an owned one may be about to start a
// step without asking anybody, so the pause makes the task Pausing, and visible like a message
// does. The owner answers with its next commit: it frees the task, or keeps it while attempts are
// executed and says so (driver.Commit.Hold). Either makes it Paused, in the row that the pause had
// locked, so pause, commit and resume have one order. A task that is freed by anybody else becomes
// Paused as well, since no owner is left that could start a step. Paused is therefore true whenever
// it is read (J11).
//
// A run is open exactly while it has a task (J7). Whoever changes a task locks its row, so a run's
// messages, claims and commits have one order, and no wake-up falls between two of them (J6).
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
	Link       Link     // of a free task whose owner freed it: that of the newest event then; else 0
	InboxLast  InboxSeq // number of the newest message
	Attempts   []Attempt
	Waiting    []string // what the parked run waits for, for readers; none of a blocked one
	Strikes    int      // times its owner died since the last commit
	State      TaskState
	Problem    string // why it is blocked or quarantined
}
