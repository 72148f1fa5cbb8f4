package replica

import (
	"testing"

	"github.com/reprise-run/reprise/journal"
)

// Nobody gets a replica that was taken out of the cache, not even when it is free again: its
// machine may be in any state. Who asks for its run gets another one.
func TestReplicaThatWasTakenOutIsNobodys(t *testing.T) {
	c, run := New(Options{}), journal.NewRunID()
	r := c.acquire(run)
	c.mu.Lock()
	c.detach(r)
	c.mu.Unlock()
	for range 100 { // both of what it waits for have come, and one is picked at random
		if r.hold(t.Context()) {
			t.Fatal("it was given away")
		}
	}
	if len(r.inUse) != 0 {
		t.Error("it is in use")
	}
	fresh, err := c.take(t.Context(), run)
	if err != nil || fresh == r {
		t.Errorf("the next user gets %p after %p: %v", fresh, r, err)
	}
}
