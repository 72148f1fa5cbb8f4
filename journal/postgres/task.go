package postgres

import (
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// taskColumns are the columns of a task t as every statement selects them, for taskRow. The last
// one has no small limit, and claims may leave it out.
const (
	taskColumns = taskSmall + `, t.attempts`
	taskSmall   = `t.generation, t.queue, t.workflow, t.version, t.priority, t.visible_at, t.owner, t.fence, t.turn, t.inbox_last,
       t.waiting, t.strikes, t.state, t.problem, t.link`
)

// taskRow reads taskColumns. All are null for a run without a task, which is a closed one.
type taskRow struct {
	generation, version, owner, strikes *int32
	queue, workflow, waiting, problem   *string
	priority, state                     *int16
	visibleAt                           pgtype.Timestamptz
	fence, turn, inboxLast, link        *int64
	attempts                            []byte
}

func (r *taskRow) targets() []any {
	return []any{&r.generation, &r.queue, &r.workflow, &r.version, &r.priority, &r.visibleAt, &r.owner, &r.fence, &r.turn,
		&r.inboxLast, &r.waiting, &r.strikes, &r.state, &r.problem, &r.link, &r.attempts}
}

// addTo gives the run its task, if it has one.
func (r *taskRow) addTo(run *journal.Run) {
	if r.generation == nil {
		return
	}
	attempts, err := driver.DecodeAttempts(r.attempts)
	driver.NoteUnreadable(run, "attempts", err)
	t := &journal.Task{
		Run: run.ID, Generation: journal.Generation(*r.generation), Queue: *r.queue, Workflow: *r.workflow,
		Version: *r.version, Priority: *r.priority, VisibleAt: timeOf(r.visibleAt), Owner: journal.NodeID(*r.owner),
		Fence: journal.Fence(*r.fence), Turn: journal.Turn(*r.turn), InboxLast: journal.InboxSeq(*r.inboxLast),
		Attempts: attempts, Strikes: int(*r.strikes), State: journal.TaskState(*r.state), Link: journal.Link(*r.link),
	}
	if r.waiting != nil && t.State != journal.Blocked {
		t.Waiting = splitWaiting(*r.waiting, t.VisibleAt)
	}
	if r.problem != nil {
		t.Problem = *r.problem
	}
	run.Task = t
}
