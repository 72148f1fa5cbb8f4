package sqlite

import (
	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// limitWaitingRunsSQL counts the runs that wait for a key, up to as many as matter.
const limitWaitingRunsSQL = `
SELECT count(*) FROM (
    SELECT 1 FROM reprise_limit_claims c INDEXED BY reprise_limit_claims_backlog_idx
    WHERE c.node = 0 AND c.granted_at IS NULL AND c.ended = 0 AND c.name = ? AND c.key = ? LIMIT ?)`

// Places of runs that have ended are free, although the lines still count them. The second counts
// those of all keys.
const (
	limitEndedSQL = `
SELECT count(*) FROM reprise_limit_claims c INDEXED BY reprise_limit_claims_ended_idx
WHERE c.node = 0 AND c.granted_at IS NOT NULL AND c.ended = 1 AND c.name = ? AND c.key = ?`
	limitEndedAllSQL = `
SELECT count(*) FROM reprise_limit_claims c INDEXED BY reprise_limit_claims_ended_idx
WHERE c.node = 0 AND c.granted_at IS NOT NULL AND c.ended = 1 AND c.name = ?`
)

// limitOldestSQL is the run that has come first of those that wait for a key.
const limitOldestSQL = `
SELECT c.run_id FROM reprise_limit_claims c INDEXED BY reprise_limit_claims_backlog_idx
WHERE c.node = 0 AND c.granted_at IS NULL AND c.ended = 0 AND c.name = ? AND c.key = ? ORDER BY c.id LIMIT 1`

// arrive creates a run, unless a limit of it is full. There is one writer, so what it reads stays
// true until it writes. giveUp takes the key of the run from the one that has it.
func (s *Store) arrive(e *effects, st *journal.Start, giveUp func() error) (out journal.Started, fresh bool, err error) {
	var rooms []*driver.LimitRoom
	if len(st.Limits) > 0 {
		if own, err := readOwn(e.q, st, e.at); own.Created || err != nil { // it is not in its own way
			return own, false, err
		}
		if rooms, err = e.rooms(st.Limits); err != nil {
			return out, false, err
		}
	}
	arrival := driver.Arrive(st.Limits, rooms)
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
	if out, fresh, err = s.create(e.q, st, e.at); err == nil && arrival.Newest != nil {
		cancelled, err = e.cancelWaiting(st.ID, arrival.Newest, cancelled)
	}
	out.Cancelled = cancelled
	return out, fresh, err
}

// rooms are the rooms of what a run needs; nil for those that no backlog bounds.
func (e *effects) rooms(needs []journal.LimitNeed) (list []*driver.LimitRoom, err error) {
	rows := limitRows{e.q, e.at}
	for _, n := range needs {
		k := driver.LimitKey{Name: n.Name, Key: n.Key}
		all, err := rows.Limit(driver.LimitKey{Name: n.Name})
		bounds := all
		if err == nil && n.Key != "" {
			var own *journal.Limit
			if own, err = rows.Limit(k); own != nil {
				bounds = own
			}
		}
		if err != nil {
			return nil, err
		}
		if bounds == nil || bounds.MaxBacklog == 0 {
			list = append(list, nil)
			continue
		}
		r := &driver.LimitRoom{LimitKey: k, Limit: bounds, Now: e.at.UnixMicro()}
		if all != nil {
			r.Total = all.Total
		}
		if err := e.fill(r, &rows); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// fill reads what is held of a room, and who waits.
func (e *effects) fill(r *driver.LimitRoom, rows *limitRows) error {
	line, err := rows.Line(r.LimitKey)
	if err != nil {
		return err
	}
	total, err := rows.Line(r.LimitKey.Total())
	if err != nil {
		return err
	}
	r.Ready, r.Held, r.HeldAll = line.Ready, line.Held, total.Held
	x := execs{q: e.q}
	x.query(limitEndedSQL, func(row row) error { r.Held -= int(row.int(0)); return nil }, r.Name, r.Key)
	x.query(limitEndedAllSQL, func(row row) error { r.HeldAll -= int(row.int(0)); return nil }, r.Name)
	x.query(limitWaitingRunsSQL, func(row row) error { r.Waiting = int(row.int(0)); return nil }, r.Name, r.Key, int64(r.Enough()))
	return x.err
}

// cancelOldest makes room for a run that comes, and returns what it has closed.
func (e *effects) cancelOldest(a *driver.Arrival, rooms []*driver.LimitRoom) (closed []journal.RunID, err error) {
	for _, r := range rooms {
		for _, k := range a.Oldest {
			if r == nil || r.LimitKey != k || err != nil {
				continue
			}
			var oldest journal.RunID
			err = e.q.query(limitOldestSQL, func(r row) error { oldest = r.id(0); return nil }, k.Name, k.Key)
			if err == nil && !oldest.IsZero() {
				closed, err = e.cancelWaiting(oldest, &driver.LimitEnd{LimitKey: k, MaxBacklog: r.Limit.MaxBacklog}, closed)
			}
		}
	}
	return closed, err
}

// cancelWaiting closes a run that waits for a limit which is full, and notes it in the audit (J12).
// It appends what it has closed to a list.
func (e *effects) cancelWaiting(run journal.RunID, why *driver.LimitEnd, closed []journal.RunID) ([]journal.RunID, error) {
	t, err := find(e.q, run)
	if err != nil {
		return closed, err
	}
	ev, err := t.end(e, journal.RunCancelled, why.Payload())
	if err != nil {
		return closed, err
	}
	a := why.Action(run)
	if err := note(e.q, &a, t.run.Workflow, "", e.at); err != nil {
		return closed, err
	}
	return t.tellFamily(e, ev, append(closed, run))
}
