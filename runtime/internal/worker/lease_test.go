package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// fakeMember is a membership whose store does not answer.
type fakeMember struct {
	driver.Membership
	left chan error // the error of Leave's context
}

func (fakeMember) ID() journal.NodeID { return 7 }

func (fakeMember) Renew(context.Context) (driver.Renewal, error) {
	return driver.Renewal{}, journal.ErrUnavailable
}

func (fakeMember) Look(context.Context) (driver.Look, error) {
	return driver.Look{}, journal.ErrUnavailable
}

func (fakeMember) Contact() (time.Time, bool) { return time.Now(), false }
func (fakeMember) Judged() <-chan struct{}    { return nil }

func (fakeMember) Owned(context.Context) ([]driver.Holding, error) { return nil, nil }

func (fakeMember) Release(context.Context, []driver.Holding) error { return nil }

func (m fakeMember) Leave(ctx context.Context) error {
	m.left <- ctx.Err()
	return nil
}

const (
	leaseOfTests = 10 * time.Second
	graceOfTests = 800 * time.Millisecond
)

func testWorker() (*Worker, fakeMember) {
	m := fakeMember{left: make(chan error, 1)}
	return New(Config{
		Journal: driver.New(&faultyStore{}, nil), Member: m, Lease: leaseOfTests, Grace: graceOfTests, Poll: time.Second, Drain: 10 * time.Second,
		LiveMax: 2000, Batchers: 2, Hint: func(driver.Hint) {}, Log: slog.New(slog.DiscardHandler),
	}), m
}

// J9: a node that cannot renew gives up no later than the others may declare it dead, whenever its
// last try was.
func TestLeaseEndsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := testWorker()
		lease := leaseOfTests + leaseOfTests/renewalsPerLease/2 // between two tries
		began := time.Now()
		go w.lease.renewLoop(w.alive, began.Add(lease))
		<-w.lost
		if took := time.Since(began); took > lease {
			t.Errorf("gave up after %s, the lease was %s", took, lease)
		}
		if !errors.Is(w.reason, journal.ErrNodeLost) {
			t.Errorf("the reason is %v", w.reason)
		}
		_ = w.Abort()
		time.Sleep(time.Minute) // the last timers end
	})
}

// hangingMember is a membership whose store refuses once and then falls silent.
type hangingMember struct {
	fakeMember
	refused *bool
}

func (m hangingMember) Renew(ctx context.Context) (driver.Renewal, error) {
	if !*m.refused {
		*m.refused = true
		return driver.Renewal{}, fmt.Errorf("%w: the role may not log in", journal.ErrUnavailable)
	}
	<-ctx.Done()
	return driver.Renewal{}, ctx.Err()
}

// The reason for which a lease was lost is what the store has said, not that the time was over.
func TestLostLeaseNamesItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := testWorker()
		w.lease.member = hangingMember{m, new(bool)}
		go w.lease.renewLoop(w.alive, time.Now().Add(leaseOfTests))
		<-w.lost
		if !errors.Is(w.reason, journal.ErrNodeLost) || !strings.Contains(w.reason.Error(), "the role may not log in") {
			t.Errorf("the reason is %v", w.reason)
		}
		_ = w.Abort()
		time.Sleep(time.Minute) // the last timers end
	})
}

// stuckMember is a membership whose calls hang as those on a disk do: they heed no context.
type stuckMember struct {
	fakeMember
	free chan struct{}
}

func (m stuckMember) Renew(context.Context) (driver.Renewal, error) {
	<-m.free
	return driver.Renewal{}, nil
}

// J9: the end of a lease waits for no call. An answer that comes later renews nothing.
func TestLeaseEndsWhileItsRenewalHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := testWorker()
		free := make(chan struct{})
		w.lease.member = stuckMember{m, free}
		w.lease.renewed = func(driver.Renewal) { t.Error("a lease that is over was renewed") }
		began := time.Now()
		go w.lease.renewLoop(w.alive, began.Add(leaseOfTests))
		<-w.lost
		if took := time.Since(began); took != leaseOfTests {
			t.Errorf("gave up after %s, the lease was %s", took, leaseOfTests)
		}
		if !errors.Is(w.reason, journal.ErrNodeLost) {
			t.Errorf("the reason is %v", w.reason)
		}
		close(free)
		_ = w.Abort()
		time.Sleep(time.Minute) // the last timers end
	})
}

// A store that heeds the end of its time is heard once more before the lease is over.
func TestLostLeaseNamesTheCauseOfItsLastRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := testWorker()
		w.lease.member = lastWordMember{m}
		go w.lease.renewLoop(w.alive, time.Now().Add(leaseOfTests))
		<-w.lost
		if !strings.Contains(w.reason.Error(), "the disk is full") {
			t.Errorf("the reason is %v", w.reason)
		}
		_ = w.Abort()
		time.Sleep(time.Minute) // the last timers end
	})
}

// lastWordMember is a membership whose store says only when its time is over what ails it.
type lastWordMember struct{ fakeMember }

func (lastWordMember) Renew(ctx context.Context) (driver.Renewal, error) {
	<-ctx.Done()
	return driver.Renewal{}, fmt.Errorf("%w: the disk is full", journal.ErrUnavailable)
}

// A node that was lost or whose drain took too long still gives its lease back: nothing of it is
// written any more.
func TestEveryEndLeaves(t *testing.T) {
	for name, end := range map[string]func(w *Worker){
		"lost":  func(w *Worker) { w.fail(journal.ErrNodeLost); _ = w.Abort() },
		"drain": func(w *Worker) { w.kill(); _ = w.Drain() },
	} {
		t.Run(name, func(t *testing.T) {
			w, m := testWorker()
			end(w)
			if err := <-m.left; err != nil {
				t.Errorf("leaves with a context that ended: %v", err)
			}
		})
	}
}

// pacedMember counts its renewals, which may fail.
type pacedMember struct {
	fakeMember
	renewals *atomic.Int64
	fails    *atomic.Bool
}

func (m pacedMember) Renew(context.Context) (driver.Renewal, error) {
	m.renewals.Add(1)
	if m.fails.Load() {
		return driver.Renewal{}, journal.ErrUnavailable
	}
	return driver.Renewal{}, nil
}

// A node that owns nothing renews less often, unless a renewal has failed.
func TestIdleNodesRenewSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := testWorker()
		var renewals atomic.Int64
		var fails, owns atomic.Bool
		w.lease.member, w.lease.owns = pacedMember{m, &renewals, &fails}, owns.Load
		ended := make(chan struct{})
		go func() { defer close(ended); w.lease.renewLoop(w.alive, time.Now().Add(leaseOfTests)) }()
		in := func(what string, d time.Duration, want int) {
			t.Helper()
			renewals.Store(0)
			time.Sleep(d)
			synctest.Wait()
			if n := int(renewals.Load()); n < want || n > want+1 {
				t.Errorf("%s: %d renewals in %s, want %d", what, n, d, want)
			}
		}
		in("idle", 10*leaseOfTests, 10*idleRenewalsPerLease)
		owns.Store(true)
		time.Sleep(leaseOfTests)
		in("with a run", 10*leaseOfTests, 10*renewalsPerLease)
		owns.Store(false)
		fails.Store(true)
		in("idle, without an answer", leaseOfTests/2, renewalsPerLease/2)
		fails.Store(false)
		in("idle again", 10*leaseOfTests, 10*idleRenewalsPerLease)
		w.fail(journal.ErrNodeLost)
		_ = w.Abort()
		<-ended
		time.Sleep(time.Minute) // the last timers end
	})
}

// A node that renews seldom looks at its queue before a poll is due.
func TestIdleNodesLookBetweenRenewals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := testWorker()
		var looks []time.Time
		w.reaper.member = lookedMember{fakeMember: m, look: func(context.Context) { looks = append(looks, time.Now()) }}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); w.reaper.lookLoop(ctx) }()
		began := time.Now()
		for range 10 {
			w.reaper.look() // a renewal
			time.Sleep(leaseOfTests / idleRenewalsPerLease)
		}
		cancel()
		<-ended
		for i, at := range append(looks, time.Now()) {
			before := began
			if i > 0 {
				before = looks[i-1]
			}
			if at.Sub(before) > 1500*time.Millisecond {
				t.Errorf("no look for %s", at.Sub(before))
			}
		}
		if len(looks) > 21 {
			t.Errorf("%d looks for 10 renewals", len(looks))
		}
		w.fail(journal.ErrNodeLost)
		_ = w.Abort()
		time.Sleep(time.Minute)
	})
}
