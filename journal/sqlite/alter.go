package sqlite

import (
	"context"
	"fmt"

	"github.com/reprise-run/reprise/journal"
)

// alterReadSQL tells whether a run exists, and what its task says.
const alterReadSQL = `
SELECT t.run_id IS NOT NULL, t.generation,
       (SELECT e.seq FROM reprise_events e
        WHERE e.run_id = t.run_id AND e.generation = t.generation ORDER BY e.seq DESC LIMIT 1),
       (SELECT e.at FROM reprise_events e
        WHERE e.run_id = t.run_id AND e.generation = t.generation ORDER BY e.seq DESC LIMIT 1)
FROM reprise_runs r LEFT JOIN reprise_tasks t ON t.run_id = r.id WHERE r.id = ?`

// A closed run is forgotten table by table.
const (
	alterDeleteEventsSQL = `DELETE FROM reprise_events WHERE run_id = ?`
	alterDeleteInboxSQL  = `DELETE FROM reprise_inbox WHERE run_id = ?`
	alterDeleteSQL       = `DELETE FROM reprise_runs WHERE id = ?`
)

// alterResumeSQL makes a run visible. Of an owned one the owner is only asked to look.
const alterResumeSQL = `
UPDATE reprise_tasks
SET visible_at = ?,
    state   = iif(owner = 0, 0, state),
    strikes = iif(owner = 0, 0, strikes),
    problem = iif(owner = 0, NULL, problem)
WHERE run_id = ?`

// alterRemoveSQL ends a task whoever owns it: the owner's next commit finds no task and is refused (J3, J7).
const alterRemoveSQL = `DELETE FROM reprise_tasks WHERE run_id = ?`

const alterCloseSQL = `UPDATE reprise_runs SET status = ?, closed_at = ?, closed_seq = ? WHERE id = ?`

// Alter implements journal.Store.
func (s *Store) Alter(ctx context.Context, a journal.Alteration) error {
	if a.Op < journal.OpDelete || a.Op > journal.OpTerminate {
		return fmt.Errorf("operation %d: %w", a.Op, journal.ErrInvalid)
	}
	return s.write(ctx, 0, func(b *batch) error {
		t := altered{run: a.Run}
		if err := t.read(b); err != nil {
			return err
		}
		switch {
		case !t.exists:
			return journal.ErrNotFound
		case a.Op == journal.OpDelete && t.open:
			return journal.ErrOpen
		case a.Op == journal.OpDelete:
			return t.forget(b)
		case !t.open:
			return journal.ErrClosed
		case a.Op == journal.OpResume:
			_, err := b.exec(alterResumeSQL, now().UnixMicro(), id(a.Run))
			return err
		}
		return t.terminate(b, a.Reason)
	})
}

// altered is a run as an operator finds it.
type altered struct {
	run          journal.RunID
	exists, open bool
	generation   journal.Generation
	last         journal.Seq
	lastAt       int64
}

func (t *altered) read(q querier) error {
	return q.query(alterReadSQL, func(r row) error {
		t.exists, t.open = true, r.bool(0)
		t.generation, t.last, t.lastAt = journal.Generation(r.int(1)), journal.Seq(r.int(2)), r.int(3)
		return nil
	}, id(t.run))
}

func (t *altered) forget(q querier) error {
	for _, sql := range []string{alterDeleteEventsSQL, alterDeleteInboxSQL, alterDeleteSQL} {
		if _, err := q.exec(sql, id(t.run)); err != nil {
			return err
		}
	}
	return nil
}

func (t *altered) terminate(q querier, reason string) error {
	at := now().UnixMicro()
	why := journal.EncodeFailure(&journal.Failure{Type: journal.FailureTerminate, Message: reason, Permanent: true})
	if _, err := q.exec(alterRemoveSQL, id(t.run)); err != nil {
		return err
	}
	seq := int64(t.last) + 1
	_, err := q.exec(commitEventSQL, id(t.run), int64(t.generation), seq, max(at, t.lastAt), nil, nil, nil,
		int64(journal.RunTerminated), nil, text(why.Encoding), nil, data(why.Data))
	if err != nil {
		return err
	}
	_, err = q.exec(alterCloseSQL, int64(journal.Terminated), at, seq, id(t.run))
	return err
}
