package worker

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
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
	err      error
}

func (m *listedMember) Owned(context.Context) ([]driver.Holding, error) {
	return slices.Clone(m.owned), m.err
}

func (m *listedMember) Release(_ context.Context, list []driver.Holding) error {
	m.released = append(m.released, list...)
	m.owned = slices.DeleteFunc(m.owned, func(h driver.Holding) bool { return slices.Contains(list, h) })
	return nil
}

// A run that was freed, or claimed anew, between the store's answer and the comparison is not
// astray. One that is listed a second time is, and is released once.
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

// A task without a commit under its claim is astray in nearly every comparison of a busy node, as
// the answer to its start is on its way. Only if it is astray again after a while, under the same
// fence, the node asks for all that it owns. After a doubt it looks again soon, and not again and
// again.
func TestUnprovenStraysAreLookedAtAgain(t *testing.T) {
	for name, doubt := range map[string]bool{"after a doubt": true, "without one": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, _ := testWorker()
				lost, claimed := journal.NewRunID(), journal.NewRunID()
				listed := []driver.Holding{{Run: lost, Fence: 5, Generation: 1}, {Run: claimed, Fence: 5, Generation: 1}}
				m := &listedMember{}
				w.claimer.member = m
				look := func(what string, want bool) {
					t.Helper()
					m.owned = append(slices.Clone(listed), driver.Holding{Run: journal.NewRunID(), Fence: 5, Generation: 1}) // just started
					w.claimer.compare()
					synctest.Wait()
					if got := w.claimer.unconfirmed.pending(); got != want {
						t.Errorf("%s: asks for all that it owns: %v, want %v", what, got, want)
					}
				}
				second := leaseOfTests * leasesPerComparison
				if doubt {
					w.comparison.note()
					time.Sleep(compareMin)
					second = strayAfter
				} else {
					time.Sleep(second)
				}
				look("the first look", false)
				w.comparison.addStray(driver.Holding{Run: claimed, Fence: 1}) // another reason to compare
				look("at once", false)
				listed[0].Fence, listed[1].Fence = 9, 9
				time.Sleep(second - time.Millisecond)
				look("a moment too early", false)
				time.Sleep(time.Millisecond)
				if !w.comparison.wanted() {
					t.Error("no second look")
				}
				look("a second look at other claims", false)
				if !w.comparison.again.IsZero() {
					t.Error("a second look leads to a third")
				}
				w.comparison.note()
				time.Sleep(second)
				look("a second look at the same", true)
				w.kill()
				w.sys.Kill(nil)
				time.Sleep(time.Minute) // the last timers end
			})
		})
	}
}

// slowMember takes its time to say what it owns.
type slowMember struct {
	listedMember
	takes time.Duration
}

func (m *slowMember) Owned(ctx context.Context) ([]driver.Holding, error) {
	time.Sleep(m.takes)
	return m.listedMember.Owned(ctx)
}

// A further doubt may bring the second look forward by as much as the first one took. That is too
// early to tell that an answer is lost, so there is a look in time, and not only the one that needs
// no reason.
func TestASecondLookThatIsTooEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := testWorker()
		m := &slowMember{takes: strayAfter / 2}
		m.owned = []driver.Holding{{Run: journal.NewRunID(), Fence: 5, Generation: 1}}
		w.claimer.member = m
		look := func() { w.claimer.compare(); synctest.Wait() }
		w.comparison.note()
		time.Sleep(compareMin)
		look()
		w.comparison.note()
		time.Sleep(compareMin - m.takes)
		m.takes = 0
		look()
		if w.claimer.unconfirmed.pending() {
			t.Error("the answer counts as lost too early")
		}
		time.Sleep(strayAfter / 2)
		look()
		if !w.claimer.unconfirmed.pending() {
			t.Error("the answer does not count as lost")
		}
		w.kill()
		w.sys.Kill(nil)
		time.Sleep(time.Minute) // the last timers end
	})
}

// An error that is not an outage is told once for as long as it is the same, and the node asks again.
func TestWhatIsOwnedCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, _ := testWorker()
		var lines bytes.Buffer
		m := &listedMember{}
		w.claimer.member, w.claimer.log = m, slog.New(slog.NewTextHandler(&lines, nil))
		for _, c := range []struct {
			err  error
			told int
		}{
			{journal.ErrUnavailable, 0}, {journal.ErrNodeLost, 0}, {journal.ErrStoreClosed, 0}, {errors.New("page 7 is damaged"), 1}, {errors.New("page 7 is damaged"), 0},
			{errors.New("page 8 is damaged"), 1}, {nil, 0}, {errors.New("page 8 is damaged"), 1},
		} {
			lines.Reset()
			m.err = c.err
			w.comparison.note()
			time.Sleep(compareMin)
			w.claimer.compare()
			if n := strings.Count(lines.String(), "what this node owns cannot be read; it is asked for again, and a run that the node has lost sight of waits until then"); n != c.told {
				t.Errorf("%v: %d lines, want %d: %s", c.err, n, c.told, lines.String())
			}
			if time.Sleep(compareMin); w.comparison.due() == (c.err == nil) {
				t.Errorf("%v: due is %v", c.err, c.err == nil)
			}
		}
		w.kill()
		w.sys.Kill(nil)
	})
}
