package api

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
	"github.com/reprise-run/reprise/journal/memory"
)

// TestQuestions: readers share an answer until something tells of a change; one who is given an
// answer of before looks again; an error is told and not kept.
func TestQuestions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memory.New(nil)
		defer store.Close()
		f := newFeed(driver.New(store, nil), time.Second)
		one, two := f.join(journal.RunID{}, "list"), f.join(journal.RunID{}, "list")
		defer f.leave(one)
		defer f.leave(two)
		synctest.Wait()
		made := 0
		ask := func(r *reader) any {
			select {
			case <-r.wake:
			default:
			}
			v, err := f.ask(t.Context(), r, aboutRuns, "list", time.Second, time.Second, func(context.Context) (any, error) {
				made++
				return made, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		want := func(what string, r *reader, value int, again bool) {
			t.Helper()
			if v := ask(r); v != value || (len(r.wake) == 1) != again {
				t.Errorf("%s: the answer is %v, and it looks again: %t", what, v, len(r.wake) == 1)
			}
		}
		want("the first", one, 1, false)
		want("another one", two, 1, false)
		f.tell(journal.RunID{}, aboutRuns)
		want("a moment after it, there is a change", two, 1, true)
		time.Sleep(100 * time.Millisecond)
		want("and then it is asked", two, 2, false)
		want("for all", one, 2, false)
		time.Sleep(999 * time.Millisecond)
		want("as long as it is fresh", one, 2, false)
		time.Sleep(time.Millisecond)
		want("and no longer", one, 3, false)
		f.tell(journal.RunID{}, aboutFleet)
		time.Sleep(100 * time.Millisecond)
		want("a change of something else", one, 3, false)
		f.mu.Lock()
		f.forget(time.Now().Add(2 * time.Minute))
		f.mu.Unlock()
		want("it is forgotten", one, 4, false)
		if _, err := f.ask(t.Context(), one, aboutRuns, "error", time.Second, time.Second, func(context.Context) (any, error) { return nil, journal.ErrUnavailable }); err == nil {
			t.Error("an error is not told")
		}
		if _, err := f.ask(t.Context(), one, aboutRuns, "error", time.Second, time.Second, func(context.Context) (any, error) { return nil, nil }); err != nil {
			t.Errorf("an error is kept: %v", err)
		}
	})
}
