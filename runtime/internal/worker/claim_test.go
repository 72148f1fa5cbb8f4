package worker

import (
	"context"
	"slices"
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

// loopOf runs the claim loop of a worker on a store that answers claims as told, for some time, and
// returns what was asked and when, counted from the begin.
func loopOf(w *Worker, lasts time.Duration, answer func(n int, r driver.ClaimRequest) driver.Claim) (asked []driver.ClaimRequest, at []time.Duration) {
	began := time.Now()
	s := &claimStore{claim: func(r driver.ClaimRequest) (driver.Claim, error) {
		asked, at = append(asked, r), append(at, time.Since(began))
		return answer(len(asked)-1, r), nil
	}}
	w.claimer.j = driver.New(s, nil)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); w.claimer.loop(ctx) }()
	time.Sleep(lasts)
	cancel()
	<-ended
	return asked, at
}

// A claim that took a suspect is followed by one at once that takes none, and the next claim that
// may take some comes when the trial ends, although nothing falls due and no hint says so.
func TestClaimsAroundATrial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := testWorker()
		w.claimer.timer.poll = time.Hour
		w.claimer.sys.Kill(nil) // what is activated is dropped
		asked, at := loopOf(w, driver.TrialTime+acquittalMax+time.Second, func(n int, _ driver.ClaimRequest) driver.Claim {
			if n > 0 {
				return driver.Claim{}
			}
			return driver.Claim{Tasks: []driver.Claimed{{Task: journal.Task{Run: journal.NewRunID(), Strikes: driver.SuspectStrikes}}}}
		})
		var suspects []int
		for _, r := range asked {
			suspects = append(suspects, r.Suspects)
		}
		if !slices.Equal(suspects, []int{1, 0, 2}) || at[1] != 0 || at[2] != driver.TrialTime+acquittalMax {
			t.Errorf("claims at %v might take %v suspects", at, suspects)
		}
		w.kill()
		time.Sleep(time.Minute) // the library's throttle of dead letters ends by the clock
	})
}

// A suspect that has committed is tried no longer: the next claim may take others at once.
func TestClaimBehindAnAcquittal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := testWorker()
		w.claimer.timer.poll = time.Hour
		w.claimer.sys.Kill(nil) // what is activated is dropped
		suspect := journal.NewRunID()
		go func() {
			time.Sleep(time.Second)
			w.claimer.trials.acquitted(suspect)
		}()
		asked, at := loopOf(w, driver.TrialTime/2, func(n int, _ driver.ClaimRequest) driver.Claim {
			if n > 0 {
				return driver.Claim{}
			}
			return driver.Claim{Tasks: []driver.Claimed{{Task: journal.Task{Run: suspect, Strikes: driver.SuspectStrikes}}}}
		})
		if len(asked) != 3 || asked[1].Suspects != 0 || asked[2].Suspects != 2 || at[2] != time.Second {
			t.Errorf("claims at %v: %+v", at, asked)
		}
		w.kill()
		time.Sleep(time.Minute) // the library's throttle of dead letters ends by the clock
	})
}

// A full node claims nothing, and asks every probeEvery who waits, as long as somebody does.
func TestAFullNodeCountsWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := testWorker()
		w.claimer.timer.poll = time.Hour
		w.claimer.room.liveMax = 0
		var told []bool
		w.claimer.crowd.tell = func(crowded bool) { told = append(told, crowded) }
		asked, at := loopOf(w, 10*probeEvery, func(n int, _ driver.ClaimRequest) driver.Claim {
			if n < 3 {
				return driver.Claim{Waiting: 5}
			}
			return driver.Claim{}
		})
		if want := []time.Duration{0, probeEvery, 2 * probeEvery, 3 * probeEvery}; !slices.Equal(at, want) {
			t.Errorf("claims at %v, want %v", at, want)
		}
		if slices.ContainsFunc(asked, func(r driver.ClaimRequest) bool { return r.Max != 0 }) {
			t.Errorf("a full node asks for tasks: %+v", asked)
		}
		if want := []bool{true, false}; !slices.Equal(told, want) {
			t.Errorf("the actors were told %v, want %v", told, want)
		}
		w.kill()
		w.sys.Kill(nil)
	})
}
