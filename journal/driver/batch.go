package driver

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// batchKind says what Start and Send do with one member of their call. Everything else they do
// alike. The fields are functions without captured variables, so a call allocates nothing for them.
type batchKind[M, A any] struct {
	verb    string
	prepare func(j *Journal, m *M) error // fills defaults and refuses what cannot be stored
	refuse  func(m *M, err error) A      // answers a member that prepare refused
	store   func(s Store, ctx context.Context, tx journal.Tx, members []M) ([]A, error)
	errOf   func(a *A) error
	stampOf func(a *A) time.Time // the store's clock; zero if the answer does not tell
}

var startBatch = batchKind[journal.Start, journal.Started]{
	verb:    "start",
	prepare: (*Journal).prepareStart,
	refuse:  func(s *journal.Start, err error) journal.Started { return journal.Started{Run: s.ID, Err: err} },
	store:   Store.Start,
	errOf:   func(a *journal.Started) error { return a.Err },
	stampOf: func(a *journal.Started) time.Time { return a.Now },
}

var sendBatch = batchKind[journal.Message, journal.Sent]{
	verb:    "send",
	prepare: (*Journal).prepareMessage,
	refuse:  func(_ *journal.Message, err error) journal.Sent { return journal.Sent{Err: err} },
	store:   Store.Send,
	errOf:   func(a *journal.Sent) error { return a.Err },
	stampOf: func(*journal.Sent) time.Time { return time.Time{} },
}

// batch is a call that the store has answered.
type batch[M, A any] struct {
	answers []A   // one for each member of the call, in its order
	valid   []M   // the members that the store got, with their defaults
	index   []int // where the answer to each valid member stands
}

// submit prepares the members, sends the valid ones to the store in batches of at most
// journal.BatchMax, and brings the answers into the order of the members. The caller's slice is not
// changed: a member that the caller submits again must be the one that it submitted before (J4).
func (k *batchKind[M, A]) submit(ctx context.Context, j *Journal, tx journal.Tx, members []M) (batch[M, A], error) {
	began := time.Now()
	b := batch[M, A]{answers: make([]A, len(members)), valid: make([]M, 0, len(members)), index: make([]int, 0, len(members))}
	for i := range members {
		n := len(b.valid)
		b.valid = append(b.valid, members[i])
		if err := k.prepare(j, &b.valid[n]); err != nil {
			b.answers[i] = k.refuse(&b.valid[n], err)
			b.valid = b.valid[:n]
			continue
		}
		b.index = append(b.index, i)
	}
	store := func(from, to int) error {
		got, err := k.store(j.store, ctx, tx, b.valid[from:to])
		for i := range got {
			b.answers[b.index[from+i]] = got[i]
		}
		if len(got) > 0 {
			j.clock.Observe(k.stampOf(&got[len(got)-1])) // one stamp is as good as all of them
		}
		return err
	}
	err := inBatches(len(b.valid), func(from, to int) error {
		if tx != nil { // it has failed as a whole
			return store(from, to)
		}
		return ApartFromDamage(from, to, store, func(i int, why error) error {
			b.answers[b.index[i]] = k.refuse(&b.valid[i], why)
			return nil
		})
	})
	refused := 0
	for i := range b.answers {
		if k.errOf(&b.answers[i]) != nil {
			refused++
		}
	}
	if tx == nil && len(b.valid) > 0 { // a caller's transaction has a connection of the caller's
		j.outage.note(k.verb, err)
	}
	j.observe(k.verb, len(members), refused, began, err)
	if err != nil {
		return batch[M, A]{}, fmt.Errorf("%s: %w", k.verb, err)
	}
	return b, nil
}
