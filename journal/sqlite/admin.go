package sqlite

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// adminReadSQL reads whether a run exists, what its task says, and who its parent is. The writer
// executes it in the transaction that acts on the answer, so nothing changes in between.
const adminReadSQL = `
SELECT t.run_id IS NOT NULL, t.owner, t.generation,
       (SELECT e.seq FROM reprise_events e
        WHERE e.run_id = t.run_id AND e.generation = t.generation ORDER BY e.seq DESC LIMIT 1),
       (SELECT e.at FROM reprise_events e
        WHERE e.run_id = t.run_id AND e.generation = t.generation ORDER BY e.seq DESC LIMIT 1),
       r.workflow, r.parent_run, r.parent_generation, r.parent_cmd, r.parent_policy
FROM reprise_runs r LEFT JOIN reprise_tasks t ON t.run_id = r.id WHERE r.id = ?`

// A closed run is forgotten table by table, in one transaction.
const (
	adminDeleteEventsSQL = `DELETE FROM reprise_events WHERE run_id = ?`
	adminDeleteInboxSQL  = `DELETE FROM reprise_inbox WHERE run_id = ?`
	adminDeleteSQL       = `DELETE FROM reprise_runs WHERE id = ?`
)

// adminResumeSQL makes a run visible now, and forgives it what has held it back. If the run is
// owned, its owner keeps it and is only asked to look: state, strikes and problem are the owner's
// to change with its next commit (J3).
const adminResumeSQL = `
UPDATE reprise_tasks
SET visible_at = ?,
    state   = iif(owner = 0, 0, state),
    strikes = iif(owner = 0, 0, strikes),
    problem = iif(owner = 0, NULL, problem)
WHERE run_id = ?`

// adminRemoveSQL ends a task whoever owns it: the owner's next commit finds no task and is refused
// (J3, J7).
const adminRemoveSQL = `DELETE FROM reprise_tasks WHERE run_id = ?`

// Admin implements driver.Store.
func (s *Store) Admin(ctx context.Context, a driver.AdminAction) error {
	if a.Kind < driver.AdminDelete || a.Kind > driver.AdminTerminate {
		return fmt.Errorf("operation %d: %w", a.Kind, journal.ErrInvalid)
	}
	var lost recalls
	err := s.write(ctx, 0, func(b *batch) error {
		t, err := find(b, a.Run)
		if err != nil {
			return err
		}
		switch {
		case !t.exists:
			return journal.ErrNotFound
		case a.Kind == driver.AdminDelete && t.open:
			return journal.ErrOpen
		case a.Kind == driver.AdminDelete:
			return t.forget(b)
		case !t.open:
			return journal.ErrClosed
		case a.Kind == driver.AdminResume:
			_, err := b.exec(adminResumeSQL, now().UnixMicro(), uuidArg(a.Run))
			return err
		}
		return s.terminate(b, &t, a.Reason, &lost)
	})
	s.nodes.recall(lost)
	return err
}

// target is a run as an operator finds it, in the transaction that acts on it.
type target struct {
	run          journal.Run // only id, workflow, generation and parent
	exists, open bool
	owner        journal.NodeID
	last         journal.Seq
	lastAt       time.Time
}

// find reads a run and its task, with what its parent is to be told.
func find(q querier, run journal.RunID) (t target, err error) {
	t.run.ID = run
	err = q.query(adminReadSQL, func(r row) error {
		t.exists, t.open = true, r.bool(0)
		t.owner, t.run.Generation = journal.NodeID(r.int(1)), journal.Generation(r.int(2))
		t.last, t.lastAt = journal.Seq(r.int(3)), r.time(4)
		t.run.Workflow, t.run.Parent = r.text(5), parentOf(r[6:])
		return nil
	}, uuidArg(run))
	return t, err
}

// forget deletes a closed run with its events and messages.
func (t *target) forget(q querier) error {
	for _, sql := range []string{adminDeleteEventsSQL, adminDeleteInboxSQL, adminDeleteSQL} {
		if _, err := q.exec(sql, uuidArg(t.run.ID)); err != nil {
			return err
		}
	}
	return nil
}

// terminate closes the run without its code, and returns the terminal event. The event's number
// follows the newest of the generation, which is final as the task is gone, and its time is not
// before that event's, because histories never go back in time (J1). It has no link, so no commit
// of an owner takes this end for its own (J4).
func (t *target) terminate(e *effects, reason string) (*journal.Event, error) {
	run := uuidArg(t.run.ID)
	ev := journal.Event{Seq: t.last + 1, Kind: journal.RunTerminated, Time: e.at, Payload: journal.TerminatedPayload(reason)}
	if ev.Time.Before(t.lastAt) {
		ev.Time = t.lastAt
	}
	e.lost.note(t.owner)
	if _, err := e.q.exec(adminRemoveSQL, run); err != nil {
		return nil, err
	}
	if _, err := e.q.exec(commitEventSQL, eventArgs(t.run.ID, t.run.Generation, &ev)...); err != nil {
		return nil, err
	}
	_, err := e.q.exec(commitCloseSQL, int64(journal.Terminated), e.at.UnixMicro(), int64(ev.Seq), run)
	return &ev, err
}

// terminate closes a run, sends the outcome to its parent and applies the close policies of its
// children, all in the caller's transaction (J2).
func (s *Store) terminate(q querier, t *target, reason string, lost *recalls) error {
	e := newEffects(s, q, lost)
	ev, err := t.terminate(e, reason)
	if err != nil {
		return err
	}
	if m, waits := t.run.ParentMessage(ev); waits {
		if _, err := e.send(&m); err != nil {
			return err
		}
	}
	_, err = e.closeChildren(t.run.ID, nil)
	return err
}
