package worker

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// claimStore answers claims as a test says.
type claimStore struct {
	faultyStore
	claim func(driver.ClaimRequest) (driver.Claim, error)
}

func (s *claimStore) Claim(_ context.Context, r driver.ClaimRequest) (driver.Claim, error) {
	return s.claim(r)
}

// The claim after one without an answer asks for everything that the node owns: the lost one may
// have acquired runs. The one before it does not.
func TestLostClaimIsReconciled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []bool
		var fail atomic.Bool
		s := &claimStore{claim: func(r driver.ClaimRequest) (driver.Claim, error) {
			asked = append(asked, r.Reconcile)
			if fail.Swap(false) {
				return driver.Claim{}, journal.ErrUnavailable
			}
			return driver.Claim{}, nil
		}}
		w, _ := testWorker()
		w.claimer.j = driver.New(s, nil)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); w.claimer.loop(ctx) }()
		synctest.Wait()
		fail.Store(true)
		time.Sleep(3 * time.Second)
		cancel()
		<-ended
		if len(asked) < 3 || asked[0] || asked[1] || !asked[2] {
			t.Errorf("claims that ask for everything: %v, want only those after the second, which failed", asked)
		}
		w.kill()
		w.sys.Kill(nil)
	})
}

// A claim that fails once is repeated at once: a connection that broke is no outage.
func TestAClaimThatFailsIsRepeatedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var times []time.Time
		s := &claimStore{claim: func(driver.ClaimRequest) (driver.Claim, error) {
			if times = append(times, time.Now()); len(times)%2 == 1 {
				return driver.Claim{}, journal.ErrUnavailable
			}
			return driver.Claim{}, nil
		}}
		w, _ := testWorker()
		w.claimer.j = driver.New(s, nil)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); w.claimer.loop(ctx) }()
		time.Sleep(10 * time.Second)
		cancel()
		<-ended
		for i := 1; i < len(times); i += 2 {
			if waited := times[i].Sub(times[i-1]); waited > 100*time.Millisecond {
				t.Errorf("after failure %d the claim was repeated in %s", i/2+1, waited)
			}
		}
		if len(times) < 4 {
			t.Errorf("%d claims", len(times))
		}
		w.kill()
		w.sys.Kill(nil)
	})
}
