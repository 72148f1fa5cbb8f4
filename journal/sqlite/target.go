package sqlite

import (
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// adminReadSQL reads whether a run exists, what its task says, and who its parent is. The writer
// executes it in the transaction that acts on the answer, so nothing changes in between.
const adminReadSQL = `
SELECT t.run_id IS NOT NULL, t.owner, t.state, t.generation,
       (SELECT e.seq FROM reprise_events e
        WHERE e.run_id = t.run_id AND e.generation = t.generation ORDER BY e.seq DESC LIMIT 1),
       (SELECT e.at FROM reprise_events e
        WHERE e.run_id = t.run_id AND e.generation = t.generation ORDER BY e.seq DESC LIMIT 1),
       r.workflow, r.labels, r.priority, r.freezes, r.closed_at, r.parent_run, r.parent_generation, r.parent_cmd, r.parent_policy
FROM reprise_runs r LEFT JOIN reprise_tasks t ON t.run_id = r.id WHERE r.id = ?`

// adminRemoveSQL ends a task whoever owns it: the owner's next commit finds no task and is refused
// (J3, J7).
const adminRemoveSQL = `DELETE FROM reprise_tasks WHERE run_id = ?`

// target is a run as an operator finds it, in the transaction that acts on it.
type target struct {
	run          journal.Run // only id, workflow, labels, priority, generation, freezes, end and parent
	exists, open bool
	task         journal.Task // only owner and state
	last         journal.Seq
	lastAt       time.Time
	freezesErr   error // why those of the run cannot be read: nothing writes over them
}

// find reads a run and its task, with what its parent is to be told.
func find(q querier, run journal.RunID) (t target, err error) {
	t.run.ID = run
	err = q.query(adminReadSQL, func(r row) error {
		t.exists, t.open = true, r.bool(0)
		t.task.Owner, t.task.State, t.run.Generation = journal.NodeID(r.int(1)), journal.TaskState(r.int(2)), journal.Generation(r.int(3))
		t.last, t.lastAt = journal.Seq(r.int(4)), r.time(5)
		labels, err := driver.DecodeLabels(r.text(7))
		driver.NoteUnreadable(&t.run, "labels", err)
		t.run.Workflow, t.run.Labels, t.run.Priority, t.run.Parent = r.text(6), labels, int16(r.int(8)), parentOf(r[11:])
		t.run.ClosedAt = r.time(10)
		t.run.Freezes, t.freezesErr = decodeFreezes(r.text(9))
		return nil
	}, uuidArg(run))
	return t, err
}

// terminate closes the run as an operator, or its parent, wants it.
func (t *target) terminate(e *effects, reason string) (*journal.Event, error) {
	return t.end(e, journal.RunTerminated, journal.TerminatedPayload(reason))
}

// end closes the run without its code, and returns the terminal event. The event's number
// follows the newest of the generation, which is final as the task is gone, and its time is not
// before that event's, because histories never go back in time (J1). It has no link, so no commit
// of an owner takes this end for its own (J4).
func (t *target) end(e *effects, kind journal.Kind, why journal.Payload) (*journal.Event, error) {
	run := uuidArg(t.run.ID)
	ev := journal.Event{Seq: t.last + 1, Kind: kind, Time: e.at, Payload: why}
	if ev.Time.Before(t.lastAt) {
		ev.Time = t.lastAt
	}
	e.lost.note(t.task.Owner)
	if _, err := e.q.exec(adminRemoveSQL, run); err != nil {
		return nil, err
	}
	if _, err := e.q.exec(commitEventSQL, eventArgs(t.run.ID, t.run.Generation, &ev)...); err != nil {
		return nil, err
	}
	if _, err := e.q.exec(limitEndSQL, run); err != nil {
		return nil, err
	}
	status, _ := journal.StatusOf(kind)
	_, err := e.q.exec(commitCloseSQL, int64(status), e.at.UnixMicro(), int64(ev.Seq), run)
	return &ev, err
}
