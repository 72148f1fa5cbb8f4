package sqlite

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// What is left of a run whose row, or a part of it, is on a damaged page: its task, and of the row
// what stands before the damage. SQLite finds a row by comparing it with others, so it may meet the
// damage of a neighbour on the way, and rows that are whole are lost with it.
const (
	aloneTaskSQL = `SELECT ` + taskColumns + ` FROM reprise_tasks t WHERE t.run_id = ?`
	aloneRunSQL  = `
SELECT r.created_at, r.start_at, r.closed_at, r.generation, r.version, r.priority, r.status, r.workflow, r.queue, r.key
FROM reprise_runs r WHERE r.id = ?`
)

// withoutRow returns what can be read of a run of which a part is damaged, with the damage noted.
func withoutRow(q querier, id journal.RunID, part string, why error) (journal.Run, error) {
	run := journal.Run{ID: id}
	_ = driver.DamagedPart(&run, part, why)
	err := q.query(aloneRunSQL, func(r row) error {
		run.CreatedAt, run.StartAt, run.ClosedAt, run.Generation = r.time(0), r.time(1), r.time(2), journal.Generation(r.int32(3))
		run.Version, run.Priority, run.Status = r.int32(4), r.int16(5), journal.Status(r.int16(6))
		run.Workflow, run.Queue, run.Key = r.text(7), r.text(8), r.text(9)
		return nil
	}, uuidArg(id))
	if err != nil && !damaged(err) {
		return run, err
	}
	if _, err = addTaskAlone(q, &run); damaged(err) {
		err = nil
	}
	return run, err
}

// addTaskAlone adds its task to a run, and what the task says of the run. Nothing else is read:
// SQLite writes nothing in a transaction that has met a damaged page.
func addTaskAlone(q querier, run *journal.Run) (found bool, err error) {
	err = q.query(aloneTaskSQL, func(r row) error {
		addTask(run, r)
		t := run.Task
		run.Generation, run.Queue, run.Workflow, run.Version, run.Priority = t.Generation, t.Queue, t.Workflow, t.Version, t.Priority
		found = true
		return nil
	}, uuidArg(run.ID))
	return found, err
}
