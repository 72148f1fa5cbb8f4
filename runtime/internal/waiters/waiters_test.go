package waiters

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-run/reprise/journal"
	"github.com/reprise-run/reprise/journal/driver"
)

const pollOfTests = 1500 * time.Millisecond

// endStore answers questions for ends as a test says. Other verbs are not for it.
type endStore struct {
	driver.Store
	ends func(context.Context, []journal.RunID) ([]driver.End, error)
	load func(context.Context, []driver.LoadRequest) ([]driver.History, error)
}

func (s *endStore) Load(ctx context.Context, q []driver.LoadRequest) ([]driver.History, error) {
	if s.load == nil {
		return []driver.History{{Err: journal.ErrNotFound}}, nil // Ends says that it is open
	}
	return s.load(ctx, q)
}

func (s *endStore) Ends(ctx context.Context, runs []journal.RunID) ([]driver.End, error) {
	return s.ends(ctx, runs)
}

// Hints implements driver.Store: there are none.
func (s *endStore) Hints() driver.Hints { return noHints{} }

type noHints struct{}

func (noHints) Notify([]driver.Hint) {}
func (noHints) Watch(ctx context.Context, _ func(driver.Hint)) error {
	<-ctx.Done()
	return nil
}

// A waiter that registers while the loop of an earlier one ends is read by the next loop at once,
// not at its poll: the ended loop may have taken what is to be read, and the signal that wakes the
// loop.
func TestEndedLoopPassesItsWorkOn(t *testing.T) {
	s := &endStore{ends: func(ctx context.Context, _ []journal.RunID) ([]driver.End, error) { return nil, ctx.Err() }}
	w := New(driver.New(s, nil), Options{Poll: pollOfTests})
	id := journal.NewRunID()
	w.list.waiting[id] = []*waiter{{resolved: make(chan resolution, 1)}}
	w.list.toRead[id] = true
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	w.reader.read(ended)
	if !w.list.toRead[id] || len(w.list.wake) != 1 {
		t.Errorf("to be read: %v, wake signals: %d", w.list.toRead[id], len(w.list.wake))
	}
}

// Large outputs are not kept in memory; whoever asks late reads them.
func TestLargeResultsAreReadAgain(t *testing.T) {
	id := journal.NewRunID()
	terminal := &journal.Event{Kind: journal.RunCompleted, Payload: journal.Payload{Data: make([]byte, recentBytesMax+1)}}
	s := &endStore{ends: func(context.Context, []journal.RunID) ([]driver.End, error) {
		return []driver.End{{Run: id, Terminal: terminal}}, nil
	}}
	w := New(driver.New(s, nil), Options{Poll: pollOfTests, HintsPushed: true})
	w.Hint(driver.Hint{Kind: driver.HintClosed, Run: id, Terminal: terminal})
	if ev, closed := w.list.recent.find(id); ev != nil || !closed {
		t.Error("a large output is kept")
	}
	began := time.Now()
	if ev, err := w.AwaitEnd(t.Context(), id, true); err != nil || ev != terminal || time.Since(began) > pollOfTests/2 {
		t.Errorf("got %v, %v after %s", ev, err, time.Since(began))
	}
}

// Hints that are lost all the time make the loop read all waiting runs now and then, not each
// time: a read names every run that is waited for.
func TestLostHintsAreReadTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		s := &endStore{ends: func(context.Context, []journal.RunID) ([]driver.End, error) { reads++; return nil, nil }}
		w := New(driver.New(s, nil), Options{Poll: pollOfTests, HintsPushed: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var hints sync.WaitGroup
		hints.Go(func() {
			for ctx.Err() == nil {
				w.Hint(driver.Hint{Kind: driver.HintScan})
				time.Sleep(10 * time.Millisecond)
			}
		})
		_, err := w.AwaitEnd(ctx, journal.NewRunID(), true)
		if polls := int(time.Minute / pollOfTests); !errors.Is(err, context.DeadlineExceeded) || reads < 2*polls || reads > int(time.Minute/scanEvery)+2 { // one is of the look before the deadline
			t.Errorf("%d reads in %d polls: %v", reads, polls, err)
		}
		hints.Wait()
	})
}

// A run that closes behind the first read, while the announcement of who waits is under way, is told
// of by a hint without a run: it is read again without a poll.
func TestAnEndBehindTheFirstRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := &journal.Event{Kind: journal.RunCompleted}
		var stored atomic.Pointer[journal.Event]
		s := &endStore{ends: func(_ context.Context, runs []journal.RunID) (ends []driver.End, err error) {
			if ev := stored.Load(); ev != nil {
				ends = []driver.End{{Run: runs[0], Terminal: ev}}
			}
			return ends, nil
		}}
		w := New(driver.New(s, nil), Options{Poll: time.Hour, HintsPushed: true})
		go func() {
			synctest.Wait()
			stored.Store(end)
			w.Hint(driver.Hint{Kind: driver.HintClosed})
		}()
		began := time.Now()
		if ev, err := w.AwaitEnd(t.Context(), journal.NewRunID(), false); err != nil || ev != end || time.Since(began) > time.Second {
			t.Errorf("got %v, %v after %s", ev, err, time.Since(began))
		}
	})
}

// Who waits announces that without its mutex, also when it reads everything: another process of a
// store in memory answers with a hint before the announcement returns.
func TestAnnouncementsHoldNoMutex(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &endStore{ends: func(context.Context, []journal.RunID) ([]driver.End, error) { return nil, nil }}
		w := New(driver.New(s, nil), Options{Poll: driver.WaiterInterval, HintsPushed: true})
		announcements := 0
		w.list.announce = func() {
			announcements++
			if !w.list.mu.TryLock() {
				t.Error("the waiter announces itself under its mutex")
				return
			}
			w.list.mu.Unlock()
		}
		ctx, cancel := context.WithTimeout(t.Context(), driver.WaiterInterval+time.Second)
		defer cancel()
		if _, err := w.AwaitEnd(ctx, journal.NewRunID(), false); !errors.Is(err, context.DeadlineExceeded) || announcements != 2 {
			t.Errorf("%d announcements: %v", announcements, err)
		}
	})
}

// A poll that is shorter than the time between two reads for lost hints is not put off by them.
func TestLostHintsPutNoPollOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		s := &endStore{ends: func(context.Context, []journal.RunID) ([]driver.End, error) { reads++; return nil, nil }}
		w := New(driver.New(s, nil), Options{Poll: scanEvery / 10, HintsPushed: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var hints sync.WaitGroup
		hints.Go(func() {
			for ctx.Err() == nil {
				w.Hint(driver.Hint{Kind: driver.HintScan})
				time.Sleep(7 * time.Millisecond)
			}
		})
		_, err := w.AwaitEnd(ctx, journal.NewRunID(), true)
		if polls := int(time.Minute / (scanEvery / 10)); !errors.Is(err, context.DeadlineExceeded) || reads < polls-1 || reads > polls+2 { // one is of the look before the deadline
			t.Errorf("%d reads in %d polls: %v", reads, polls, err)
		}
		hints.Wait()
	})
}

// An outcome that did not fit into an answer is asked for again at once, and the others are not.
func TestOutcomesThatDoNotFitAreReadAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		large, open := journal.NewRunID(), journal.NewRunID()
		var asked [][]journal.RunID
		terminal := &journal.Event{Kind: journal.RunCompleted}
		s := &endStore{ends: func(_ context.Context, runs []journal.RunID) ([]driver.End, error) {
			asked = append(asked, runs)
			if len(asked) == 1 {
				return []driver.End{{Run: large, Later: true}}, nil
			}
			return []driver.End{{Run: large, Terminal: terminal}}, nil
		}}
		w := New(driver.New(s, nil), Options{Poll: pollOfTests, HintsPushed: true})
		began := time.Now()
		ctx, cancel := context.WithCancel(t.Context())
		w.list.waiting[open] = []*waiter{{resolved: make(chan resolution, 1), local: true}}
		w.list.toRead[open] = true
		ev, err := w.AwaitEnd(ctx, large, false)
		if err != nil || ev != terminal || time.Since(began) > 0 || len(asked) != 2 || len(asked[1]) != 1 {
			t.Errorf("got %v, %v after %s, asked for %v", ev, err, time.Since(began), asked)
		}
		cancel()
		w.list.mu.Lock()
		w.list.stop() // nobody waits for the other one any more
		w.list.mu.Unlock()
		synctest.Wait()
	})
}

// Whoever gives up by a deadline that was not short hears why the run could not end, as of a moment
// before it. Many that give up together ask once.
func TestBlockedRunIsToldAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blocked, open := journal.NewRunID(), journal.NewRunID()
		held, loads, asked := errors.New("held"), 0, 0
		s := &endStore{ends: func(context.Context, []journal.RunID) ([]driver.End, error) { return nil, nil }}
		s.load = func(_ context.Context, q []driver.LoadRequest) ([]driver.History, error) {
			loads, asked = loads+1, asked+len(q)
			out := make([]driver.History, len(q))
			for i := range q {
				out[i].Run = journal.Run{ID: q[i].Run, Task: &journal.Task{Problem: map[bool]string{true: "x"}[q[i].Run == blocked]}}
			}
			return out, nil
		}
		w := New(driver.New(s, nil), Options{Poll: pollOfTests, HintsPushed: true, Unanswered: func(run *journal.Run) error {
			if run.Task.Problem != "" {
				return held
			}
			return nil
		}})
		wait := func(run journal.RunID, d time.Duration) error {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			began := time.Now()
			_, err := w.AwaitEnd(ctx, run, true)
			if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != d {
				t.Errorf("got %v after %s, want the deadline of %s", err, time.Since(began), d)
			}
			return err
		}
		var all sync.WaitGroup
		for range 100 {
			all.Go(func() {
				if err := wait(blocked, time.Minute); !errors.Is(err, held) {
					t.Errorf("blocked: %v", err)
				}
			})
		}
		all.Go(func() {
			if err := wait(open, time.Minute); errors.Is(err, held) {
				t.Errorf("open: %v", err)
			}
		})
		all.Wait()
		if loads > 3 || asked > 4 {
			t.Errorf("%d loads of %d", loads, asked)
		}
		if err := wait(blocked, stateBefore); errors.Is(err, held) || loads > 3 {
			t.Errorf("a short wait: %v", err)
		}
		synctest.Wait()
	})
}
