package worker

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// A comparison is due after a doubt, but not more often than once in compareMin, and now and then
// without one.
func TestComparisonIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := comparison{every: time.Minute, last: time.Now()}
		c.note()
		if c.wanted() {
			t.Error("wanted at once after the last one")
		}
		time.Sleep(compareMin)
		if !c.wanted() || !c.due() || c.wanted() || c.due() {
			t.Error("want one for a doubt")
		}
		time.Sleep(time.Minute - 1)
		if c.due() {
			t.Error("due too early without a doubt")
		}
		time.Sleep(time.Nanosecond)
		if !c.due() {
			t.Error("not due without a doubt")
		}
	})
}

// listedMember owns what a test says.
type listedMember struct {
	fakeMember
	owned    []driver.Holding
	released []driver.Holding
}

func (m *listedMember) Owned(context.Context) ([]driver.Holding, error) {
	return slices.Clone(m.owned), nil
}

func (m *listedMember) Release(_ context.Context, list []driver.Holding) error {
	m.released = append(m.released, list...)
	m.owned = slices.DeleteFunc(m.owned, func(h driver.Holding) bool { return slices.Contains(list, h) })
	return nil
}

// A run that was freed, or claimed anew, between the store's answer and the comparison is not astray.
// One that is listed a second time is, and is released once.
func TestStraysAreListedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := testWorker()
		freed, claimed, stray := journal.NewRunID(), journal.NewRunID(), journal.NewRunID()
		m := &listedMember{}
		w.claimer.member = m
		for _, run := range []journal.RunID{freed, claimed, stray} {
			m.owned = append(m.owned, driver.Holding{Run: run, Fence: 5, Generation: 1, Confirmed: true})
		}
		w.comparison.note()
		time.Sleep(compareMin)
		w.claimer.compare()
		synctest.Wait()
		if len(m.released) > 0 {
			t.Fatalf("released at the first look: %v", m.released)
		}
		m.owned[1].Fence = 9
		m.owned = m.owned[1:]
		w.claimer.compare()
		synctest.Wait()
		if len(m.released) != 1 || m.released[0].Run != stray {
			t.Errorf("released %v, want run %s alone", m.released, stray)
		}
		w.kill()
		w.sys.Kill(nil)
	})
}
