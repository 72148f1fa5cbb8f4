package memory

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// Start implements driver.Store. It takes part in no transaction.
func (s *Store) Start(ctx context.Context, tx journal.Tx, starts []journal.Start) ([]journal.Started, error) {
	return oneByOne(ctx, s, tx, starts, s.db.start)
}

// oneByOne carries out the members of a batch at one moment.
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

// start creates a run, or finds it, and sends the message that goes along.
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
	r := db.runs[o.Run] // it waits with its run
	due := r.task.VisibleAt
	o.Sent = db.send(&m, now)
	db.dequeue(r)
	r.task.VisibleAt = due
	db.enqueue(r, now)
	return o
}

func (db *database) create(st *journal.Start, now time.Time) journal.Started {
	if own := db.runs[st.ID]; own != nil { // J4: an earlier try made the run
		owned := st.Owner != 0 && own.open && own.task.Owner == st.Owner && own.task.Fence == 1
		return journal.Started{Run: st.ID, Created: true, Owned: owned, StartAt: own.run.StartAt, Now: now}
	}
	if holder := db.keys[st.Key]; st.Key != "" && holder != nil {
		if holder.run.Workflow != st.Workflow {
			return journal.Started{Run: holder.run.ID, Now: now,
				Err: &journal.KeyConflictError{Key: st.Key, Run: holder.run.ID, Workflow: holder.run.Workflow}}
		}
		if !givesUpKey(holder, st.Reuse) {
			return journal.Started{Run: holder.run.ID, StartAt: holder.run.StartAt, Now: now}
		}
		holder.holdsKey = false
	}
	r := newRecord(st, now)
	if db.alive(st.Owner) && st.Delay == 0 {
		r.task.Owner, r.task.Fence, r.task.VisibleAt, r.unconfirmed = st.Owner, 1, time.Time{}, true
	}
	if st.Key != "" {
		r.holdsKey, db.keys[st.Key] = true, r
	}
	db.insert(r)
	db.addChild(r)
	db.enqueue(r, now)
	return journal.Started{Run: st.ID, Created: true, Owned: r.task.Owner != 0, StartAt: r.run.StartAt, Now: now}
}

// givesUpKey tells whether the holder of a key gives it up (J8).
func givesUpKey(holder *record, reuse journal.Reuse) bool {
	return !holder.open && reuse.Replaces(holder.run.Status)
}

func (db *database) insert(r *record) {
	db.runs[r.run.ID] = r
	at, _ := slices.BinarySearchFunc(db.sorted, r.run.ID, byID)
	db.sorted = slices.Insert(db.sorted, at, r)
}

func (db *database) remove(r *record) {
	delete(db.runs, r.run.ID)
	if r.holdsKey {
		delete(db.keys, r.run.Key)
	}
	if at, ok := slices.BinarySearchFunc(db.sorted, r.run.ID, byID); ok {
		db.sorted = slices.Delete(db.sorted, at, at+1)
	}
}

func byID(r *record, id journal.RunID) int { return bytes.Compare(r.run.ID[:], id[:]) }
