package sqlite

import (
	"context"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// startSQL creates a run. One whose id exists changes no row; its key is free, as startRun has
// looked.
const startSQL = `
INSERT INTO reprise_runs (id, created_at, start_at, version, priority, holds_key, workflow, queue, key, labels, input,
                          input_encoding, trace, parent_run, parent_generation, parent_cmd, parent_policy,
                          headers, timeout, on_failure, limits, beyond_backlog)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING`

// startTaskSQL makes the task, in the transaction of the run (J7). A run that is owned from birth
// has journal.FenceAtBirth, as if it had been claimed, and is unproven until the first commit (J4).
const startTaskSQL = `
INSERT INTO reprise_tasks (run_id, visible_at, fence, owner, unproven, version, priority, queue, workflow)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`

// startOwnSQL finds a run of an earlier try, by its id (J4).
const startOwnSQL = `
SELECT coalesce(r.start_at, r.created_at), t.owner, t.fence
FROM reprise_runs r LEFT JOIN reprise_tasks t ON t.run_id = r.id WHERE r.id = ?`

// startHolderSQL finds the run that has a key, by the unique index of held keys.
const startHolderSQL = `
SELECT r.id, r.workflow, r.status, coalesce(r.start_at, r.created_at) FROM reprise_runs r WHERE r.key = ? AND r.holds_key = 1`

// startReuseSQL lets a closed run give up its key (J8). It is executed right before the new run is
// made, in the same transaction.
const startReuseSQL = `UPDATE reprise_runs SET holds_key = 0 WHERE id = ?`

// Start implements driver.Store.
func (s *Store) Start(ctx context.Context, tx journal.Tx, starts []journal.Start) ([]journal.Started, error) {
	out := make([]journal.Started, len(starts))
	size := 0
	for i := range starts {
		size += driver.StartBytes(&starts[i])
	}
	var lost recalls
	err := s.in(ctx, tx, size, func(q querier) error {
		lost = nil
		e := newEffects(s, q, &lost)
		for i := range starts {
			var err error
			e.at = now()
			if out[i], err = s.start(e, &starts[i]); err != nil {
				return err
			}
		}
		return nil
	})
	s.nodes.recall(lost)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// startRun looks before it writes: there is one writer, so nothing changes in between, and of many
// callers that start one key at once the first creates the run and the others find it (J8). fresh
// tells whether this very call has made the run.
//
// A start that is repeated looks for its own run before it takes a key over: else its second try
// would take the key from the run of its first (J4).
func (s *Store) startRun(e *effects, st *journal.Start) (out journal.Started, fresh bool, err error) {
	q, at := e.q, e.at
	if st.Key != "" {
		h, err := readHolder(q, st.Key)
		if err != nil {
			return out, false, err
		}
		if !h.run.IsZero() && h.run != st.ID {
			if own, err := readOwn(q, st, at); own.Created || err != nil {
				return own, false, err
			}
			if !h.replacedBy(st) {
				return h.started(st, at), false, nil
			}
			return arrive(e, st, func() error { _, err := q.exec(startReuseSQL, uuidArg(h.run)); return err })
		}
	}
	return arrive(e, st, func() error { return nil })
}

// arrive creates a run, unless a limit of it is full. There is one writer, so what it reads stays
// true until it writes. giveUp takes the key of the run from the one that has it.
func arrive(e *effects, st *journal.Start, giveUp func() error) (out journal.Started, fresh bool, err error) {
	var rooms []*driver.LimitRoom
	if len(st.Limits) > 0 {
		if own, err := readOwn(e.q, st, e.at); own.Created || err != nil { // it is not in its own way
			return own, false, err
		}
		if rooms, err = e.rooms(st.Limits); err != nil {
			return out, false, err
		}
	}
	arrival := driver.Arrive(st, rooms)
	if arrival.Err != nil {
		return journal.Started{Run: st.ID, Now: e.at, Err: arrival.Err}, false, nil
	}
	if err := giveUp(); err != nil {
		return out, false, err
	}
	cancelled, err := e.cancelOldest(&arrival, rooms)
	if err != nil {
		return out, false, err
	}
	if out, fresh, err = e.s.create(e.q, st, e.at); err == nil && arrival.Newest != nil {
		cancelled, err = e.cancelWaiting(st.ID, arrival.Newest, cancelled)
	}
	out.Cancelled = cancelled
	return out, fresh, err
}

// create writes a run and its task, unless an earlier try has made it. The owner is looked up at
// this moment: a node that has left or was declared dead is not given the run, which then waits to
// be claimed.
func (s *Store) create(q querier, st *journal.Start, at time.Time) (out journal.Started, fresh bool, err error) {
	labels, err := driver.EncodeLabels(st.Labels)
	if err != nil {
		return out, false, err
	}
	headers, err := driver.EncodeHeaders(st.Headers)
	if err != nil {
		return out, false, err
	}
	limits, err := driver.EncodeRunLimits(st.Limits)
	if err != nil {
		return out, false, err
	}
	var startAt any
	due := at
	if st.Delay > 0 {
		due = at.Add(st.Delay).Truncate(time.Microsecond)
		startAt = due.UnixMicro()
	}
	parent := encodeParent(st.Parent)
	n, err := q.exec(startSQL, uuidArg(st.ID), at.UnixMicro(), startAt, int64(st.Version), int64(st.Priority), boolArg(st.Key != ""),
		st.Workflow, st.Queue, nullText(st.Key), nullText(labels), nullBytes(st.Input.Data), nullText(st.Input.Encoding), nullText(st.Trace),
		parent[0], parent[1], parent[2], parent[3], nullText(headers), nullInt(st.Timeout.Microseconds()), nullText(st.OnFailure), nullText(limits),
		nullInt(int64(boolArg(st.BeyondBacklog))))
	if err != nil {
		return out, false, err
	}
	if n == 0 {
		out, err = readOwn(q, st, at)
		return out, false, err
	}
	out = journal.Started{Run: st.ID, Created: true, StartAt: due, Now: at}
	owner, fence, visible := journal.NodeID(0), journal.Fence(0), any(due.UnixMicro())
	if st.Delay == 0 && st.Owner != 0 && limits == "" && s.nodes.alive(st.Owner) {
		out.Owned, owner, fence, visible = true, st.Owner, journal.FenceAtBirth, nil
	}
	_, err = q.exec(startTaskSQL, uuidArg(st.ID), visible, int64(fence), int64(owner), boolArg(out.Owned), int64(st.Version),
		int64(st.Priority), st.Queue, st.Workflow)
	if err == nil && limits != "" {
		err = awaitLimits(q, st.ID, st.Limits, st.Priority, due, at)
	}
	return out, true, err
}

// readOwn finds the run of an earlier try, and whether it is still the owner's own from birth.
func readOwn(q querier, st *journal.Start, at time.Time) (out journal.Started, err error) {
	out.Now = at
	err = q.query(startOwnSQL, func(r row) error {
		owned := st.Owner != 0 && journal.NodeID(r.int(1)) == st.Owner && journal.Fence(r.int(2)) == journal.FenceAtBirth
		out = journal.Started{Run: st.ID, Created: true, Owned: owned, StartAt: r.time(0), Now: at}
		return nil
	}, uuidArg(st.ID))
	return out, err
}

// holder is the run that has a key. Its id is zero if nobody has it. It is read in the transaction
// that acts on it, so it stays what it is.
type holder struct {
	run      journal.RunID
	workflow string
	status   journal.Status
	startAt  time.Time
}

// readHolder finds the run that has a key.
func readHolder(q querier, key string) (h holder, err error) {
	err = q.query(startHolderSQL, func(r row) error {
		h = holder{run: r.id(0), workflow: r.text(1), status: journal.Status(r.int(2)), startAt: r.time(3)}
		return nil
	}, key)
	return h, err
}

// replacedBy tells whether the holder gives its key up to a start (J8).
func (h *holder) replacedBy(st *journal.Start) bool {
	return h.workflow == st.Workflow && st.Reuse.Replaces(h.status)
}

// started is the outcome of a start whose key stays with the holder.
func (h *holder) started(st *journal.Start, at time.Time) journal.Started {
	if h.workflow != st.Workflow {
		return journal.Started{Run: h.run, Now: at, Err: &journal.KeyConflictError{Key: st.Key, Run: h.run, Workflow: h.workflow}}
	}
	return journal.Started{Run: h.run, StartAt: h.startAt, Now: at}
}
