package sqlite

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// taskColumns are the columns of a task t as every statement selects them, for taskOf. Those of its
// run follow them.
const taskColumns = `t.generation, t.queue, t.workflow, t.version, t.priority, t.visible_at, t.owner, t.fence, t.turn, t.inbox_last,
       t.attempts, t.waiting, t.strikes, t.state, t.problem, t.link`

// taskWidth is the number of taskColumns.
const taskWidth = 16

// taskOf reads taskColumns. All are null for a run without a task, for which it returns nil.
func taskOf(r row, run journal.RunID) (*journal.Task, error) {
	if r.null(0) {
		return nil, nil
	}
	attempts, err := driver.DecodeAttempts(r.data(10))
	if err != nil {
		return nil, err
	}
	return &journal.Task{
		Run: run, Generation: journal.Generation(r.int(0)), Queue: r.text(1), Workflow: r.text(2), Version: int32(r.int(3)),
		Priority: int16(r.int(4)), VisibleAt: r.time(5), Owner: journal.NodeID(r.int(6)), Fence: journal.Fence(r.int(7)),
		Turn: journal.Turn(r.int(8)), InboxLast: journal.InboxSeq(r.int(9)), Attempts: attempts,
		Waiting: splitWaiting(r.text(11)), Strikes: int(r.int(12)), State: journal.TaskState(r.int(13)), Problem: r.text(14),
		Link: journal.Link(r.int(15)),
	}, nil
}
