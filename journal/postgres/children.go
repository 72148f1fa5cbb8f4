package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/reprise-run/reprise/journal"
)

// lockFamilySQL takes the row locks of a family's tasks in the order of run ids: those of the first
// list, those of the children that the runs of the second list leave behind, and, below children
// that are terminated, those of their own children. Children that are abandoned are left alone and
// not locked.
//
// The children are read before anything is locked, so more may be made meanwhile by a child's own
// turn. This is harmless: under the parent's lock no start can name it as parent any more except by
// its own commit, which is this one, and what a terminated child has started is found by the look
// of orphansOf under that child's lock. Locks taken there are out of order, so they may deadlock
// with another family's; the server ends one of the two and Store.call repeats it.
const lockFamilySQL = `
WITH RECURSIVE orphan(id, policy) AS (
    SELECT r.id, r.policy FROM unnest($2::uuid[]) AS c(id)
    CROSS JOIN LATERAL (
        -- Asking for an order leaves the planner of a small table no index but that of parents.
        SELECT r.id, coalesce(r.parent_policy, 0) AS policy FROM reprise.runs r
        WHERE r.parent_run BETWEEN c.id AND c.id AND r.status = 0 ORDER BY r.parent_run) r
    UNION ALL
    SELECT r.id, r.policy FROM orphan o
    CROSS JOIN LATERAL (
        SELECT r.id, coalesce(r.parent_policy, 0) AS policy FROM reprise.runs r
        WHERE r.parent_run BETWEEN o.id AND o.id AND r.status = 0 ORDER BY r.parent_run) r
    WHERE o.policy = 1
)
SELECT t.run_id FROM reprise.tasks t
WHERE t.run_id = ANY ($1::uuid[] || ARRAY(SELECT o.id FROM orphan o WHERE o.policy IN (0, 1)))
ORDER BY t.run_id FOR UPDATE`

// orphansSQL finds the open children of runs that close, except those that go on, or of whose
// policy nothing is known here. The tasks of the closing runs are locked, so no further child of
// theirs can be made. ORDER BY and BETWEEN force the index of parents (see "Plans"): the planner of
// a small table would choose the primary key and read all runs.
const orphansSQL = `
SELECT c.ord, r.id, r.policy
FROM unnest($1::uuid[]) WITH ORDINALITY AS c(id, ord)
CROSS JOIN LATERAL (
    SELECT r.id, coalesce(r.parent_policy, 0) AS policy FROM reprise.runs r
    WHERE r.parent_run BETWEEN c.id AND c.id AND r.status = 0 AND coalesce(r.parent_policy, 0) IN (0, 1) ORDER BY r.parent_run) r
ORDER BY c.ord, r.id`

// terminateSQL closes runs whoever owns them: the owner's next commit finds no task and is refused
// (J3, J7). The tasks are locked by lockFamilySQL.
//
// Everything follows from the rows that the DELETE returns, so a run that was closed meanwhile is
// skipped and gets no second terminal event. The event's number is one above the newest of the
// generation, which is final because nobody can commit without the task, and the owner's appends
// are excluded; its time is not before that event's, as histories never go back in time (J1).
const terminateSQL = `
WITH removed AS (
    DELETE FROM reprise.tasks t WHERE t.run_id = ANY ($1::uuid[]) RETURNING t.run_id, t.generation
), last AS (
    SELECT d.run_id, d.generation, coalesce(e.seq, 0) AS seq, e.at
    FROM removed d
    LEFT JOIN LATERAL (
        SELECT e.seq, e.at FROM reprise.events e
        WHERE e.run_id = d.run_id AND e.generation = d.generation ORDER BY e.seq DESC LIMIT 1) e ON true
), written AS (
    INSERT INTO reprise.events (run_id, generation, seq, kind, at, link, encoding, payload)
    SELECT l.run_id, l.generation, l.seq + 1, $2::smallint, greatest(l.at, clock_timestamp()), 0, $3::text, $4::bytea FROM last l
)
UPDATE reprise.runs r SET status = $5::smallint, closed_at = clock_timestamp(), closed_seq = l.seq + 1
FROM last l WHERE r.id = ANY (ARRAY[l.run_id])`

// queueTerminate adds terminateSQL for runs whose tasks are locked and whose owners' appends are
// excluded.
func queueTerminate(s *Store, p *pipeline, runs []journal.RunID, why journal.Payload) {
	queueEnd(s, p, runs, &journal.Event{Kind: journal.RunTerminated, Payload: why})
}

// queueOrphans adds the ends of what closing runs leave behind, as queueTerminate.
func queueOrphans(s *Store, p *pipeline, terminated []journal.RunID) {
	_ = s.pieces.in(len(terminated), small, func(from, to int) error {
		queueTerminate(s, p, terminated[from:to], journal.TerminatedPayload(journal.ParentClosed))
		return nil
	})
}

// familyMessages tell the family of a run that it has ended.
func familyMessages(run *journal.Run, end *journal.Event, left *orphans) (messages []journal.Message) {
	if m, waits := run.ParentMessage(end); waits {
		messages = append(messages, m)
	}
	for _, child := range left.cancelled {
		messages = append(messages, journal.OrphanCancel(child))
	}
	return messages
}

// queueEnd is queueTerminate with any terminal event.
func queueEnd(s *Store, p *pipeline, runs []journal.RunID, end *journal.Event) {
	if len(runs) > 0 {
		status, _ := journal.StatusOf(end.Kind)
		why := end.Payload
		p.exec(s.sql.terminate, runIDs(runs), int16(end.Kind), nullText(why.Encoding), nullBytes(why.Data), int16(status))
		queueLimitsEnd(s, p, runs)
	}
}

// orphans are the open children that a closing run leaves behind, by what happens to them.
type orphans struct {
	cancelled  []journal.RunID // they get a request
	terminated []journal.RunID // and children of theirs that are too
}

// orphanLevel is one generation of a family: runs that close, and, for each, the index of the
// member of the batch whose closing it follows from.
type orphanLevel struct {
	runs  []journal.RunID
	roots []int
}

// orphansOf locks and finds what closing runs leave behind, level by level. A run that is
// terminated with its parent leaves children behind as well, and may have made some since the first
// look: hence a look under its lock for each level. The loop ends because a child is made after its
// parent, so a family has no circle.
func (s *Store) orphansOf(ctx context.Context, q querier, closing []journal.RunID) ([]orphans, error) {
	found := make([]orphans, len(closing))
	level := orphanLevel{runs: closing, roots: make([]int, len(closing))}
	for i := range closing {
		level.roots[i] = i
	}
	for len(level.runs) > 0 {
		var below orphanLevel
		var p pipeline
		p.exec(s.sql.lockFamily, []pgtype.UUID{}, runIDs(level.runs))
		p.query(s.sql.orphans, each(func(row pgx.CollectableRow) error {
			var ord int64
			var run pgtype.UUID
			var policy journal.ClosePolicy
			if err := row.Scan(&ord, &run, &policy); err != nil {
				return err
			}
			root := level.roots[ord-1]
			if o := &found[root]; policy == journal.CloseTerminate {
				o.terminated = append(o.terminated, run.Bytes)
				below.runs, below.roots = append(below.runs, run.Bytes), append(below.roots, root)
			} else {
				o.cancelled = append(o.cancelled, run.Bytes)
			}
			return nil
		}), runIDs(level.runs))
		if err := p.send(ctx, q); err != nil {
			return nil, err
		}
		level = below
	}
	return found, nil
}
