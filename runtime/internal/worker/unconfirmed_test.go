package worker

import (
	"testing"
	"testing/synctest"
	"time"
)

// After a lost answer the node looks at once, and then every reconcileEvery for as long as the call
// may take effect.
func TestReconcilingClaims(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var u unconfirmed
		if u.due() {
			t.Error("looks without a reason")
		}
		u.note()
		looks, last := 0, time.Time{}
		for began := time.Now(); time.Since(began) < 10*reconcileFor; time.Sleep(time.Second) {
			if u.due() {
				looks, last = looks+1, time.Now()
			}
		}
		if want := int(reconcileFor/reconcileEvery) + 2; looks != want {
			t.Errorf("%d looks, want %d", looks, want)
		}
		if ago := time.Since(last); ago < 8*reconcileFor {
			t.Errorf("the last look was %s ago", ago)
		}
		u.note()
		if time.Sleep(time.Millisecond); !u.due() || u.due() {
			t.Error("another lost answer means one look at once")
		}
	})
}

// A further lost answer is looked for at once, although the last look was a moment ago: that look
// may have come before the call that was lost.
func TestLostAnswerAfterALook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var u unconfirmed
		u.note()
		time.Sleep(time.Millisecond)
		if !u.due() || u.due() {
			t.Fatal("want one look at once")
		}
		time.Sleep(time.Millisecond)
		u.note()
		time.Sleep(time.Millisecond)
		if !u.due() {
			t.Errorf("no look for %s after another answer was lost", reconcileEvery)
		}
	})
}
