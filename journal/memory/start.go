package memory

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// Start implements driver.Store. It takes part in no transaction.
func (s *Store) Start(ctx context.Context, tx journal.Tx, starts []journal.Start) ([]journal.Started, error) {
	return oneByOne(ctx, s, tx, starts, s.db.start)
}

// oneByOne carries out the members of a batch at one moment, in their order, so later members see
// what earlier ones did: of two starts with one key the first makes the run.
func oneByOne[T, A any](ctx context.Context, s *Store, tx journal.Tx, members []T, do func(*T, time.Time) A) ([]A, error) {
	if tx != nil {
		return nil, fmt.Errorf("transaction of type %T: %w: a store in memory starts and sends outside of transactions", tx, journal.ErrInvalid)
	}
	now, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer s.db.mu.Unlock()
	out := make([]A, len(members))
	for i := range members {
		out[i] = do(&members[i], now)
	}
	return out, nil
}

// start creates a run, or finds it, and sends it the message that comes with the start. A message
// makes a run visible, but one that comes with a delayed start waits with its run: the caller asked
// for both.
func (db *database) start(st *journal.Start, now time.Time) journal.Started {
	known := db.runs[st.ID] != nil
	o := db.create(st, now)
	if st.Message == nil || o.Err != nil {
		return o
	}
	m := *st.Message
	m.Run = o.Run
	if !o.Created || known || st.Delay == 0 {
		o.Sent = db.send(&m, now)
		return o
	}
	// The message would make the run due now. It waits with its run, so the time is put back.
	r := db.runs[o.Run]
	due := r.task.VisibleAt
	o.Sent = db.send(&m, now)
	db.dequeue(r)
	r.task.VisibleAt = due
	db.enqueue(r, now)
	return o
}

// create makes a run, unless its id or its key exists. The id is looked at first: a repeated start
// finds its own run even if the key has been taken over since (J4).
func (db *database) create(st *journal.Start, now time.Time) journal.Started {
	if own := db.runs[st.ID]; own != nil { // J4: an earlier try made the run
		owned := st.Owner != 0 && own.open && own.task.Owner == st.Owner && own.task.Fence == journal.FenceAtBirth
		return journal.Started{Run: st.ID, Created: true, Owned: owned, StartAt: own.run.StartAt, Now: now}
	}
	// J8: an open run always keeps its key, whatever the policy of the start says.
	if holder := db.keys[st.Key]; st.Key != "" && holder != nil {
		if holder.run.Workflow != st.Workflow {
			return journal.Started{Run: holder.run.ID, Now: now,
				Err: &journal.KeyConflictError{Key: st.Key, Run: holder.run.ID, Workflow: holder.run.Workflow}}
		}
		if !givesUpKey(holder, st.Reuse) {
			return journal.Started{Run: holder.run.ID, StartAt: holder.run.StartAt, Now: now}
		}
	}
	rooms := db.limits.roomsFor(st.Limits, now)
	arrival := driver.Arrive(st, rooms)
	if arrival.Err != nil {
		return journal.Started{Run: st.ID, Now: now, Err: arrival.Err}
	}
	if holder := db.keys[st.Key]; st.Key != "" && holder != nil {
		// The closed run stays as it is, and is found by its id. Only the key leads elsewhere now.
		holder.holdsKey = false
	}
	// An owner that is not alive is no error: the caller may have lost its lease while the start
	// was on its way. The run goes into the queue, and the answer says so.
	r := newRecord(st, now)
	cancelled := cancelOldest(db, &arrival, rooms, now)
	if len(st.Limits) > 0 {
		awaitLimits(db, r, r.run.StartAt)
	} else if db.alive(st.Owner) && st.Delay == 0 {
		r.task.Owner, r.task.Fence, r.task.VisibleAt, r.unconfirmed = st.Owner, journal.FenceAtBirth, time.Time{}, true
	}
	if st.Key != "" {
		r.holdsKey, db.keys[st.Key] = true, r
	}
	db.insert(r)
	db.addChild(r)
	db.enqueue(r, now)
	if arrival.Newest != nil {
		cancelled = cancelWaiting(db, r, arrival.Newest, cancelled, now)
	}
	return journal.Started{Run: st.ID, Created: true, Owned: r.task.Owner != 0, StartAt: r.run.StartAt, Now: now, Cancelled: cancelled}
}

// givesUpKey tells whether the holder of a key gives it up to a new run (J8). An open run never
// does.
func givesUpKey(holder *record, reuse journal.Reuse) bool {
	return !holder.open && reuse.Replaces(holder.run.Status)
}

// insert and remove keep the indexes of runs.
func (db *database) insert(r *record) {
	db.runs[r.run.ID] = r
	at, _ := slices.BinarySearchFunc(db.sorted, r.run.ID, byID)
	db.sorted = slices.Insert(db.sorted, at, r)
}

// remove forgets a run. Its key is free again, unless a later run has taken it over.
func (db *database) remove(r *record) {
	delete(db.runs, r.run.ID)
	if r.holdsKey {
		delete(db.keys, r.run.Key)
	}
	if at, ok := slices.BinarySearchFunc(db.sorted, r.run.ID, byID); ok {
		db.sorted = slices.Delete(db.sorted, at, at+1)
	}
}

// byID compares for searches in database.sorted.
func byID(r *record, id journal.RunID) int { return bytes.Compare(r.run.ID[:], id[:]) }
