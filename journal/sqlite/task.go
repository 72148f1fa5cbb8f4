package sqlite

import (
	"github.com/reprise-run/reprise/journal"
)

// taskOf reads the columns of a task in the order that all statements select them:
//
//	generation, queue, workflow, version, priority, visible_at, owner, fence, turn, inbox_last,
//	attempts, waiting, strikes, state, problem
//
// All are null for a run without a task, for which it returns nil.
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

const taskColumns = 15

// runOf reads the columns of a run in the order that all statements select them:
//
//	id, created_at, start_at, closed_at, generation, version, priority, status, workflow, queue, key,
//	labels, input, input_encoding, trace,
//	parent_run, parent_generation, parent_cmd, parent_policy, inbox_seen, carried
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
