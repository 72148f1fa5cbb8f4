package worker

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// What an operator has released stays released, although its step goes on: whoever waits gets the
// place, and so does the next one. The release comes from another process, whose hints are lost.
func TestReleasedClaimsStayReleased(t *testing.T) {
	inLimiterWorld(t, func(w *limiterWorld) {
		hangs := w.want()
		synctest.Wait()
		if !w.hasBegun(hangs) {
			t.Fatal("the first one does not begin")
		}
		a := driver.AdminAction{Kind: driver.AdminReleaseClaim, Claim: &journal.LimitClaim{Node: w.l.node, ID: hangs.ID}, Actor: "eva"}
		if _, err := w.store.Peer().Admin(t.Context(), a); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * limitPoll)
		if n := w.held(); n != 0 {
			t.Fatalf("%d are held behind the release", n)
		}
		for range 2 {
			next := w.want()
			time.Sleep(3 * limitPoll)
			if !w.hasBegun(next) || w.held() != 1 {
				t.Fatalf("behind a release one begins: %v, and %d are held", w.hasBegun(next), w.held())
			}
			w.l.Release(next, next.Needs)
			time.Sleep(limitPoll)
		}
		w.l.Release(hangs, hangs.Needs)
		time.Sleep(3 * limitPoll)
		if n := w.held(); n != 0 {
			t.Errorf("%d are held when all have ended", n)
		}
	})
}
