package worker

import (
	"fmt"
	"strings"
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

// A round that has failed happens after all: before the comparison, before the round that repeats
// it, or behind that. What it asked for is granted once, and nothing is held by nobody.
func TestAFailedRoundHappensLate(t *testing.T) {
	for nth := 2; nth <= 5; nth++ {
		t.Run(fmt.Sprint(nth), func(t *testing.T) {
			inLimiterWorld(t, func(w *limiterWorld) {
				w.m.behind = nth
				a, b := w.want(), w.want()
				wait := 3 * limitPoll
				if nth == 3 { // the round that repeats tells what is held: no poll is waited for
					wait = limitPoll / 2
				}
				time.Sleep(wait)
				if w.held() != 1 || !w.hasBegun(a) || w.hasBegun(b) || w.m.sent() < nth {
					t.Fatalf("%d are held, %v have begun by %d rounds", w.held(), w.began, w.m.sent())
				}
				w.l.Release(a, a.Needs)
				time.Sleep(limitPoll)
				if w.held() != 1 || !w.hasBegun(b) {
					t.Fatalf("behind the release %d are held, %v have begun", w.held(), w.began)
				}
				w.l.Release(b, b.Needs)
				time.Sleep(limitPoll)
				next := w.want()
				if w.held() != 1 || !w.hasBegun(next) {
					t.Errorf("in the end %d are held, %v have begun", w.held(), w.began)
				}
				w.l.Release(next, next.Needs)
				if strings.Contains(w.log.String(), "cannot be asked for") {
					t.Errorf("the log: %s", w.log)
				}
			})
		})
	}
}

// A store went back to before a grant: what is executed is held again, ahead of all that wait.
func TestGrantsOfAStoreThatWentBack(t *testing.T) {
	inLimiterWorld(t, func(w *limiterWorld) {
		first, second, third := w.want(), w.want(), w.want()
		if !w.hasBegun(first) || w.hasBegun(second) {
			t.Fatalf("begun: %v", w.began)
		}
		before := w.store.Mark()
		w.l.Release(first, first.Needs)
		if !w.hasBegun(second) {
			t.Fatal("the second does not begin")
		}
		w.store.GoBack(before)
		w.l.doubt()
		time.Sleep(3 * limitPoll)
		page, err := w.j.Limits(t.Context(), journal.LimitFilter{Claims: 10})
		if err != nil || w.held() != 1 || w.hasBegun(third) {
			t.Fatalf("%d are held, the third has begun: %v, %v", w.held(), w.hasBegun(third), err)
		}
		if c := page.Claims[0]; c.ID != second.ID || c.Granted.IsZero() {
			t.Errorf("held is %+v, want the second", c)
		}
		w.l.Release(second, second.Needs)
		if !w.hasBegun(third) || w.held() != 1 {
			t.Errorf("the third has begun: %v, and %d are held", w.hasBegun(third), w.held())
		}
		w.l.Release(third, third.Needs)
	})
}
