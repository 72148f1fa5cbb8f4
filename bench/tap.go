package main

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// tap is a Store that tells what passes through it. It changes nothing.
type tap struct {
	store

	startCalls, starts   atomic.Int64
	commitCalls, commits atomic.Int64
	parks, closes        atomic.Int64
	claimCalls, claims   atomic.Int64 // that took something
	claimTime            atomic.Int64 // nanoseconds of those

	onCommit atomic.Pointer[func(commits []driver.Commit, out []driver.Outcome, at time.Time)]
	onClaim  atomic.Pointer[func(took time.Duration)] // whatever it took
	onRenew  atomic.Pointer[func(took time.Duration, err error)]
}

var (
	_ driver.Store   = (*tap)(nil)
	_ driver.TxStore = (*tap)(nil)
)

// Start implements driver.Store.
func (t *tap) Start(ctx context.Context, tx journal.Tx, starts []journal.Start) ([]journal.Started, error) {
	out, err := t.store.Start(ctx, tx, starts)
	t.startCalls.Add(1)
	t.starts.Add(int64(len(out)))
	return out, err
}

// Commit implements driver.Store.
func (t *tap) Commit(ctx context.Context, commits []driver.Commit) ([]driver.Outcome, error) {
	out, err := t.store.Commit(ctx, commits)
	if err != nil {
		return out, err
	}
	at := time.Now()
	var parks, closes int64
	for i := range out {
		if out[i].Err == nil && commits[i].Next.Kind == driver.NextPark {
			parks++
		}
		if out[i].Err == nil && commits[i].Next.Kind == driver.NextClose {
			closes++
		}
	}
	t.commitCalls.Add(1)
	t.commits.Add(int64(len(out)))
	t.parks.Add(parks)
	t.closes.Add(closes)
	if fn := t.onCommit.Load(); fn != nil {
		(*fn)(commits, out, at)
	}
	return out, nil
}

// Claim implements driver.Store.
func (t *tap) Claim(ctx context.Context, r driver.ClaimRequest) (driver.Claim, error) {
	began := time.Now()
	c, err := t.store.Claim(ctx, r)
	if n := len(c.Tasks); n > 0 {
		t.claimCalls.Add(1)
		t.claims.Add(int64(n))
		t.claimTime.Add(int64(time.Since(began)))
	}
	if fn := t.onClaim.Load(); fn != nil && err == nil {
		(*fn)(time.Since(began))
	}
	return c, err
}

// Join implements driver.Store.
func (t *tap) Join(ctx context.Context, n journal.Node) (driver.Membership, error) {
	m, err := t.store.Join(ctx, n)
	if err != nil {
		return nil, err
	}
	return &tappedMembership{m, t}, nil
}

// tappedMembership tells how long renewals of the lease take.
type tappedMembership struct {
	driver.Membership
	tap *tap
}

// Renew implements driver.Membership.
func (m *tappedMembership) Renew(ctx context.Context) (driver.Renewal, error) {
	began := time.Now()
	r, err := m.Membership.Renew(ctx)
	if fn := m.tap.onRenew.Load(); fn != nil {
		(*fn)(time.Since(began), err)
	}
	return r, err
}

// batches is how calls were gathered.
type batches struct{ startCalls, starts, commitCalls, commits int64 }

func (t *tap) batches() batches {
	return batches{t.startCalls.Load(), t.starts.Load(), t.commitCalls.Load(), t.commits.Load()}
}

func (b *batches) add(o batches) {
	b.startCalls += o.startCalls
	b.starts += o.starts
	b.commitCalls += o.commitCalls
	b.commits += o.commits
}

// since puts the mean batch sizes into f.
func (b batches) since(before batches, f figures) {
	f["start_batch"] = ratio(float64(b.starts-before.starts), float64(b.startCalls-before.startCalls))
	f["commit_batch"] = ratio(float64(b.commits-before.commits), float64(b.commitCalls-before.commitCalls))
}
