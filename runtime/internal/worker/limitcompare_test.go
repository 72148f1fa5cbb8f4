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

// A store that went back holds again what the node had then. The next doubt takes it away, also if
// the node wants nothing any more; a node that has never wanted anything asks nothing.
func TestClaimsOfAStoreThatWentBack(t *testing.T) {
	inLimiterWorld(t, func(w *limiterWorld) {
		w.l.doubt()
		if synctest.Wait(); w.m.sent() != 0 {
			t.Errorf("a node without limited steps has sent %d rounds", w.m.sent())
		}
		had := w.want()
		if !w.hasBegun(had) {
			t.Fatal("it does not begin")
		}
		w.l.Release(had, had.Needs)
		if n := w.held(); n != 0 {
			t.Fatalf("%d are held behind the release", n)
		}
		if _, err := w.m.Membership.Limits(t.Context(), driver.LimitRound{Wants: []driver.Want{had.Want}}); err != nil {
			t.Fatal(err)
		}
		if n := w.held(); n != 1 {
			t.Fatalf("%d are held by the past, want 1", n)
		}
		w.l.doubt()
		if n := w.held(); n != 0 {
			t.Errorf("%d are held by nobody", n)
		}
	})
}
