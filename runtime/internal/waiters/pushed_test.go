package waiters

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

// hinted is a store whose hints a test sends.
type hinted struct {
	endStore
	mu sync.Mutex
	fn func(driver.Hint)
}

func (s *hinted) Hints() driver.Hints { return s }

func (s *hinted) Notify([]driver.Hint) {}

func (s *hinted) Watch(ctx context.Context, fn func(driver.Hint)) error {
	s.mu.Lock()
	s.fn = fn
	s.mu.Unlock()
	<-ctx.Done()
	return nil
}

// When nobody pushes hints any more, who waits is read at once, also for a run of this process, and
// hears of ends by hints as before.
func TestHintsAreWatchedWhenTheyArePushedNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := journal.NewRunID(), journal.NewRunID()
		var mu sync.Mutex
		closed := map[journal.RunID]bool{}
		s := &hinted{}
		s.ends = func(_ context.Context, runs []journal.RunID) (list []driver.End, _ error) {
			mu.Lock()
			defer mu.Unlock()
			for _, run := range runs {
				if closed[run] {
					list = append(list, driver.End{Run: run, Terminal: &journal.Event{Kind: journal.RunCompleted}})
				}
			}
			return list, nil
		}
		end := func(run journal.RunID) {
			mu.Lock()
			defer mu.Unlock()
			closed[run] = true
		}
		w := New(driver.New(s, nil), Options{Poll: time.Hour, HintsPushed: true})
		began, waiting := time.Now(), make(chan error, 2)
		for _, run := range []journal.RunID{first, second} {
			go func() { _, err := w.AwaitEnd(t.Context(), run, true); waiting <- err }()
		}
		synctest.Wait()
		if s.fn != nil {
			t.Error("hints are watched although they are pushed")
		}
		end(first) // nobody hears of it
		w.SetPushed(false)
		if err := <-waiting; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if s.fn == nil {
			t.Fatal("nobody watches hints")
		}
		end(second)
		s.fn(driver.Hint{Kind: driver.HintClosed, Run: second})
		if err := <-waiting; err != nil || time.Since(began) > time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
}
