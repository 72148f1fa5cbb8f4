package postgres

import (
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
)

// taskColumns are the columns of a task t as every statement selects them, for taskRow.
const taskColumns = `t.generation, t.queue, t.workflow, t.version, t.priority, t.visible_at, t.owner, t.fence, t.turn, t.inbox_last,
       t.attempts, t.waiting, t.strikes, t.state, t.problem`

// taskRow reads taskColumns. All are null for a run without a task.
type taskRow struct {
	generation, version, owner, strikes *int32
	queue, workflow, waiting, problem   *string
	priority, state                     *int16
	visibleAt                           pgtype.Timestamptz
	fence, turn, inboxLast              *int64
	attempts                            []byte
}

func (r *taskRow) targets() []any {
	return []any{&r.generation, &r.queue, &r.workflow, &r.version, &r.priority, &r.visibleAt, &r.owner, &r.fence, &r.turn,
		&r.inboxLast, &r.attempts, &r.waiting, &r.strikes, &r.state, &r.problem}
}

func (r *taskRow) task(run journal.RunID) (*journal.Task, error) {
	if r.generation == nil {
		return nil, nil
	}
	attempts, err := journal.DecodeAttempts(r.attempts)
	if err != nil {
		return nil, err
	}
	t := &journal.Task{
		Run: run, Generation: journal.Generation(*r.generation), Queue: *r.queue, Workflow: *r.workflow,
		Version: *r.version, Priority: *r.priority, VisibleAt: timeOf(r.visibleAt), Owner: journal.NodeID(*r.owner),
		Fence: journal.Fence(*r.fence), Turn: journal.Turn(*r.turn), InboxLast: journal.InboxSeq(*r.inboxLast),
		Attempts: attempts, Strikes: int(*r.strikes), State: journal.TaskState(*r.state),
	}
	if r.waiting != nil {
		t.Waiting = splitWaiting(*r.waiting, t.VisibleAt)
	}
	if r.problem != nil {
		t.Problem = *r.problem
	}
	return t, nil
}

// runColumns are the columns of a run r as every statement selects them, for runRow.
const runColumns = `r.id, r.created_at, r.start_at, r.closed_at, r.generation, r.version, r.priority, r.status, r.workflow, r.queue, r.key,
       r.labels::text, r.input, r.input_encoding, r.trace,
       r.parent_run, r.parent_generation, r.parent_cmd, r.parent_policy, r.inbox_seen, r.carried`

// runRow reads runColumns.
type runRow struct {
	id                           pgtype.UUID
	createdAt                    time.Time
	startAt, closedAt            pgtype.Timestamptz
	generation, version          int32
	priority, status             int16
	workflow, queue              string
	key, labels, encoding, trace *string
	input                        []byte
	parent                       pgtype.UUID
	parentGeneration, parentCmd  *int32
	parentPolicy                 *int16
	seen                         *int64
	carried                      []journal.InboxSeq
}

func (r *runRow) targets() []any {
	return []any{&r.id, &r.createdAt, &r.startAt, &r.closedAt, &r.generation, &r.version, &r.priority, &r.status, &r.workflow,
		&r.queue, &r.key, &r.labels, &r.input, &r.encoding, &r.trace, &r.parent, &r.parentGeneration, &r.parentCmd, &r.parentPolicy,
		&r.seen, &r.carried}
}

func (r *runRow) run() (journal.Run, error) {
	labels, err := journal.DecodeLabels(textOf(r.labels))
	if err != nil {
		return journal.Run{}, err
	}
	run := journal.Run{
		ID: r.id.Bytes, Key: textOf(r.key), Workflow: r.workflow, Version: r.version, Queue: r.queue, Priority: r.priority,
		Status: journal.Status(r.status), Labels: labels, Input: journal.Payload{Encoding: textOf(r.encoding), Data: r.input},
		Trace: textOf(r.trace), Generation: journal.Generation(r.generation), CreatedAt: r.createdAt.UTC(),
		StartAt: timeOf(r.startAt), ClosedAt: timeOf(r.closedAt),
	}
	if run.StartAt.IsZero() {
		run.StartAt = run.CreatedAt
	}
	if r.parent.Valid {
		run.Parent = parentOf(r.parent, r.parentGeneration, r.parentCmd, r.parentPolicy)
	}
	if run.Generation > 1 {
		run.Continued = &journal.Continue{Seen: intOf[journal.InboxSeq](r.seen), Carried: r.carried}
	}
	return run, nil
}

// parentOf reads the columns about the parent of a run that has one.
func parentOf(run pgtype.UUID, generation, cmd *int32, policy *int16) *journal.Parent {
	return &journal.Parent{Run: run.Bytes, Generation: intOf[journal.Generation](generation), Cmd: intOf[journal.Cmd](cmd),
		Policy: intOf[journal.ClosePolicy](policy)}
}

// intOf reads a number; null is zero.
func intOf[T, N ~int16 | ~int32 | ~int64](n *N) T {
	if n == nil {
		return 0
	}
	return T(*n)
}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
