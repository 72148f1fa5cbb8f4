package sqlite

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// taskColumns are the columns of a task t as every statement selects them, for addTask. Those of
// its run follow them. The last one has no small limit, and claims may leave it out.
const (
	taskColumns = taskSmall + `, t.attempts`
	taskSmall   = `t.generation, t.queue, t.workflow, t.version, t.priority, t.visible_at, t.owner, t.fence, t.turn, t.inbox_last,
       t.waiting, t.strikes, t.state, t.problem, t.link`
)

// taskWidth is the number of taskColumns.
const taskWidth = 16

// addTask reads taskColumns and gives the run its task. All are null for a run without one.
func addTask(run *journal.Run, r row) {
	if r.null(0) {
		return
	}
	attempts, err := driver.DecodeAttempts(r.data(15))
	driver.NoteUnreadable(run, "attempts", err)
	run.Task = &journal.Task{
		Run: run.ID, Generation: journal.Generation(r.int32(0)), Queue: r.text(1), Workflow: r.text(2), Version: r.int32(3),
		Priority: r.int16(4), VisibleAt: r.time(5), Owner: journal.NodeID(r.int32(6)), Fence: journal.Fence(r.int(7)),
		Turn: journal.Turn(r.int(8)), InboxLast: journal.InboxSeq(r.int(9)), Attempts: attempts,
		Strikes: int(r.int(11)), State: journal.TaskState(r.int16(12)), Problem: r.text(13),
		Link: journal.Link(r.int(14)),
	}
	if run.Task.State != journal.Blocked {
		run.Task.Waiting = splitWaiting(r.text(10))
	}
}
