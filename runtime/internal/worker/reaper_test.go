package worker

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// reapedMember notes what it is asked to reap.
type reapedMember struct {
	driver.Membership
	asked chan []journal.NodeID
}

func (m reapedMember) Reap(_ context.Context, suspects []journal.NodeID) (driver.Reaped, error) {
	m.asked <- suspects
	return driver.Reaped{}, nil
}

// A suspect is reaped after its grace and not before: a live node whose connections were lost has
// stopped its steps, or has other connections, by then. Meanwhile nothing else is looked at twice.
func TestSuspectsGetASecondLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := reapedMember{asked: make(chan []journal.NodeID, 10)}
		r := &reaper{member: m, lease: leaseOfTests, log: slog.New(slog.DiscardHandler), loops: &sync.WaitGroup{}}
		began := time.Now()
		look := func(n journal.NodeID) driver.Look {
			return driver.Look{Suspects: []journal.NodeID{n}, Wait: graceOfTests}
		}
		r.suspect(t.Context(), look(3))
		r.suspect(t.Context(), look(4))
		if got := <-m.asked; !slices.Equal(got, []journal.NodeID{3}) || time.Since(began) != graceOfTests {
			t.Errorf("reaped %v after %s, want node 3 after %s", got, time.Since(began), graceOfTests)
		}
		r.loops.Wait()
		r.suspect(t.Context(), look(4))
		if got := <-m.asked; !slices.Equal(got, []journal.NodeID{4}) {
			t.Errorf("reaped %v, want node 4, which is suspected again", got)
		}
		r.loops.Wait()
		ended, cancel := context.WithCancel(t.Context())
		r.suspect(ended, look(5))
		cancel()
		r.loops.Wait()
		if len(m.asked) > 0 {
			t.Error("reaped after its own end")
		}
	})
}
