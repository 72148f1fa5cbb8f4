package postgres

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
)

// A node with a long grace does not keep others from being declared dead after theirs, and the time
// that has passed since the first look counts.
func TestSuspectsWaitForTheirOwnGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &member{}
		silent := func() map[journal.NodeID]suspicion {
			return map[journal.NodeID]suspicion{2: {grace: time.Second}, 3: {grace: time.Hour}}
		}
		if wait := m.suspect(silent()); wait != time.Second {
			t.Errorf("the first look waits %s, want 1s", wait)
		}
		time.Sleep(time.Second / 4)
		if wait := m.suspect(silent()); wait != 3*time.Second/4 {
			t.Errorf("the second look waits %s, want 750ms", wait)
		}
		time.Sleep(time.Second)
		if ids, _ := m.condemned([]journal.NodeID{2, 3}); len(ids) != 1 || ids[0] != 2 {
			t.Errorf("nodes %v may be declared dead, want node 2", ids)
		}
		if wait := m.suspect(nil); wait != 0 {
			t.Errorf("without suspects it waits %s", wait)
		}
	})
}
