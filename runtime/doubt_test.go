package runtime

import (
	"testing"
	"testing/synctest"
	"time"
)

// After a lost answer the node looks at once, and then now and then for as long as the call may take effect.
func TestDoubt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d doubt
		if d.look() {
			t.Error("looks without a reason")
		}
		d.raise()
		looks, last := 0, time.Time{}
		for began := time.Now(); time.Since(began) < 10*doubtFor; time.Sleep(time.Second) {
			if d.look() {
				looks, last = looks+1, time.Now()
			}
		}
		if want := int(doubtFor/doubtEvery) + 2; looks != want {
			t.Errorf("%d looks, want %d", looks, want)
		}
		if ago := time.Since(last); ago < 8*doubtFor {
			t.Errorf("the last look was %s ago", ago)
		}
		d.raise()
		if time.Sleep(time.Millisecond); !d.look() || d.look() {
			t.Error("a new doubt means one look at once")
		}
	})
}
