package sqlite

import (
	"github.com/reprise-run/reprise/journal"
)

// taskColumns are the columns of a task t as every statement selects them, for taskOf. Those of its
// run follow them.
const taskColumns = `t.generation, t.queue, t.workflow, t.version, t.priority, t.visible_at, t.owner, t.fence, t.turn, t.inbox_last,
       t.attempts, t.waiting, t.strikes, t.state, t.problem`

// taskWidth is the number of taskColumns.
const taskWidth = 15

// taskOf reads taskColumns. All are null for a run without a task, for which it returns nil.
func taskOf(r row, run journal.RunID) (*journal.Task, error) {
	if r.null(0) {
		return nil, nil
	}
	attempts, err := journal.DecodeAttempts(r.data(10))
	if err != nil {
		return nil, err
	}
	return &journal.Task{
		Run: run, Generation: journal.Generation(r.int(0)), Queue: r.text(1), Workflow: r.text(2), Version: int32(r.int(3)),
		Priority: int16(r.int(4)), VisibleAt: r.time(5), Owner: journal.NodeID(r.int(6)), Fence: journal.Fence(r.int(7)),
		Turn: journal.Turn(r.int(8)), InboxLast: journal.InboxSeq(r.int(9)), Attempts: attempts,
		Waiting: decodeLines(r.text(11)), Strikes: int(r.int(12)), State: journal.TaskState(r.int(13)), Problem: r.text(14),
	}, nil
}

// runColumns are the columns of a run r as every statement selects them, for runOf.
const runColumns = `r.id, r.created_at, r.start_at, r.closed_at, r.generation, r.version, r.priority, r.status, r.workflow, r.queue, r.key,
       r.labels, r.input, r.input_encoding, r.trace,
       r.parent_run, r.parent_generation, r.parent_cmd, r.parent_policy, r.inbox_seen, r.carried`

// runOf reads runColumns.
func runOf(r row) (journal.Run, error) {
	labels, err := journal.DecodeLabels(r.text(11))
	if err != nil {
		return journal.Run{}, err
	}
	run := journal.Run{
		ID: r.id(0), CreatedAt: r.time(1), StartAt: r.time(2), ClosedAt: r.time(3), Generation: journal.Generation(r.int(4)),
		Version: int32(r.int(5)), Priority: int16(r.int(6)), Status: journal.Status(r.int(7)), Workflow: r.text(8),
		Queue: r.text(9), Key: r.text(10), Labels: labels, Input: r.payload(13, 12), Trace: r.text(14),
	}
	if run.StartAt.IsZero() {
		run.StartAt = run.CreatedAt
	}
	run.Parent = parentOf(r[15:])
	if !r.null(19) {
		carried, err := decodeCarried(r.text(20))
		if err != nil {
			return journal.Run{}, err
		}
		run.Continued = &journal.Continue{Seen: journal.InboxSeq(r.int(19)), Carried: carried}
	}
	return run, nil
}

// parentOf reads parent_run, parent_generation, parent_cmd and parent_policy.
func parentOf(r row) *journal.Parent {
	if r.null(0) {
		return nil
	}
	return &journal.Parent{Run: r.id(0), Generation: journal.Generation(r.int(1)), Cmd: journal.Cmd(r.int(2)), Policy: journal.ClosePolicy(r.int(3))}
}
